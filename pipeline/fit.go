package pipeline

import (
	"context"
	"fmt"

	"bitextmine/pipeline/stage"
	stagefit "bitextmine/pipeline/stage/fit"
	"bitextmine/score/fit"
)

// Fit injects known pairs into the corpora that cfg names and returns the examples that they and their rivals make. The
// corpora are cut, encoded and searched by the tasks of a run, so that either finds the other's work done.
func Fit(ctx context.Context, cfg Config, known stagefit.Known, opts Options) (set *fit.Set, err error) {
	err = withRun(ctx, stagefit.Stage.Name, cfg, opts, func(r *run) error {
		if seen := fit.SeenSource(r.model, known.Name); seen != "" {
			r.Log.Warn(fmt.Sprintf("encoder %s was trained on %s, and pairs it has seen are too easy: a scorer fitted on them expects too much of other text; give other pairs if there are any",
				r.model.Name, seen))
		}
		out, err := r.onDemand(ctx, stagefit.Stage, func(b *stage.Builder) string { return stagefit.Want(b, 0, known, false) })
		if err == nil {
			set, err = fit.ReadSet(out.Path(stagefit.ExamplesFile))
		}
		return err
	})
	return set, err
}
