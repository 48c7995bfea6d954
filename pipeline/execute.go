package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"bitextmine/encode"
	"bitextmine/internal/badinput"
	"bitextmine/internal/usage"
	"bitextmine/pipeline/engine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// env returns what tasks of a plan work with in this process.
func (r *run) env(p *plan.Plan) *stage.Env {
	return &stage.Env{
		Files: view.NewFiles(r.store, p, r.cfg.Work), Model: r.model, Resources: r.cfg.Resources, Log: r.Log, OpenEncoder: r.OpenEncoder,
	}
}

// execute runs a stored plan on the engine.
func (r *run) execute(ctx context.Context, p *plan.Plan) (err error) {
	env := r.env(p)
	defer func() {
		if env.Encoded() {
			r.report.Versions["onnxruntime"] = encode.RuntimeVersion()
		}
		err = errors.Join(err, env.Close())
	}()
	before := func(string, string) bool { return false }
	if r.remote {
		if before, err = r.done(ctx, p); err != nil {
			return err
		}
	}
	var now *waveMeter
	err = r.engine.Run(ctx, engine.Job{
		Plan: p, ID: r.report.PlanID, PlanPath: record.PlanPath(r.cfg.Work, r.report.PlanID), Out: r.cfg.Out,
		Begin: func(wave int) func() {
			stage.RecountWave(ctx, env.Files, &p.Waves[wave])
			now = begin(r.Progress, &p.Waves[wave])
			return func() { r.report.Stages = append(r.report.Stages, now.done()) }
		},
		Do: func(ctx context.Context, index int) error {
			t, _, _ := p.Task(index)
			out, err := env.Do(ctx, t, now.meter)
			if err == nil {
				now.add(t, out)
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
func (r *run) collect(ctx context.Context, p *plan.Plan, before func(stage, key string) bool) error {
	after, err := r.done(ctx, p)
	if err != nil {
		return err
	}
	failed, err := record.Holders(ctx, r.store, record.FailedNote)
	if err != nil {
		return err
	}
	files := view.NewFiles(r.store, p, r.cfg.Work)
	for wave := range p.Waves {
		stage.RecountWave(ctx, files, &p.Waves[wave])
		report, err := collectWave(ctx, r.store, &p.Waves[wave], before, after, failed)
		if err != nil {
			return err
		}
		r.report.Stages = append(r.report.Stages, report)
	}
	return nil
}

func collectWave(
	ctx context.Context, st *store.Store, wave *plan.Wave, before, after func(stage, key string) bool, failed map[string]record.Holder,
) (record.StageReport, error) {
	s := record.StageReport{Name: wave.Stage, Unit: wave.Unit, Tasks: len(wave.Tasks)}
	var first, last time.Time
	missing := 0
	var why *record.Holder
	for _, t := range wave.Tasks {
		switch {
		case before(t.Stage, t.Key):
			s.Cached++
		case !after(t.Stage, t.Key):
			missing++
			if h, ok := failed[t.Stage+"-"+t.Key]; ok && (why == nil || h.Permanent) {
				why = &h
			}
		default:
			out, err := st.Stat(ctx, store.Task{Stage: t.Stage, Key: t.Key})
			if err != nil {
				return s, err
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
		return s, notDone(s.Name, missing, s.Tasks, why)
	}
	s.Seconds = last.Sub(first).Seconds()
	s.Rate = float64(s.Items) / max(s.Seconds, 1e-9)
	return s, nil
}

// notDone is the error of a wave whose tasks did not all succeed.
func notDone(stage string, missing, tasks int, why *record.Holder) error {
	switch {
	case why == nil:
		return fmt.Errorf("%d of %d %s tasks exited without a result or an error message; look into the engine's logs; run again to go on", missing, tasks, stage)
	case why.Permanent:
		return badinput.Errorf("%d of %d %s tasks failed, one on %s: %s", missing, tasks, stage, why.Host, why.Error)
	}
	return fmt.Errorf("%d of %d %s tasks failed, one on %s: %s; run again to go on", missing, tasks, stage, why.Host, why.Error)
}

// waveMeter times one wave and counts what it did.
type waveMeter struct {
	wave                 *plan.Wave
	meter                progress.Meter
	start                time.Time
	items, tasks, cached atomic.Int64
}

func begin(reporter progress.Reporter, wave *plan.Wave) *waveMeter {
	var total int64
	for _, t := range wave.Tasks {
		total += t.Items
	}
	return &waveMeter{wave: wave, meter: reporter.Start(wave.Stage, total, wave.Unit), start: time.Now()}
}

// add counts a finished task.
func (w *waveMeter) add(t *plan.Task, out *store.Output) {
	w.tasks.Add(1)
	if out.Cached {
		w.cached.Add(1)
	} else {
		w.items.Add(t.Items)
	}
}

func (w *waveMeter) done() record.StageReport {
	w.meter.Done()
	elapsed := time.Since(w.start).Seconds()
	return record.StageReport{
		Name: w.wave.Stage, Items: w.items.Load(), Unit: w.wave.Unit, Seconds: elapsed, Rate: float64(w.items.Load()) / max(elapsed, 1e-9),
		Tasks: int(w.tasks.Load()), Cached: int(w.cached.Load()), PeakMemory: usage.PeakMemory(),
	}
}
