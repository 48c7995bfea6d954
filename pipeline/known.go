package pipeline

import (
	"context"
	"errors"
	"fmt"

	"bitextmine/bitext/exchange"
	"bitextmine/mine"
	"bitextmine/pipeline/stage"
	stagefit "bitextmine/pipeline/stage/fit"
	"bitextmine/pipeline/store"
	"bitextmine/score/calibration"
	"bitextmine/score/fit"
)

// fitStage is the goal of fitting a scorer.
var fitStage = stagefit.Stage

// Calibrate injects known pairs into the corpora that cfg names and returns what became of them when all are mined by
// cfg's margin. The corpora are cut, encoded and searched by the tasks of a run, so that either finds the other's work
// done.
func Calibrate(ctx context.Context, cfg Config, known []exchange.Pair, opts Options) (o calibration.Outcomes, err error) {
	err = withOutput(ctx, stagefit.Calibrate, cfg, opts, func(b *stage.Builder) string {
		return stagefit.WantOutcomes(b, 0, known, mine.Margin(cfg.Margin))
	}, func(_ *session) {}, func(out *store.Output) (err error) {
		o, err = calibration.Read(out.Path(stagefit.OutcomesFile))
		return err
	})
	return o, err
}

// Fit injects known pairs into the corpora that cfg names and returns the examples that they and their rivals make. The
// corpora are cut, encoded and searched by the tasks of a run, so that either finds the other's work done.
func Fit(ctx context.Context, cfg Config, known stagefit.Known, opts Options) (set *fit.Set, err error) {
	warn := func(s *session) {
		if seen := fit.SeenSource(s.models.Encoder, known.Name); seen != "" {
			s.Log.Warn(fmt.Sprintf("encoder %s was trained on %s, and pairs it has seen are too easy: a scorer fitted on them "+
				"expects too much of other text; give other pairs if there are any", s.models.Encoder.Name, seen))
		}
	}
	err = withOutput(ctx, fitStage, cfg, opts, func(b *stage.Builder) string {
		return stagefit.Want(b, 0, known, false)
	}, warn, func(out *store.Output) (err error) {
		set, err = fit.ReadSet(out.Path(stagefit.ExamplesFile))
		return err
	})
	return set, err
}

// withOutput runs the task of a stage that is no part of a run, whose key want returns, and reads its output. check
// looks at the session before any task runs.
func withOutput(ctx context.Context, goal *stage.Descriptor, cfg Config, opts Options,
	want func(*stage.Builder) string, check func(*session), read func(*store.Output) error) (err error) {
	s, err := open(ctx, goal.Name, cfg, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	check(s)
	out, err := s.mining(goal, nil).output(ctx, func(b *stage.Builder) (string, error) { return want(b), nil })
	if err != nil {
		return err
	}
	return read(out)
}
