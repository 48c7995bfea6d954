package main

import (
	"log/slog"
	"slices"

	"bitextmine/encode"
	"bitextmine/eval"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/pipeline/rescore"
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
	model, err := encode.Load(o.Encoder)
	if err != nil {
		return nil, err
	}
	scorer, warnings, err := rescore.Load(o.scorer, pipeline.MaxK, model)
	if err != nil {
		return nil, err
	}
	if scorer == nil {
		return nil, badinput.Errorf("bucc-scored needs a scorer: name one with --scorer, or evaluate the margin with bucc-laser")
	}
	for _, warning := range warnings {
		slog.Warn(warning)
	}
	tokens, closeTokens, err := rescore.OpenTokens(model, encode.Options{Threads: o.Threads, Library: o.ONNXRuntime})
	if err != nil {
		return nil, err
	}
	runner.Scoring = &eval.Scoring{Scorer: scorer.Scorer, Tokens: tokens, Threads: o.Threads}
	return closeTokens, nil
}
