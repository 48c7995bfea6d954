package engine

import (
	"context"

	"bitextmine/internal/usage"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
)

// Remote says whether an engine runs tasks in other processes.
func Remote(e Engine) bool {
	_, local := e.(Local)
	return !local
}

// Execute runs a stored plan, that of env, on an engine and returns what its waves did. With dry the engine only prints
// its scripts. Do and Begin of the job are set here.
func Execute(
	ctx context.Context, e Engine, job Job, env *stage.Env, reporter progress.Reporter, dry bool,
) (stages []record.StageReport, err error) {
	p := env.Plan
	before := func(string, string) bool { return false }
	if Remote(e) {
		if before, err = env.Done(ctx); err != nil {
			return nil, err
		}
	}
	var now *waveMeter
	job.Plan = p
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
	if err := e.Run(ctx, job); err != nil || !Remote(e) || dry {
		return stages, err
	}
	return collect(ctx, p, env, before)
}

// collect reads from the store what a remote engine did, and how it failed.
func collect(
	ctx context.Context, p *plan.Plan, env *stage.Env, before func(stage, key string) bool,
) (stages []record.StageReport, err error) {
	after, err := env.Done(ctx)
	if err != nil {
		return nil, err
	}
	failed, err := record.Holders(ctx, env.Store, record.FailedNote)
	if err != nil {
		return nil, err
	}
	for i := range p.Waves {
		stage.RecountWave(ctx, env.Files, &p.Waves[i])
		report, err := collectWave(ctx, env.Store, &p.Waves[i], before, after, failed)
		if err != nil {
			return stages, err
		}
		stages = append(stages, report)
	}
	return stages, nil
}
