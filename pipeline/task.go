package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"bitextmine/encode"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/store"
)

// TaskConfig says which tasks of which plan to run, and how.
type TaskConfig struct {
	Plan      string // its location: WORK/plans/ID.json
	Index     int    // place among the tasks of all waves, counted from Offset
	Offset    int
	Step, End int // then every Step-th before End; Step 0: the one task
	setting.Resources
}

// RunTasks runs tasks of a plan. What is done already is not done again.
func RunTasks(ctx context.Context, cfg TaskConfig, opts Options) (err error) {
	work, id, err := splitPlan(cfg.Plan)
	if err != nil {
		return err
	}
	if cfg.Step < 0 {
		return badinput.Errorf("step = %d must not be negative", cfg.Step)
	}
	if err := cfg.Resolve(); err != nil {
		return err
	}
	st, err := opts.openSeen(ctx, work)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	p, err := readPlan(ctx, st, id, opts.Version)
	if err != nil {
		return err
	}
	cfg.Index += cfg.Offset
	if cfg.Index < 0 || cfg.Index >= p.Len() {
		return badinput.Errorf("plan %s has tasks 0 to %d, not %d", cfg.Plan, p.Len()-1, cfg.Index)
	}
	w, err := taskWorker(cfg, opts, work, st, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	step := cfg.Step
	if step == 0 {
		step = p.Len()
	}
	for i := cfg.Index; i < max(min(cfg.End, p.Len()), cfg.Index+1); i += step {
		t, _ := p.Task(i)
		meter := opts.Progress.Start(t.Stage, t.Items, units[t.Stage])
		_, err := w.do(ctx, t, meter)
		meter.Done()
		if err != nil {
			return fmt.Errorf("task %d (%s): %w", i, t.Stage, err)
		}
	}
	return nil
}

func taskWorker(cfg TaskConfig, opts Options, work string, st *store.Store, p *plan.Plan) (*worker, error) {
	model, err := encode.Load(p.Encoder)
	if err != nil {
		return nil, err
	}
	run := Config{Resources: cfg.Resources}
	run.Work, run.Encoder = work, p.Encoder
	return newWorker(run, opts, st, model, p), nil
}

// PlanPath is the location of a plan in a store. The options of a bucket stay behind it.
func PlanPath(work, id string) string {
	place, options := splitOptions(work)
	return strings.TrimSuffix(place, "/") + "/" + plansNote + "/" + id + ".json" + options
}

func splitOptions(location string) (place, options string) {
	if at := strings.IndexByte(location, '?'); at >= 0 && store.Remote(location) {
		return location[:at], location[at:]
	}
	return location, ""
}

// splitPlan returns a plan's store and id.
func splitPlan(location string) (work, id string, err error) {
	place, options := splitOptions(location)
	dir, file := path.Split(place)
	work, inPlans := strings.CutSuffix(dir, "/"+plansNote+"/")
	id, isJSON := strings.CutSuffix(file, ".json")
	if !inPlans || !isJSON || work == "" || id == "" {
		return "", "", badinput.Errorf("%q is no plan's place; it has the form WORK/%s/ID.json, as mine plan prints it", location, plansNote)
	}
	return work + options, id, nil
}

// readPlan reads a plan of this version of the program.
func readPlan(ctx context.Context, st *store.Store, id, version string) (*plan.Plan, error) {
	data, err := st.ReadNote(ctx, plansNote, id+".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, badinput.Errorf("the store has no plan %s; mine plan and mine run make plans", id)
	}
	if err != nil {
		return nil, err
	}
	return plan.Decode(data, "plan "+id, version)
}
