package score

import (
	"io/fs"
	"strings"
	"testing"

	"bitextmine/encode/model"
	"bitextmine/fixtures"
)

// TestEveryBuiltInEncoderHasAScorer: the default scorer is that of the run's encoder.
func TestEveryBuiltInEncoderHasAScorer(t *testing.T) {
	entries, err := fs.ReadDir(fixtures.Models, "models")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		m, err := model.Load(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		scorer, warnings, err := Load(Default, 4, m)
		if err != nil || len(warnings) > 0 || scorer.Encoder.Digest != m.Digest {
			t.Errorf("%s: error %v, warnings %q, a scorer for another encoder", e.Name(), err, warnings)
		}
		if _, warnings, err = Load(Default, 8, m); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "weighs 4 neighbours") {
			t.Errorf("k = 8: error %v, warnings %q", err, warnings)
		}
	}
}

func TestAnotherEncoderGetsTheDefaultEncodersScorerAndAWarning(t *testing.T) {
	m, err := model.Load(fixtures.Encoder)
	if err != nil {
		t.Fatal(err)
	}
	other := *m
	other.Digest = strings.Repeat("0", 64)
	scorer, warnings, err := Load(Default, 4, &other)
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "not on this run's") || scorer.Encoder.Name != fixtures.Encoder {
		t.Errorf("error %v, warnings %q; want the scorer of %s and one warning", err, warnings, fixtures.Encoder)
	}
}
