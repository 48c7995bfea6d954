package pipeline

import (
	"encoding/json"

	"bitextmine/encode/model"
	"bitextmine/pipeline/plan"
	"bitextmine/score"
)

// loadScorer reads the scorer that the settings name, and warns of what may make it wrong.
func (r *run) loadScorer() error {
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
