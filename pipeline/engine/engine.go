// Package engine runs the tasks of a plan: in this process, as SLURM job arrays, as Kubernetes Jobs, or through a
// command of the user's. An engine schedules and nothing else: what it runs is `mine task PLAN INDEX`, or the same
// function in this process.
package engine

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"bitextmine/internal/usage"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
)

// Engine runs the waves of a plan one after another and returns when the last is done, or at the first task that failed
// for good. Check refuses what Run could not do, for a run with these directories, before anything of it is made.
type Engine interface {
	Check(out, work string) error
	Run(ctx context.Context, job Job) error
}

// Job is a plan to run.
type Job struct {
	Plan     *plan.Plan
	ID       string // the plan's id
	PlanPath string // its place in the store, as mine task takes it
	Out      string // directory for logs
	Device   string // device of tasks whose stage uses GPUs; empty: the CPU

	// Do runs one task in this process, unless its output is there; it refuses one that needs more memory than tasks may
	// have. Begin is called before the first task of a wave, and what it returns after the last.
	Do    func(ctx context.Context, index int) error
	Begin func(wave int) (end func())

	// There says of a wave that the store had all of its outputs before, so that nothing is submitted for it; nil: none.
	There func(wave int) bool

	// Done says which outputs the store has, and Failed how tasks failed last, by stage-key.
	Done   func(ctx context.Context) (func(stage, key string) bool, error)
	Failed func(ctx context.Context) (map[string]record.Holder, error)
}

// empty says whether there is nothing to do in a wave.
func (j *Job) empty(wave int) bool {
	return len(j.Plan.Waves[wave].Tasks) == 0 || j.There != nil && j.There(wave)
}

// fits refuses a bound of memory that a task needs more than which the store has no output of.
func (j *Job) fits(ctx context.Context, maxMemory int64) error {
	var most *plan.Task
	var done func(stage, key string) bool
	for wave := range j.Plan.Waves {
		for i := range j.Plan.Waves[wave].Tasks {
			t := &j.Plan.Waves[wave].Tasks[i]
			if t.Fits(maxMemory) == nil || most != nil && t.Memory <= most.Memory {
				continue
			}
			if done == nil { // the outputs are listed for this alone
				var err error
				if done, err = j.Done(ctx); err != nil {
					return err
				}
			}
			if !done(t.Stage, t.Key) {
				most = t
			}
		}
	}
	if most == nil {
		return nil
	}
	return most.Fits(maxMemory)
}

// Local runs tasks in this process: as many at once as cores and memory allow.
type Local struct {
	Cores     int
	MaxMemory int64 // bytes of anonymous memory; 0: no bound
}

// Check implements Engine.
func (l Local) Check(string, string) error { return nil }

// Run implements Engine.
func (l Local) Run(ctx context.Context, job Job) error {
	if err := job.fits(ctx, l.MaxMemory); err != nil {
		return err
	}
	for wave := range job.Plan.Waves {
		end := job.Begin(wave)
		err := l.wave(ctx, job, wave)
		end()
		if err != nil {
			return err
		}
	}
	return nil
}

func (l Local) wave(ctx context.Context, job Job, wave int) error {
	tasks, first := job.Plan.Waves[wave].Tasks, job.Plan.First(wave)
	cores, memory := semaphore.NewWeighted(int64(l.Cores)), semaphore.NewWeighted(max(l.MaxMemory, 1))
	g, working := errgroup.WithContext(ctx)
	for i := range tasks {
		wants, needs := int64(1), int64(0)
		if job.Plan.Waves[wave].Wide {
			wants = int64(l.Cores)
		}
		if l.MaxMemory > 0 {
			needs = min(tasks[i].Memory, l.MaxMemory) // one that needs more is done, or else Do refuses it
		}
		if cores.Acquire(working, wants) != nil {
			break // a task failed, or ctx is done
		}
		if memory.Acquire(working, needs) != nil {
			cores.Release(wants)
			break
		}
		g.Go(func() error {
			defer cores.Release(wants)
			defer memory.Release(needs)
			return job.Do(working, first+i)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// Remote says whether an engine runs tasks in other processes.
func Remote(e Engine) bool {
	_, local := e.(Local)
	return !local
}

// Execute runs a stored plan, that of env, on an engine and returns what its waves did. With dry the engine only prints
// its scripts. Do, Begin and There of the job are set here.
func Execute(ctx context.Context, e Engine, job Job, env *stage.Env, reporter progress.Reporter, dry bool,
) (stages []record.StageReport, err error) {
	p := env.Plan
	before := func(string, string) bool { return false }
	if Remote(e) {
		if before, err = env.Done(ctx); err != nil {
			return nil, err
		}
		job.There = func(wave int) bool {
			return !dry && !slices.ContainsFunc(p.Waves[wave].Tasks, func(t plan.Task) bool { return !before(t.Stage, t.Key) })
		}
	}
	var now *waveMeter
	job.Plan, job.Done = p, env.Done
	job.Failed = func(ctx context.Context) (map[string]record.Holder, error) {
		return record.Holders(ctx, env.Store, record.FailedNote)
	}
	job.Begin = func(index int) func() {
		usage.TrimHeap()
		stage.RecountWave(ctx, env.Files, &p.Waves[index])
		now = beginWave(reporter, &p.Waves[index])
		return func() { stages = append(stages, now.done()) }
	}
	job.Do = func(ctx context.Context, index int) error {
		t, _, _ := p.Task(index)
		out, err := env.Do(ctx, t, now.progress)
		if err == nil {
			now.add(t, out)
		}
		return err
	}
	if !dry {
		nameKilled(ctx, p, env)
	}
	var earlier map[string]record.Holder // how tasks of earlier runs failed
	if Remote(e) && !dry {
		if earlier, err = job.Failed(ctx); err != nil {
			return nil, err
		}
		defer watch(ctx, p, env)()
	}
	err = e.Run(ctx, job)
	var ended *podFailure
	if err != nil && !errors.As(err, &ended) || !Remote(e) || dry {
		return stages, err
	}
	stages, err = collect(ctx, p, env, before, earlier)
	if ended != nil {
		err = afterFailure(err, ended)
	}
	return stages, err
}

// collect reads from the store what a remote engine did, and how it failed; earlier are the failures of before.
func collect(ctx context.Context, p *plan.Plan, env *stage.Env, before func(stage, key string) bool, earlier map[string]record.Holder,
) (stages []record.StageReport, err error) {
	after, err := env.Done(ctx)
	if err != nil {
		return nil, err
	}
	failed, err := record.Holders(ctx, env.Store, record.FailedNote)
	if err != nil {
		return nil, err
	}
	failed = record.Since(earlier, failed)
	for i := range p.Waves {
		stage.RecountWave(ctx, env.Files, &p.Waves[i])
		report, err := collectWave(ctx, env.Store, &p.Waves[i], before, after, failed, p.First(i))
		if err != nil {
			return stages, err
		}
		stages = append(stages, report)
	}
	return stages, nil
}
