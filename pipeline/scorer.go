package pipeline

import (
	"encoding/json"

	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/score"
)

// loadScorer reads the scorer that the settings name, and warns of what may make it wrong.
func (r *run) loadScorer() error {
	if !r.cfg.Scored() {
		if r.cfg.Scorer == score.Default {
			r.Log.Info("no default scorer knows the strong encoder: its cosine times the margin decides", "threshold", r.cfg.Threshold)
		}
		return nil
	}
	if r.refiner != nil {
		return badinput.Errorf("scorer %s was fitted without the strong encoder that refine = %s names; leave --scorer out, and the strong cosine times the margin decides", r.cfg.Scorer, r.cfg.Refine)
	}
	scorer, warnings, err := score.Load(r.cfg.Scorer, r.cfg.K, r.model)
	if err != nil {
		return err
	}
	for _, warning := range warnings {
		r.Log.Warn(warning)
	}
	r.scorer = scorer
	return nil
}

// scorerDigest names the scorer's content and the token vectors that it is given; empty without a scorer.
func scorerDigest(scorer *score.Named, tokens model.TokenOutput) string {
	if scorer == nil {
		return ""
	}
	return plan.Digest([]any{json.RawMessage(scorer.Data), tokens})
}

// scorerData is the scorer's file; nil without one.
func scorerData(scorer *score.Named) json.RawMessage {
	if scorer == nil {
		return nil
	}
	return scorer.Data
}
