package config

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"time"

	"bitextmine/encode/model"
	"bitextmine/index/faiss"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/store"
	"bitextmine/score"
)

// NewReport starts the report of a run. refiner and scorer may be nil.
func NewReport(cfg *Config, version string, model, refiner *model.Model, scorer *score.Named) *record.Report {
	s, from := NewRecord(cfg, model, refiner, scorer)
	report := &record.Report{
		Version: version, ConfigDigest: plan.Digest(s), Settings: s, Scorer: from, Threads: cfg.Threads, Started: time.Now().UTC(), Work: absolute(cfg.Work),
		Encoder:  record.EncoderReport{Name: model.Name, Digest: model.Digest, Dim: model.Dim},
		Versions: map[string]string{"go": runtime.Version(), "mine": version, "blas": faiss.RunningBLAS().String()},
	}
	if refiner != nil {
		report.Refiner = &record.EncoderReport{Name: refiner.Name, Digest: refiner.Digest, Dim: refiner.Dim}
	}
	return report
}

// NewRecord is what run.json says of the settings and of the scorer.
func NewRecord(cfg *Config, model, refiner *model.Model, scorer *score.Named) (setting.Record, *record.ScorerReport) {
	s := cfg.Record(model.Digest, digestOf(refiner), scorerDigest(scorer, model))
	if scorer == nil {
		return s, nil
	}
	return s, &record.ScorerReport{Name: scorer.Name, Encoder: scorer.Encoder.Name, FittedOn: scorer.FittedOn}
}

// SettingsOf is PlanSettings of opened models and a scorer that was read.
func SettingsOf(cfg *Config, search string, model, refiner *model.Model, scorer *score.Named) plan.Settings {
	return cfg.PlanSettings(model, search, digestOf(refiner), scorerDigest(scorer, model))
}

// digestOf is a model's digest; empty without one.
func digestOf(m *model.Model) string {
	if m == nil {
		return ""
	}
	return m.Digest
}

// scorerDigest names the scorer's content and the token vectors that it is given; empty without a scorer.
func scorerDigest(scorer *score.Named, m *model.Model) string {
	if scorer == nil {
		return ""
	}
	return plan.Digest([]any{json.RawMessage(scorer.Data), m.Tokens})
}

// absolute is the location of a store as another process finds it.
func absolute(work string) string {
	if store.Remote(work) {
		return work
	}
	if path, err := filepath.Abs(work); err == nil {
		return path
	}
	return work
}
