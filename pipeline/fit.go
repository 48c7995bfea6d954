package pipeline

import (
	"context"
	"errors"
	"fmt"

	"bitextmine/pipeline/stage"
	stagefit "bitextmine/pipeline/stage/fit"
	"bitextmine/pipeline/store"
	"bitextmine/score/fit"
)

// Fit injects known pairs into the corpora that cfg names and returns the examples that they and their rivals make. The corpora are
// cut, encoded and searched by the tasks of a run, so that either finds the other's work done.
func Fit(ctx context.Context, cfg Config, known stagefit.Known, opts Options) (_ *fit.Set, err error) {
	out, closeStore, err := onDemand(ctx, cfg, opts, stagefit.Stage.Name, func(r *run) func(b *stage.Builder) string {
		if seen := fit.SeenSource(r.model, known.Name); seen != "" {
			r.Log.Warn(fmt.Sprintf("encoder %s was trained on %s, and pairs it has seen are too easy: a scorer fitted on them expects too much of other text; give other pairs if there are any",
				r.model.Name, seen))
		}
		return func(b *stage.Builder) string { return stagefit.Want(b, 0, known) }
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	return fit.ReadSet(out.Path(stagefit.ExamplesFile))
}

// onDemand runs the tasks of a stage that is no part of a run, with what they need, and returns its output.
func onDemand(
	ctx context.Context, cfg Config, opts Options, goal string, want func(*run) func(*stage.Builder) string,
) (_ *store.Output, closeStore func() error, err error) {
	r, err := newRunFor(ctx, goal, cfg, opts)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.store.Close())
		}
	}()
	ask, key := want(r), ""
	p, err := r.planFor(ctx, func(b *stage.Builder) error {
		key = ask(b)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if err := r.enter(ctx, goal); err != nil {
		return nil, nil, err
	}
	if err := r.execute(ctx, p); err != nil {
		return nil, nil, err
	}
	out, err := r.store.Get(ctx, store.Task{Stage: goal, Key: key})
	return out, r.store.Close, err
}
