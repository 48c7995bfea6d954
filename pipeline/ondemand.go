package pipeline

import (
	"context"
	"errors"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/store"
)

// withRun opens a run for a goal other than the bitext and closes it after do.
func withRun(ctx context.Context, goal string, cfg Config, opts Options, do func(*run) error) (err error) {
	r, err := newRunFor(ctx, goal, cfg, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close(ctx)) }()
	return do(r)
}

// onDemand runs the task of a stage that is no part of a run, with the tasks that it needs, and returns its output.
// want asks for the task and returns its key.
func (r *run) onDemand(ctx context.Context, d *stage.Descriptor, want func(*stage.Builder) string) (*store.Output, error) {
	key := ""
	p, err := r.plan(ctx, func(b *stage.Builder) error {
		key = want(b)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r.complete(ctx, d, p, key)
}

// complete runs the plan of a stage that is no part of a run, and returns the output with the key.
func (r *run) complete(ctx context.Context, d *stage.Descriptor, p *plan.Plan, key string) (*store.Output, error) {
	if err := r.enter(ctx, d.Name); err != nil {
		return nil, err
	}
	if err := r.execute(ctx, p); err != nil {
		return nil, err
	}
	return r.store.Get(ctx, store.Task{Stage: d.Name, Key: key})
}
