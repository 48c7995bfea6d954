package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"bitextmine/index/backend"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/usage"
	"bitextmine/pipeline/engine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/fit"
	"bitextmine/pipeline/stage/judge"
	"bitextmine/pipeline/stage/refine"
	"bitextmine/pipeline/stage/search"
	"bitextmine/pipeline/store"
)

// Estimate lists the tasks of a run and their cost.
type Estimate struct {
	plan.Cost
	Work   string        `json:"work"`
	PlanID string        `json:"plan_id"`
	Search search.Choice `json:"search"`
	// of two-stage mining; nil: one encoder
	Refine *refine.Estimate `json:"refine,omitempty"`
	// of pairs in doubt; nil: there is no judge
	Judge *judge.Estimate `json:"judge,omitempty"`
	// before the rest, in seconds: no scorer of the program is for the encoder
	FitsScorer bool `json:"fits_scorer"`
	// what else could search, and what it would cost; empty if nothing is to be searched
	Backends  []Searched `json:"backends"`
	MaxMemory int64      `json:"max_memory_bytes"` // 0: no bound
	// DiskFree is the room on the disk of the work directory, or of a bucket's cache; 0: not known.
	DiskFree int64         `json:"disk_free_bytes"`
	Time     time.Duration `json:"time_ns"`
	// Around is the part of Time that tasks do not work in: reading the list of files, and publishing outputs.
	Around     time.Duration `json:"around_ns"`
	Inputs     int           `json:"inputs"`
	InputBytes int64         `json:"input_bytes"`
}

// Searched is the cost of the remaining cells with one search backend.
type Searched struct {
	Name    string        `json:"name"`
	Time    time.Duration `json:"time_ns"`
	Memory  int64         `json:"memory_bytes"` // the largest cell's memory
	Refused string        `json:"refused,omitempty"`
}

// Plan cuts the text into shards, which a run would do first and then finds done, and returns what the rest would cost.
// A run that does not fit is a badinput error beside the estimate.
func Plan(ctx context.Context, cfg Config, opts Options) (_ *Estimate, err error) {
	opts.Progress = progress.Silent
	s, err := open(ctx, "", cfg, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	m := &mining{session: s}
	choice, err := s.scorers.StandIn(ctx, s.store, s.scorer, m.texts)
	if err != nil {
		return nil, err
	}
	m.scorer, m.report = choice.Scorer, s.report(choice.Scorer)
	if before, err := record.ReadReport(s.cfg.Out); err == nil { // if it cannot be read, the run will say so
		m.previous = before
	}
	p, err := m.prepare(ctx, nil)
	if err != nil {
		return nil, err
	}
	files := s.files(p)
	done, err := files.Done(ctx)
	if err != nil {
		return nil, err
	}
	done = opts.plannedToo(p, done)
	for wave := range p.Waves {
		stage.RecountWave(ctx, files, &p.Waves[wave])
	}
	e := &Estimate{
		Work: s.cfg.Work, PlanID: m.report.PlanID,
		Search:     search.Choice{Result: m.report.Search.Result, Backend: m.report.Search.Backend, Why: m.report.Search.Why},
		FitsScorer: choice.ToFit, MaxMemory: s.cfg.MemoryBound(), DiskFree: s.freeDisk(),
	}
	by := plan.Process{Threads: s.cfg.Threads, MaxMemory: e.MaxMemory, Remote: engine.Remote(s.engine)}
	e.Cost = plan.CostOf(p, done, by)
	if choice.ToFit {
		e.Bear(fit.OnTheWay(p))
	}
	e.Refine, e.Judge = refine.EstimateOf(p, e.Cost, done), judge.EstimateOf(p, e.Cost)
	for _, language := range p.Languages {
		e.Inputs += len(language.Inputs)
		for _, in := range language.Inputs {
			e.InputBytes += in.Bytes
		}
	}
	if err := s.measure(ctx, p, e, done); err != nil {
		return nil, err
	}
	if e.Around, err = s.around(ctx, e.Cost); err != nil {
		return nil, err
	}
	e.Time = e.Cost.Time() + e.Around
	bounds := plan.Bounds{MaxMemory: e.MaxMemory, Disk: e.DiskFree, Cached: store.Remote(s.cfg.Work)}
	if !engine.Remote(s.engine) {
		bounds.Memory = usage.MachineMemory()
	}
	return e, e.Fits(bounds)
}

// freeDisk is the free bytes of the disk that outputs are written to; 0: other machines cache a bucket on their own.
func (s *session) freeDisk() int64 {
	if store.Remote(s.cfg.Work) && engine.Remote(s.engine) {
		return 0
	}
	return usage.FreeDisk(store.Disk(s.cfg.Work))
}

// publications is how many outputs are published for a measurement.
const publications = 3

// around measures what a run spends beside the work of its tasks: it looks into the files again, and each output is
// written, synced and renamed, which for small cells is longer than their search.
func (s *session) around(ctx context.Context, c plan.Cost) (time.Duration, error) {
	tasks, shortest := 0, time.Duration(0)
	for _, wave := range c.Stages {
		tasks += wave.Tasks - wave.Done
	}
	for i := 0; i < publications && tasks > 0; i++ {
		task := store.Task{Stage: "plan", Key: fmt.Sprintf("measured-%d-%d", os.Getpid(), i)}
		begin := time.Now()
		_, err := s.store.Do(ctx, task, func(dir string) (any, error) {
			return nil, atomicfile.WriteBytes(filepath.Join(dir, "empty"), nil)
		})
		spent := time.Since(begin)
		if err = errors.Join(err, s.store.Remove(ctx, task)); err != nil {
			return 0, fmt.Errorf("measure the store: %w", err)
		}
		if shortest == 0 || spent < shortest {
			shortest = spent
		}
	}
	return s.reading + time.Duration(tasks)*shortest, nil
}

// measure fills in what this machine does in a second of every stage that has something left: some seconds of work.
func (s *session) measure(ctx context.Context, p *plan.Plan, e *Estimate, done func(stage, key string) bool) error {
	freeMemory() // cutting the text took some
	err := s.measureTasks(ctx, p, e, done)
	freeMemory() // encoders took some
	if err != nil {
		return err
	}
	return s.measureSearch(ctx, e, search.Left(p, done))
}

// freeMemory returns to the system what is not used.
func freeMemory() {
	usage.TrimC()
	debug.FreeOSMemory()
}

// defaultEncoder is what the default encoder has in memory, which is part of plan.ProcessMemory.
const defaultEncoder = 40 << 20

// measureTasks measures the stages that measure themselves, and the weights of the encoders that they open.
func (s *session) measureTasks(ctx context.Context, p *plan.Plan, e *Estimate, done func(stage, key string) bool) (err error) {
	before := usage.AnonymousMemory()
	env := s.env(p)
	defer func() { err = errors.Join(err, env.Close()) }()
	for i, wave := range p.Waves {
		d, err := stage.Named(wave.Stage)
		if err != nil {
			return err
		}
		var left []*plan.Task
		for j := range wave.Tasks {
			if t := &wave.Tasks[j]; !done(t.Stage, t.Key) {
				left = append(left, t)
			}
		}
		if len(left) == 0 {
			continue
		}
		rate := stage.DefaultRate
		if d.Rate != nil {
			if rate, err = d.Rate(ctx, env, left); err != nil {
				return err
			}
		}
		e.Stages[i].Rate = rate
	}
	if !env.Encoded() {
		return nil
	}
	freeMemory()
	e.Hold(max(usage.AnonymousMemory()-before-defaultEncoder, 0))
	return nil
}

// measureSearch fills in what each search backend would take for cells.
func (s *session) measureSearch(ctx context.Context, e *Estimate, cells []backend.Shape) error {
	if len(cells) == 0 {
		return nil
	}
	estimates, err := s.chooser.Estimates(ctx, e.Search.Backend, cells)
	if err != nil {
		return err
	}
	for _, one := range estimates {
		seen := Searched{Name: one.Name, Time: one.Time, Memory: one.Memory}
		if one.Refused != nil {
			seen.Refused = one.Refused.Error()
		}
		e.Backends = append(e.Backends, seen)
		if one.Name != e.Search.Backend || backend.Untimed(one.Refused) {
			continue
		}
		if one.Refused != nil {
			return fmt.Errorf("calibrate the search: %w", one.Refused)
		}
		for i := range e.Stages {
			if e.Stages[i].Name == search.Stage.Name {
				e.Stages[i].Rate = float64(e.Stages[i].Items) / one.Time.Seconds()
			}
		}
	}
	return nil
}

// plannedToo adds to what is done what opts.Planned has, and to opts.Planned the tasks of a plan.
func (o Options) plannedToo(p *plan.Plan, done func(stage, key string) bool) func(stage, key string) bool {
	if o.Planned == nil {
		return done
	}
	before := maps.Clone(o.Planned)
	for _, w := range p.Waves {
		for _, t := range w.Tasks {
			o.Planned[t.Stage+"/"+t.Key] = true
		}
	}
	return func(stage, key string) bool { return before[stage+"/"+key] || done(stage, key) }
}
