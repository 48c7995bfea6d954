package main

import (
	"slices"

	"bitextmine/eval"
	"bitextmine/index"
	"bitextmine/internal/badinput"
)

// openScoring gives the runner the scorer of bucc-scored, if that is asked for.
func (o *evalOptions) openScoring(runner *eval.Runner, protocols []eval.Protocol) (closeScoring func() error, err error) {
	nothing := func() error { return nil }
	if !slices.Contains(protocols, eval.BUCCScored) {
		return nothing, nil
	}
	if o.sourceEmb != "" {
		return nil, badinput.Errorf("bucc-scored looks at tokens, which --src-emb does not have: name an encoder with --encoder")
	}
	scoring, closeScoring, err := openScorer(o.scorer, index.MaxK, o.cfg)
	if err == nil && scoring == nil {
		err = badinput.Errorf("bucc-scored needs a scorer: name one with --scorer, or evaluate the margin with bucc-laser")
	}
	runner.Scoring = scoring
	return closeScoring, err
}
