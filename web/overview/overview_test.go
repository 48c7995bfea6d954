package overview

import (
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/bitext"
	"bitextmine/bitext/label"
	"bitextmine/pipeline/admin"
	"bitextmine/web/webtest"
)

func opened(t *testing.T, dir string) *Run {
	t.Helper()
	r, err := Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// withProbabilities are rows whose probabilities are given; those from the threshold on are kept.
func withProbabilities(probabilities ...float32) []bitext.Row {
	rows := webtest.Rows(len(probabilities))
	for i, p := range probabilities {
		rows[i].Prob, rows[i].Keep, rows[i].Reasons = &p, p >= webtest.Threshold, nil
		if p < webtest.Threshold {
			rows[i].Reasons = []string{"below_threshold"}
		}
	}
	return rows
}

func labelOn(row *bitext.Row, accepted bool) label.Label {
	return label.Label{Source: hex.EncodeToString(row.Source.Key[:]), Target: hex.EncodeToString(row.Target.Key[:]), Accepted: accepted}
}

// TestHistogram: every pair is in the bin of its value, values at the ends of bins too.
func TestHistogram(t *testing.T) {
	dir := t.TempDir()
	webtest.Write(t, dir, withProbabilities(0, 0.019, 0.02, 0.3, 0.5, 0.52, 0.98, 0.99, 1), webtest.Began)
	h := opened(t, dir).Overview(nil).Histogram
	if len(h.Bins) != 50 || h.Threshold != webtest.Threshold || h.Most() != 3 {
		t.Fatalf("%d bins, threshold %v, the fullest has %d", len(h.Bins), h.Threshold, h.Most())
	}
	want := map[int][2]int{0: {0, 2}, 1: {0, 1}, 15: {0, 1}, 25: {1, 0}, 26: {1, 0}, 49: {3, 0}}
	for i, b := range h.Bins {
		if got := [2]int{b.Kept, b.Rejected}; got != want[i] {
			t.Errorf("bin %d from %v has %v, want %v", i, b.Low, got, want[i])
		}
	}
}

// TestHistogramOfMargins: without probabilities the bins have round ends around all margins.
func TestHistogramOfMargins(t *testing.T) {
	rows := webtest.Rows(3)
	for i, score := range []float32{0.93, 1.06, 2.11} {
		rows[i].Prob, rows[i].Score = nil, score
	}
	dir := t.TempDir()
	webtest.Write(t, dir, rows, webtest.Began)
	h := opened(t, dir).Overview(nil).Histogram
	first, last := h.Bins[0], h.Bins[len(h.Bins)-1]
	if math.Abs(first.Low-0.9) > 1e-9 || math.Abs(first.High-0.95) > 1e-9 || math.Abs(last.High-2.15) > 1e-9 {
		t.Errorf("bins from %v, %v to %v", first.Low, first.High, last.High)
	}
	if first.Pairs() != 1 || last.Pairs() != 1 {
		t.Errorf("%+v %+v", first, last)
	}
}

func TestRound(t *testing.T) {
	for value, want := range map[float64]float64{0: 0.01, -1: 0.01, 1: 1, 1.1: 2, 2: 2, 3: 5, 7: 10, 0.03: 0.05, 0.02: 0.02, 120: 200} {
		if got := Round(value); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v becomes %v, want %v", value, got, want)
		}
	}
}

// TestReliability: decisions are counted in their bands, and the precision weighs bands by their kept pairs.
func TestReliability(t *testing.T) {
	rows := withProbabilities(0.95, 0.95, 0.95, 0.95, 0.95, 0.95, 0.55, 0.55, 0.05)
	dir := t.TempDir()
	webtest.Write(t, dir, rows, webtest.Began)
	run := opened(t, dir)
	labels := []label.Label{labelOn(&rows[0], true), labelOn(&rows[1], true), labelOn(&rows[8], false), {Source: strings.Repeat("01", 16), Target: strings.Repeat("02", 16)}}
	r := run.Overview(labels).Reliability
	if r.Accepted != 2 || r.Rejected != 1 || r.Elsewhere != 1 || r.Judged() != 3 {
		t.Errorf("%+v", r)
	}
	if !math.IsNaN(r.Precision) {
		t.Errorf("the precision is %v, though nobody judged a kept pair of a band", r.Precision)
	}
	if want := (6*0.95 + 2*0.55) / 8; math.Abs(r.Expected-want) > 1e-6 {
		t.Errorf("expected are %v, want %v", r.Expected, want)
	}
	r = run.Overview(append(labels, labelOn(&rows[6], false), labelOn(&rows[7], true))).Reliability
	if want := (6*1.0 + 2*0.5) / 8; math.Abs(r.Precision-want) > 1e-9 || r.Low >= want || r.High < want {
		t.Errorf("the precision is %v from %v to %v, want %v", r.Precision, r.Low, r.High, want)
	}
	edited := labelOn(&rows[7], true)
	edited.SourceText, edited.TargetText = "Richtig.", "Right."
	r = run.Overview(append(labels, labelOn(&rows[6], true), edited)).Reliability
	if want := (6*1.0 + 2*0.5) / 8; math.Abs(r.Precision-want) > 1e-9 || r.Accepted != 3 || r.Rejected != 2 {
		t.Errorf("with a pair that was corrected: %+v, want the precision %v, 3 right and 2 not", r, want)
	}
	if b := r.Bands[5]; b.Judged() != 2 || b.Share() != 0.5 || b.Pairs != 2 || math.Abs(b.Probability-0.55) > 1e-6 {
		t.Errorf("%+v", b)
	}
}

// TestInterval compares with values of Wilson's formula computed elsewhere (R's binom.confint).
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		right, n  int
		low, high float64
	}{{10, 10, 0.7224672, 1}, {0, 10, 0, 0.2775328}, {8, 10, 0.4901625, 0.9433178}, {50, 100, 0.4038315, 0.5961685}} {
		b := Band{Accepted: c.right, Rejected: c.n - c.right}
		if low, high := b.Interval(); math.Abs(low-c.low) > 1e-6 || math.Abs(high-c.high) > 1e-6 {
			t.Errorf("%d of %d: %v to %v, want %v to %v", c.right, c.n, low, high, c.low, c.high)
		}
	}
}

// TestLocate finds a run and its output directory from each directory that may be named.
func TestLocate(t *testing.T) {
	out := t.TempDir()
	webtest.Night(t, out, 1, webtest.Rows(10))
	second := webtest.Night(t, out, 2, webtest.Rows(20))
	plain := t.TempDir()
	webtest.Run(t, plain, 10)
	for dir, want := range map[string][2]string{
		out: {out, second}, filepath.Join(out, "latest"): {out, second}, filepath.Join(out, "runs", "000001-2026-03-01"): {out, "000001-2026-03-01"}, plain: {plain, ""},
		filepath.Join(plain, "de-ar.parquet"): {plain, ""}, filepath.Join(out, "latest", "de-ar.parquet"): {out, second},
	} {
		p, _, err := Locate(dir)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(p.Named); err != nil || !info.IsDir() {
			t.Errorf("%s: the directory that was named is %s", dir, p.Named)
		}
		if p.Out != want[0] || p.Night() != want[1] {
			t.Errorf("%s: %+v, night %q, want %v", dir, p, p.Night(), want)
		}
	}
	t.Chdir(filepath.Join(out, "runs"))
	if p, _, err := Locate(second); err != nil || p.Out != out || p.Night() != second {
		t.Errorf("%s from within runs: %+v, night %q, %v", second, p, p.Night(), err)
	}
	t.Chdir(second)
	if p, _, err := Locate("."); err != nil || p.Out != out || p.Night() != second {
		t.Errorf(". in %s: %+v, night %q, %v", second, p, p.Night(), err)
	}
}

// TestHistory lists nights, the newest first, also one whose run.json is damaged.
func TestHistory(t *testing.T) {
	out := t.TempDir()
	rows := webtest.Rows(60)
	webtest.Night(t, out, 1, rows[:30])
	webtest.Night(t, out, 2, rows[:30])
	webtest.Night(t, out, 3, rows)
	if err := os.WriteFile(filepath.Join(out, "runs", "000002-2026-03-02", "run.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(out, "runs", ".000004-2026-03-04.tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	run := opened(t, out)
	h := run.Overview(nil).History
	if len(h) != 3 || h[0].Kept != 40 || h[0].Change != 20 || h[0].Previous != "000001-2026-03-01" || !h[0].Shown || h[1].Damage == "" || h[2].Kept != 20 || h[2].Previous != "" {
		t.Errorf("%+v", h)
	}
	if _, err := run.Changes(t.Context(), "000001-2026-03-01"); err == nil {
		t.Error("the first night was compared with something")
	}
	if c, err := run.Changes(t.Context(), "000003-2026-03-03"); err != nil || c.Previous != h[0].Previous {
		t.Errorf("beside a damaged night: %+v, %v", c, err)
	}
	webtest.Night(t, out, 2, rows[:40])
	c, err := run.Changes(t.Context(), "000003-2026-03-03")
	if err != nil {
		t.Fatal(err)
	}
	if added := c.Of(admin.Added); c.Added != 13 || len(added) != 13 || c.Removed != 0 || c.Previous != "000002-2026-03-02" {
		t.Errorf("%d added, of which %d are shown: %+v", c.Added, len(added), c)
	}
}
