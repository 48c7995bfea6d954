package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"bitextmine/encode"
	"bitextmine/eval"
	"bitextmine/pipeline"
	"bitextmine/score"
)

// openScorer opens a scorer and what it needs of the encoder; scoring is nil where the margin decides.
func openScorer(name string, k int, cfg *pipeline.Config) (scoring *eval.Scoring, closeTokens func() error, err error) {
	model, err := encode.Load(cfg.Encoder)
	if err != nil {
		return nil, nil, err
	}
	scorer, warnings, err := score.Load(name, k, model)
	if err != nil || scorer == nil {
		return nil, func() error { return nil }, err
	}
	for _, warning := range warnings {
		slog.Warn(warning)
	}
	tokens, closeTokens, err := score.OpenTokens(model, cfg.EncoderOptions())
	if err != nil {
		return nil, nil, err
	}
	return &eval.Scoring{Scorer: scorer.Scorer, Tokens: tokens, Threads: cfg.Threads}, closeTokens, nil
}

// printScored explains the pair by the scorer of the settings; done is false where the margin decides.
func printScored(ctx context.Context, out io.Writer, pool *eval.Pool, x eval.Explanation, cfg pipeline.Config) (done bool, err error) {
	scoring, closeTokens, err := openScorer(cfg.Scorer, cfg.K, &cfg)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, closeTokens()) }()
	if scoring == nil {
		return false, nil
	}
	e, err := pool.ExplainScored(ctx, scoring, eval.LanguagePair{Source: cfg.Source, Target: cfg.Target}, x.Source.Text, x.Target.Text)
	if err != nil {
		return true, err
	}
	if !e.Candidate {
		_, err := fmt.Fprintln(out, "neither sentence has the other among its neighbours, so the scorer never saw the pair")
		return true, err
	}
	fmt.Fprintf(out, "probability %.4f; what each feature adds to the log odds:\n", e.Probability)
	sum := e.Intercept
	for _, part := range e.Parts {
		sum += part.Logit
		fmt.Fprintf(out, "  %+8.3f  %-16s %.3f\n", part.Logit, part.Feature, part.Value)
	}
	fmt.Fprintf(out, "  %+8.3f  intercept\n  %+8.3f  log odds\n\n", e.Intercept, sum)
	switch {
	case len(e.Winners) > 0:
		fmt.Fprintln(out, "not kept: a likelier pair had taken one of its sentences:")
		for _, w := range e.Winners {
			fmt.Fprintf(out, "  %.4f  %s\n          %s\n", w.Score, w.Source, w.Target)
		}
	case cfg.Precision > 0:
		fmt.Fprintf(out, "matched; kept if that leaves a precision of %g over the whole run\n", cfg.Precision)
	case float64(e.Probability) >= cfg.Threshold:
		fmt.Fprintf(out, "kept: the probability is at least the threshold %g\n", cfg.Threshold)
	default:
		fmt.Fprintf(out, "not kept: the probability is below the threshold %g\n", cfg.Threshold)
	}
	return true, nil
}
