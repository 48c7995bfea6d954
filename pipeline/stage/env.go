package stage

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"go.opentelemetry.io/otel/attribute"

	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"

	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// Encoder makes embedding files; *encode.Encoder is one.
type Encoder interface {
	EncodeFile(ctx context.Context, path string, dtype embedding.DType, source encode.Source, progress func(rows int)) (embedding.Meta, error)
	Close() error
}

// Env holds the inputs of a plan's tasks in one process. Tasks may run at once; what they share is opened when the
// first needs it.
type Env struct {
	*view.Files
	Model     *model.Model
	Resources setting.Resources
	Log       *slog.Logger
	// OpenEncoder opens an encoder; nil: encode.Open.
	OpenEncoder func(*model.Model, encode.Options) (Encoder, error)
	// Processor names what the last bits of the process's results depend on, if anything; nil: encode.Processor.
	Processor func() string
	// PlanID names the plan in the store.
	PlanID string
	// Begins is called when a task of a stage begins whose output is not there; nil: nobody is told.
	Begins func(stage string)

	mu      sync.Mutex
	shared  map[string]func() (any, error)
	closers []func() error

	sameProcessor sync.Map // processors that are the plan's
}

// EncoderOptions are the options of an encoder, or of its token vectors, on the CPU. The encoders of Encoder and
// Refiner, whose stages get GPUs on a cluster, are opened on the plan's device.
func (e *Env) EncoderOptions() encode.Options { return setting.EncoderOptions(e.Resources) }

// Shared returns the value that a stage's tasks share under a name; the first call opens it. The function that open
// returns frees the value when the environment is closed; nil: there is nothing to free.
func Shared[T any](e *Env, name string, open func() (T, func() error, error)) (T, error) {
	e.mu.Lock()
	once, ok := e.shared[name]
	if !ok {
		once = sync.OnceValues(func() (any, error) {
			value, free, err := open()
			if err == nil && free != nil {
				e.mu.Lock()
				defer e.mu.Unlock()
				e.closers = append(e.closers, free)
			}
			return value, err
		})
		if e.shared == nil {
			e.shared = map[string]func() (any, error){}
		}
		e.shared[name] = once
	}
	e.mu.Unlock()
	value, err := once()
	if err != nil {
		var none T
		return none, err
	}
	return value.(T), nil
}

// Encoder returns the encoder of the plan, which must be the one that is there now.
func (e *Env) Encoder() (Encoder, error) {
	if err := e.CheckEncoder(); err != nil {
		return nil, err
	}
	return e.open(EncoderName, e.Model, e.Plan.Settings.EncoderDevice)
}

// CheckEncoder refuses an encoder that is not the plan's. Tasks that encode nothing read its manifest and its tokens.
func (e *Env) CheckEncoder() error {
	return checkModel(e.Plan.Encoder, e.Model.Digest, e.Plan.Settings.Encoder)
}

// Refiner returns the strong encoder of the plan.
func (e *Env) Refiner() (Encoder, error) {
	strong, err := e.RefineModel()
	if err != nil {
		return nil, err
	}
	return e.open(RefinerName, strong, e.Plan.Settings.RefineDevice)
}

// RefineModel returns the model of the plan's strong encoder, which must be the one that is there now.
func (e *Env) RefineModel() (*model.Model, error) {
	strong, err := Shared(e, "refiner's model", func() (*model.Model, func() error, error) {
		strong, err := model.Load(e.Plan.Refiner.Encoder)
		return strong, nil, err
	})
	if err == nil {
		err = checkModel(e.Plan.Refiner.Encoder, strong.Digest, e.Plan.Settings.Refine)
	}
	return strong, err
}

// Judge returns the judge of the plan, which must be the one that is there now.
func (e *Env) Judge() (*encode.Judge, error) {
	return Shared(e, judgeName, func() (*encode.Judge, func() error, error) {
		m, err := model.LoadJudge(e.Plan.Judge.Model)
		if err == nil {
			err = checkModel(e.Plan.Judge.Model, m.Digest, e.Plan.Settings.Judge)
		}
		if err != nil {
			return nil, nil, err
		}
		options, err := setting.OnDevice(e.Resources, e.Plan.Settings.JudgeDevice)
		if err != nil {
			return nil, nil, err
		}
		judge, err := encode.OpenJudge(m, options)
		if err != nil {
			return nil, nil, err
		}
		return judge, judge.Close, nil
	})
}

// The names under which encoders are shared.
const (
	EncoderName = "encoder"
	RefinerName = "refiner"
	judgeName   = "judge"
)

// open opens an encoder for all tasks, on the device that the plan was made for.
func (e *Env) open(name string, model *model.Model, arithmetic string) (Encoder, error) {
	return Shared(e, name, func() (Encoder, func() error, error) {
		options, err := setting.OnDevice(e.Resources, arithmetic)
		if err != nil {
			return nil, nil, err
		}
		opener := e.OpenEncoder
		if opener == nil {
			opener = openEncoder
		}
		encoder, err := opener(model, options)
		if err != nil {
			return nil, nil, err
		}
		return encoder, encoder.Close, nil
	})
}

func openEncoder(model *model.Model, options encode.Options) (Encoder, error) {
	return encode.Open(model, options)
}

// Encoded says whether an encoder was opened.
func (e *Env) Encoded() bool {
	return e.Opened(EncoderName) || e.Opened(RefinerName) || e.Opened(judgeName)
}

// Opened says whether tasks share something of that name.
func (e *Env) Opened(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.shared[name] != nil
}

// checkModel refuses a plan whose encoder is not the one that is there now.
func checkModel(encoder, digest, planned string) error {
	if digest != planned {
		return badinput.Errorf("%s is not the one that the plan was made for (%.12s instead of %.12s); make the plan again with mine run",
			encoder, digest, planned)
	}
	return nil
}

// CheckProcessor refuses a process whose results differ in their last bits from those of the plan's other processes. A
// task that takes long asks once what computes them is open, before it computes.
func (e *Env) CheckProcessor(ctx context.Context) error { return e.checkProcessor(ctx, false) }

func (e *Env) checkProcessor(ctx context.Context, computed bool) error {
	of := e.Processor
	if of == nil {
		of = encode.Processor
	}
	processor := of()
	if processor == "" {
		return nil
	}
	if _, same := e.sameProcessor.Load(processor); same {
		return nil
	}
	err := record.OneProcessor(ctx, e.Store, e.PlanID, processor, computed)
	if err == nil && computed {
		e.sameProcessor.Store(processor, true)
	}
	return err
}

// Close frees what tasks shared. No task may run.
func (e *Env) Close() error {
	var all []error
	for i := len(e.closers) - 1; i >= 0; i-- {
		all = append(all, e.closers[i]())
	}
	e.closers = nil
	return errors.Join(append(all, e.Free())...)
}

// Do runs one task unless its output is there, and notes how it ended. It refuses one that needs more memory than tasks
// may have.
func (e *Env) Do(ctx context.Context, t *plan.Task, meter progress.Meter) (*store.Output, error) {
	d, err := Named(t.Stage)
	if err != nil {
		return nil, err
	}
	ctx, span := record.StartSpan(ctx, t.Stage, attribute.String("key", t.Key), attribute.Int64("items", t.Items))
	task := store.Task{Stage: t.Stage, Key: t.Key}
	var done func(error)
	out, err := e.Store.Do(ctx, task, func(dir string) (any, error) {
		done = record.Working(ctx, e.Store, e.Log, task)
		if err := t.Fits(e.Resources.MemoryBound()); err != nil {
			return nil, err
		}
		e.Spill(dir)
		if e.Begins != nil {
			e.Begins(t.Stage)
		}
		info, err := d.Run(ctx, e, t, dir, meter)
		if err == nil {
			err = e.checkProcessor(ctx, true)
		}
		return info, err
	})
	switch {
	case done != nil: // also where it could not be published
		done(err)
	case err != nil:
		record.Failed(ctx, e.Store, e.Log, task, err)
	}
	if err == nil {
		span.SetAttributes(attribute.Bool("cached", out.Cached))
	}
	record.EndSpan(span, err)
	if err == nil && out.Cached {
		meter.Skip(t.Items)
	}
	return out, err
}
