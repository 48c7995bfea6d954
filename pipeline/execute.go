package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"bitextmine/encode"
	"bitextmine/internal/badinput"
	"bitextmine/internal/usage"
	"bitextmine/pipeline/engine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/store"
)

// The kinds of notes in the store.
const (
	plansNote   = "plans"   // by id
	ledgerNote  = "ledger"  // by family
	runningNote = "running" // by stage-key: a task that somebody works on
	failedNote  = "failed"  // by stage-key: how a task failed last
)

var units = map[string]string{plan.Shard: progress.Bytes, plan.Encode: "sentences", plan.Search: "comparisons", plan.Merge: "sentences", plan.Match: "sentences"}

// execute runs a kept plan on the engine.
func (r *run) execute(ctx context.Context, p *plan.Plan, id string) (err error) {
	w := newWorker(r.cfg, r.Options, r.store, r.model, p)
	defer func() {
		if w.opened != nil {
			r.report.Versions["onnxruntime"] = encode.RuntimeVersion()
		}
		err = errors.Join(err, w.close())
	}()
	before := map[string]bool{}
	if r.remote {
		if before, err = r.done(ctx, p); err != nil {
			return err
		}
	}
	var now *stage
	err = r.engine.Run(ctx, engine.Job{
		Plan: p, ID: id, PlanPath: PlanPath(r.cfg.Work, id), Out: r.cfg.Out,
		Begin: func(wave int) func() {
			now = r.start(&p.Waves[wave])
			return func() { now.done(r.report) }
		},
		Do: func(ctx context.Context, index int) error {
			t, _ := p.Task(index)
			out, err := w.do(ctx, t, now.meter)
			if err == nil {
				now.task(t, out)
			}
			return err
		},
	})
	if err != nil || !r.remote || r.cfg.DryRun != nil {
		return err
	}
	return r.collect(ctx, p, before)
}

// collect learns from the store what a remote engine did, and how it failed.
func (r *run) collect(ctx context.Context, p *plan.Plan, before map[string]bool) error {
	after, err := r.done(ctx, p)
	if err != nil {
		return err
	}
	failed, err := holders(ctx, r.store, failedNote)
	if err != nil {
		return err
	}
	for wave := range p.Waves {
		s := StageReport{Name: p.Waves[wave].Stage, Unit: units[p.Waves[wave].Stage]}
		var first, last time.Time
		missing := 0
		var why *Holder
		for i := range p.Waves[wave].Tasks {
			t := &p.Waves[wave].Tasks[i]
			s.Tasks++
			switch name := t.Stage + "/" + t.Key; {
			case before[name]:
				s.Cached++
			case !after[name]:
				missing++
				if h, ok := failed[t.Stage+"-"+t.Key]; ok && (why == nil || h.Permanent) {
					why = &h
				}
			default:
				out, err := r.store.Stat(ctx, store.Task{Stage: t.Stage, Key: t.Key})
				if err != nil {
					return err
				}
				s.Items += t.Items
				if end := out.Made.Start.Add(time.Duration(out.Made.Seconds * float64(time.Second))); end.After(last) {
					last = end
				}
				if first.IsZero() || out.Made.Start.Before(first) {
					first = out.Made.Start
				}
			}
		}
		if missing > 0 {
			return notDone(s.Name, missing, s.Tasks, why)
		}
		s.Seconds = last.Sub(first).Seconds()
		s.Rate = float64(s.Items) / max(s.Seconds, 1e-9)
		r.report.Stages = append(r.report.Stages, s)
	}
	return nil
}

// notDone is the error of a wave whose tasks did not all succeed.
func notDone(stage string, missing, tasks int, why *Holder) error {
	switch {
	case why == nil:
		return fmt.Errorf("%d of %d %s tasks ended without a result or a word; the engine's logs may tell why; run again to go on", missing, tasks, stage)
	case why.Permanent:
		return badinput.Errorf("%d of %d %s tasks failed, one on %s: %s", missing, tasks, stage, why.Host, why.Error)
	}
	return fmt.Errorf("%d of %d %s tasks failed, one on %s: %s; run again to go on", missing, tasks, stage, why.Host, why.Error)
}

// keepPlan puts a plan where its tasks find it and returns its id.
func (r *run) keepPlan(ctx context.Context, p *plan.Plan) (string, error) {
	p.Encoder, p.Scorer = r.cfg.Encoder, scorerData(r.scorer)
	data, id, err := p.Encode()
	if err != nil {
		return "", err
	}
	return id, r.store.WriteNote(ctx, plansNote, id+".json", data)
}

// stage times one wave and counts what it did.
type stage struct {
	name, unit           string
	meter                progress.Meter
	begin                time.Time
	items, tasks, cached atomic.Int64
}

func (r *run) start(wave *plan.Wave) *stage {
	var total int64
	for _, t := range wave.Tasks {
		total += t.Items
	}
	unit := units[wave.Stage]
	return &stage{name: wave.Stage, unit: unit, meter: r.Progress.Start(wave.Stage, total, unit), begin: time.Now()}
}

// task counts a finished task.
func (s *stage) task(t *plan.Task, out *store.Output) {
	s.tasks.Add(1)
	if out.Cached {
		s.cached.Add(1)
	} else {
		s.items.Add(t.Items)
	}
}

func (s *stage) done(report *Report) {
	s.meter.Done()
	elapsed := time.Since(s.begin).Seconds()
	report.Stages = append(report.Stages, StageReport{
		Name: s.name, Items: s.items.Load(), Unit: s.unit, Seconds: elapsed, Rate: float64(s.items.Load()) / max(elapsed, 1e-9),
		Tasks: int(s.tasks.Load()), Cached: int(s.cached.Load()), PeakMemory: usage.PeakMemory(),
	})
}

// Holder says who works on something, and since when.
type Holder struct {
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	Error string    `json:"error,omitempty"` // how it failed
	// Permanent: a retry will not mend it.
	Permanent bool `json:"permanent,omitempty"`
}

func holder() Holder {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return Holder{Host: host, PID: os.Getpid(), Since: time.Now().UTC()}
}

// tell leaves word for mine status that a task is running, and, by what it returns, how it ended. A note that cannot be written is no reason to
// stop.
func (w *worker) tell(ctx context.Context, task store.Task) (done func(error)) {
	name := task.Stage + "-" + task.Key
	note := func(kind string, h Holder) {
		data, err := json.Marshal(h)
		if err == nil {
			err = w.store.WriteNote(ctx, kind, name, data)
		}
		if err != nil {
			w.Log.Debug("mine status will not know of a task", "stage", task.Stage, "key", task.Key, "reason", err)
		}
	}
	h := holder()
	note(runningNote, h)
	return func(failure error) {
		ctx := context.WithoutCancel(ctx)
		if failure != nil && !errors.Is(failure, context.Canceled) {
			h.Error, h.Permanent = failure.Error(), badinput.Is(failure)
			note(failedNote, h)
		} else if failure == nil {
			w.forget(ctx, failedNote, name)
		}
		w.forget(ctx, runningNote, name)
	}
}

func (w *worker) forget(ctx context.Context, kind, name string) {
	if err := w.store.DeleteNote(ctx, kind, name); err != nil {
		w.Log.Debug("a note stays behind", "kind", kind, "name", name, "reason", err)
	}
}

// readLedger returns what earlier runs merged of these sides' shards and is still whole.
func (r *run) readLedger(ctx context.Context, sides [2]plan.Side) (*plan.Ledger, error) {
	data, err := r.store.ReadNote(ctx, ledgerNote, r.family()+".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ledger := &plan.Ledger{}
	if err := json.Unmarshal(data, ledger); err != nil {
		r.Log.Warn("the ledger of merged neighbours is damaged; every cell is read again", "damage", err)
		return nil, nil
	}
	trial := plan.Mining(r.Version, r.settings(), sides, ledger)
	for _, wave := range trial.Waves {
		for _, t := range wave.Tasks {
			if t.Base == nil {
				continue
			}
			if _, err := r.store.Get(ctx, store.Task{Stage: plan.Merge, Key: t.Base.Key}); err != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				r.Log.Warn("merged neighbours are missing or damaged; their cells are read again", "key", t.Base.Key, "damage", err)
				delete(ledger.Sides[t.Side], trial.Sides[t.Side].Shards[t.Shards[0]].Vector)
			}
		}
	}
	return ledger, nil
}

func (r *run) keepLedger(ctx context.Context, p *plan.Plan) error {
	data, err := json.Marshal(plan.LedgerOf(p))
	if err != nil {
		return err
	}
	return r.store.WriteNote(ctx, ledgerNote, r.family()+".json", data)
}

func (r *run) family() string { return plan.Family(r.settings(), r.cfg.Source, r.cfg.Target) }
