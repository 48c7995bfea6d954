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

// NewReport starts the report of a run. scorer may be nil.
func NewReport(cfg *Config, version string, m Models, scorer *score.Named) *record.Report {
	s, from := NewRecord(cfg, m, scorer)
	report := &record.Report{
		Version: version, ConfigDigest: plan.Digest(s), Settings: s, Scorer: from,
		Threads: cfg.Threads, Started: time.Now().UTC(), Work: absolute(cfg.Work),
		Encoder:  *encoderReport(m.Encoder),
		Refiner:  encoderReport(m.Strong),
		Judge:    encoderReport(m.Judge),
		Versions: map[string]string{"go": runtime.Version(), "mine": version, "blas": faiss.RunningBLAS().String()},
	}
	return report
}

// encoderReport names an encoder; nil without one.
func encoderReport(m *model.Model) *record.EncoderReport {
	if m == nil {
		return nil
	}
	return &record.EncoderReport{Name: m.Name, Digest: m.Digest, Dim: m.Dim}
}

// NewRecord returns the settings and the scorer as run.json has them.
func NewRecord(cfg *Config, m Models, scorer *score.Named) (setting.Record, *record.ScorerReport) {
	s := cfg.Record(m, scorerDigest(scorer, m.Encoder))
	if scorer == nil {
		return s, nil
	}
	return s, &record.ScorerReport{Name: scorer.Name, Encoder: scorer.Encoder.Name, FittedOn: scorer.FittedOn}
}

// SettingsOf is PlanSettings of opened models and a scorer that was read.
func SettingsOf(cfg *Config, search string, m Models, scorer *score.Named) plan.Settings {
	return cfg.PlanSettings(m, search, scorerDigest(scorer, m.Encoder))
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
