package pipeline

import (
	"context"
	"errors"

	"bitextmine/encode/session"
	"bitextmine/internal/usage"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/engine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
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
			r.report.Versions["onnxruntime"] = session.RuntimeVersion()
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
		Plan: p, ID: r.report.PlanID, PlanPath: record.PlanPath(r.cfg.Work, r.report.PlanID), Out: r.cfg.Out, Device: config.DeviceOfTasks(&r.cfg),
		Begin: func(index int) func() {
			usage.TrimHeap()
			stage.RecountWave(ctx, env.Files, &p.Waves[index])
			now = beginWave(r.Progress, &p.Waves[index])
			return func() { r.report.Stages = append(r.report.Stages, now.Done()) }
		},
		Do: func(ctx context.Context, index int) error {
			t, _, _ := p.Task(index)
			out, err := env.Do(ctx, t, now.Progress)
			if err == nil {
				now.Add(t, out)
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
	for i := range p.Waves {
		stage.RecountWave(ctx, files, &p.Waves[i])
		report, err := collectWave(ctx, r.store, &p.Waves[i], before, after, failed)
		if err != nil {
			return err
		}
		r.report.Stages = append(r.report.Stages, report)
	}
	return nil
}
