package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"bitextmine/internal/badinput"
	"bitextmine/internal/usage"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"

	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// TaskConfig says which tasks of which plan to run, and how.
type TaskConfig struct {
	Plan      string // its location: WORK/plans/ID.json
	Index     int    // place among the tasks of all waves, counted from Offset
	Offset    int
	Step, End int // then every Step-th before End; Step 0: the one task
	setting.Resources
}

// Validate refuses tasks that no launcher names.
func (c *TaskConfig) Validate() error {
	switch {
	case c.Step < 0:
		return badinput.Errorf("step = %d must not be negative", c.Step)
	case c.Step == 0 && c.End != 0:
		return badinput.Errorf("end = %d says where the tasks of --step end: give that, too, or leave it out", c.End)
	}
	return nil
}

// RunTasks runs tasks of a plan. A task whose output is there is not run again.
func RunTasks(ctx context.Context, cfg TaskConfig, opts Options) (err error) {
	work, id, err := record.SplitPlanPath(cfg.Plan)
	if err != nil {
		return err
	}
	if err := errors.Join(cfg.Validate(), cfg.Resolve()); err != nil {
		return err
	}
	bound := cfg.MemoryBound()
	usage.LimitHeap(bound) // 0: the job's or the pod's own memory
	if store.CheckExists(work) != nil {
		return badinput.Errorf("there is no plan %s: run the task in the folder that the run was started in, on a machine that has its files",
			cfg.Plan)
	}
	st, err := opts.openStore(ctx, work)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	cfg.Index += cfg.Offset
	failed := func(err error) error { // the task could not begin
		noteFailure(ctx, st, opts.Log, id, cfg.Index, err)
		return err
	}
	p, err := stage.ReadPlan(ctx, st, id, opts.Version)
	if err != nil {
		return failed(err)
	}
	if cfg.Index < 0 || cfg.Index >= p.Len() {
		return badinput.Errorf("plan %s has tasks 0 to %d, not %d", cfg.Plan, p.Len()-1, cfg.Index)
	}
	model, err := setting.OpenEncoder(p.Encoder, p.Settings.Dim)
	if err != nil {
		return failed(err)
	}
	env := &stage.Env{
		Files: view.NewFiles(st, p, work), Model: model, Resources: cfg.Resources, Log: opts.Log, OpenEncoder: opts.OpenEncoder,
		Processor: opts.Processor, PlanID: id,
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	if err := env.CheckEncoder(); err != nil {
		return failed(err)
	}
	step := p.Len()
	if cfg.Step > 0 {
		step = min(cfg.Step, step)
	}
	for i := cfg.Index; i < max(min(cfg.End, p.Len()), cfg.Index+1); i += step {
		t, wave, _ := p.Task(i)
		stage.Recount(ctx, env.Files, t)
		begin, before := time.Now(), usage.CPUSeconds()
		meter := opts.Progress.Start(t.Stage, t.Items, wave.Unit)
		out, err := env.Do(ctx, t, meter)
		meter.Done()
		if err != nil {
			return fmt.Errorf("task %d (%s): %w", i, t.Stage, err)
		}
		opts.Log.Info("task done", "task", i, "stage", t.Stage, "items", t.Items, "there_before", out.Cached,
			"seconds", round(time.Since(begin).Seconds()), "cpu_seconds", round(usage.CPUSeconds()-before),
			"memory", plan.Bytes(usage.PeakMemory()), "estimate", plan.Bytes(t.Memory))
	}
	return nil
}

// noteFailure notes how the task of a plan failed that could not begin, so that whoever waits for it need not guess. Of
// a plan of another version of the program its tasks are known, too.
func noteFailure(ctx context.Context, st *store.Store, log *slog.Logger, id string, index int, failure error) {
	data, err := st.ReadNote(ctx, record.PlansNote, id+".json")
	if err != nil {
		return
	}
	if outputs, err := plan.Outputs(data, "plan "+id); err == nil && index >= 0 && index < len(outputs) {
		record.Failed(ctx, st, log, store.Task{Stage: outputs[index][0], Key: outputs[index][1]}, failure)
	}
}

func round(seconds float64) float64 { return math.Round(seconds*100) / 100 }
