package evaluation

import (
	"errors"
	"log/slog"
	"slices"

	"bitextmine/encode/model"
	"bitextmine/eval"
	"bitextmine/index"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/score"
)

// openScoring gives the runner the scorer of bucc-scored, if that is asked for.
func (o *evalOptions) openScoring(runner *eval.Runner,
	protocols []*eval.Protocol) (closeScoring func() error, err error) {
	nothing := func() error { return nil }
	if !slices.ContainsFunc(protocols, func(p *eval.Protocol) bool { return p.Scorer }) {
		return nothing, nil
	}
	if o.sourceEmb != "" {
		return nil, badinput.Errorf("bucc-scored looks at tokens, which --src-emb does not have: " +
			"name an encoder with --encoder")
	}
	scoring, closeScoring, err := openScorer(o.scorer, index.MaxK, o.cfg)
	if err == nil && scoring != nil {
		err = scoring.Scorer.CheckRefine(o.scorer, o.strong)
		if err == nil && o.strong != nil && scoring.Scorer.Refined == nil {
			err = badinput.Errorf("bucc-scored takes --refine with a scorer of mine fit-scorer --refine alone; " +
				"mine run --refine --gold measures what a run makes of both encoders")
		}
		if err != nil {
			err = errors.Join(err, closeScoring())
		}
	}
	if err == nil && scoring == nil {
		err = badinput.Errorf("bucc-scored needs a scorer: name one with --scorer, or evaluate the margin with bucc-laser")
	}
	runner.Scoring = scoring
	return closeScoring, err
}

// openScorer opens a scorer and what it needs of the encoder; scoring is nil where the margin decides.
func openScorer(name string, k int, cfg *pipeline.Config) (scoring *eval.Scoring, closeTokens func() error, err error) {
	model, err := model.Load(cfg.Encoder)
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
	return &eval.Scoring{Scorer: scorer.Scorer, Tokens: tokens, Threads: cfg.Threads,
		Languages: model.Languages}, closeTokens, nil
}
