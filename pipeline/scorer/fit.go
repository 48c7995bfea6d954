package scorer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bitextmine/bitext/exchange"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/stage"
	stagefit "bitextmine/pipeline/stage/fit"
	"bitextmine/pipeline/store"
	"bitextmine/score"
	"bitextmine/score/fit"
)

// Collect runs the task of the fit stage whose key want returns, with the tasks that it needs, and returns its output.
type Collect func(ctx context.Context, want func(*stage.Builder) (key string, err error)) (*store.Output, error)

var errLittleText = errors.New("too few sentences")

// fit injects the program's known pairs into the text and fits a scorer: the content of its file. The stages that the
// run itself has too are then done.
func (c *Chooser) fit(ctx context.Context, collect Collect) ([]byte, error) {
	cfg, encoder := c.Config, c.Models.Encoder
	if cfg.DryRun != nil {
		return nil, badinput.Errorf("scorer = auto is first fitted to the text, with encoder %s, before the tasks that use it are "+
			"known: fit it with mine fit-scorer and name it with --scorer", encoder.Name)
	}
	pairs, of, err := exchange.MixedPairs(cfg.Source, cfg.Target)
	if err != nil {
		return nil, err
	}
	c.Log.Info(fmt.Sprintf("the program has no scorer for encoder %s; one is fitted to this text with %d known pairs (%s)",
		encoder.Name, len(pairs), of))
	begin := time.Now()
	out, err := collect(ctx, func(b *stage.Builder) (string, error) {
		if min(b.Side(0, 0).Rows(), b.Side(0, 1).Rows()) < fit.MinSentences {
			return "", errLittleText
		}
		return stagefit.Want(b, 0, stagefit.Known{Name: fmt.Sprintf("the program's own (%s)", of), Pairs: pairs}, true), nil
	})
	if err != nil {
		if badinput.Is(err) {
			err = badinput.Errorf("scorer = auto cannot be fitted (%w); choose another encoder, or let the margin decide with "+
				"--scorer none --threshold 1.06", err)
		}
		return nil, err
	}
	set, err := fit.ReadSet(out.Path(stagefit.ExamplesFile))
	if err != nil {
		return nil, err
	}
	base, err := score.OfDefault()
	if err != nil {
		return nil, err
	}
	scorer, err := fit.OnTheWay(set, base)
	if err != nil {
		return nil, err
	}
	q := scorer.Quality
	c.Log.Info(fmt.Sprintf("fitted a scorer in %.1f s: on known pairs left out, precision %.2f and recall %.2f at 0.5, "+
		"calibration error %.3f", time.Since(begin).Seconds(), q.Precision, q.Recall, q.Calibration))
	return scorer.Encode()
}
