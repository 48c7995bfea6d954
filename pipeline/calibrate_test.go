package pipeline

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/stage"
	"bitextmine/score"
)

// TestCalibrateAfterARun: what a run has encoded is not encoded again, another margin gives other outcomes, and the
// bitext of before comes out after.
func TestCalibrateAfterARun(t *testing.T) {
	cfg := testConfig(corpora(t, 60), filepath.Join(t.TempDir(), "out"))
	cfg.Scorer = score.None
	before := mustRun(t, cfg)
	opts := options()
	opts.OpenEncoder = func(*model.Model, encode.Options) (stage.Encoder, error) {
		return nil, errors.New("the corpora are encoded again")
	}
	known := fixturePairs(t)
	first, err := Calibrate(t.Context(), cfg, known, opts)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(first.Whole) + len(first.Unpaired) + first.Dropped; n != len(known) || len(first.Found) == 0 || first.Sources != before.Counts.SourceUnique {
		t.Errorf("%d of %d pairs, %d found, %d sources of %d", n, len(known), len(first.Found), first.Sources, before.Counts.SourceUnique)
	}
	if again, err := Calibrate(t.Context(), cfg, known, opts); err != nil || !reflect.DeepEqual(first, again) {
		t.Errorf("a second time it gives other outcomes, error %v", err)
	}
	cfg.Margin = "distance"
	if other, err := Calibrate(t.Context(), cfg, known, opts); err != nil || reflect.DeepEqual(first.Found, other.Found) {
		t.Errorf("another margin gives the same scores, error %v", err)
	}
	if _, err := Calibrate(t.Context(), cfg, known[:20], opts); !badinput.Is(err) || !strings.Contains(err.Error(), "at least 40") {
		t.Errorf("20 pairs: error %v", err)
	}
	cfg.Margin = "ratio"
	cfg.Out, cfg.Work = filepath.Join(t.TempDir(), "after"), filepath.Join(cfg.Out, "work")
	if after := mustRun(t, cfg); after.Bitext.SHA256 != before.Bitext.SHA256 {
		t.Error("calibrating changed the bitext")
	}
}
