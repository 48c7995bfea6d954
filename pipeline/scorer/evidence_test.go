package scorer_test

import (
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/bitext/label"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/pipeline/decide"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/scorer"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/view"
	"bitextmine/score/feature"
)

const version = "test"

// mined is the sample's run.
func mined(t *testing.T, scorer string) *view.Run {
	t.Helper()
	cfg := pipeline.Config{
		Languages: setting.Languages{Source: "de", Target: "en"},
		Input:     setting.Input{SourceText: []string{"../../fixtures/text/de.txt"}, TargetText: []string{"../../fixtures/text/en.txt"}},
		Output:    setting.Output{Out: filepath.Join(t.TempDir(), "mined")},
		Text:      setting.Text{Format: "auto", TextColumn: "text", OnBadLine: "skip", MaxLineBytes: 1 << 16, ShardSize: 1000},
		Encoding:  setting.Encoding{Encoder: fixtures.Encoder}, Vectors: setting.Vectors{DType: "float16"},
		Searching: setting.Searching{Search: "exact"},
		Decision:  setting.Decision{K: 4, Margin: "ratio", Retrieval: "max", Threshold: 0.5, Scorer: scorer},
		Nights:    setting.Nights{Keep: 3},
	}
	options := pipeline.Options{Progress: progress.Silent, Log: slog.New(slog.DiscardHandler), Version: version}
	if _, err := pipeline.Run(t.Context(), cfg, options); err != nil {
		t.Fatal(err)
	}
	run, err := view.Open(t.Context(), cfg.Out, version, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	})
	return run
}

// labelled gives labels on the first rows of a run's bitext: every third is rejected.
func labelled(t *testing.T, run *view.Run, n uint64) {
	t.Helper()
	var rows []uint64
	for row := range n {
		rows = append(rows, row)
	}
	labels, err := label.Rows(t.Context(), run.Bitext, rows, [2]string{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range labels {
		labels[i].Accepted = i%3 != 0
	}
	if err := label.Append(run.Dir, labels); err != nil {
		t.Fatal(err)
	}
}

// openFiles is how many files of a run's candidates the process has open.
func openFiles(t *testing.T) (n int) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if path, err := os.Readlink(filepath.Join("/proc/self/fd", one.Name())); err == nil && filepath.Base(path) == view.CandidatesFile {
			n++
		}
	}
	return n
}

// TestNothingStaysOpen: what a run has of its candidates is closed once its labels are read, and with an explainer.
func TestNothingStaysOpen(t *testing.T) {
	run := mined(t, "auto")
	labelled(t, run, 30)
	before := openFiles(t)
	if _, err := scorer.ReadScores(t.Context(), run, options()); err != nil {
		t.Fatal(err)
	}
	if n := openFiles(t) - before; n != 0 {
		t.Errorf("%d files stay open after ReadScores", n)
	}
	before = openFiles(t)
	pair, err := run.Pair(0)
	if err != nil {
		t.Fatal(err)
	}
	x, err := decide.NewExplainer(t.Context(), pair, run.Model, options())
	if err != nil {
		t.Fatal(err)
	}
	if openFiles(t) == before {
		t.Error("an explainer has nothing open: the case shows nothing")
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	if n := openFiles(t) - before; n != 0 {
		t.Errorf("%d files stay open after an explainer", n)
	}
}

// TestLabelsOfARun: the scores of labelled pairs are those of the bitext, and their features those that decided.
func TestLabelsOfARun(t *testing.T) {
	run := mined(t, "auto")
	if _, err := scorer.ReadScores(t.Context(), run, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "no label") {
		t.Errorf("without labels: %v", err)
	}
	labelled(t, run, 30)
	s, err := scorer.ReadScores(t.Context(), run, options())
	if err != nil || !s.Scorer || s.Count != (scorer.Count{Labels: 30, Present: 30, Used: 30}) || len(s.Matched) < 100 {
		t.Fatalf("%+v, error %v", s.Count, err)
	}
	accepted := 0
	for _, l := range s.Labels {
		if l.Score < 0.5 || l.Score > 1 {
			t.Errorf("the probability of a pair of the bitext is %v", l.Score)
		}
		if l.Accepted {
			accepted++
		}
	}
	if accepted != 20 {
		t.Errorf("%d of 30 pairs are accepted, not 20", accepted)
	}
	set, count, err := scorer.ReadExamples(t.Context(), run, options())
	if err != nil || count.Used != 30 || set.Known.Found != 20 || len(set.Values) != 30*feature.Count {
		t.Fatalf("%+v, %+v, error %v", count, set, err)
	}
	pair, err := run.Pair(0)
	if err != nil {
		t.Fatal(err)
	}
	d, err := decide.Pair(t.Context(), pair, run.Model, options())
	if err != nil {
		t.Fatal(err)
	}
	for i := range set.True {
		same := false
		for j := range d.Candidates {
			values, err := d.Values(j)
			if err != nil {
				t.Fatal(err)
			}
			same = same || closeTo(set.Values.Of(i), values)
		}
		if !same || !set.Labelled[i] || set.Unpaired[i] {
			t.Errorf("example %d has features that no candidate of the run has: %v", i, set.Values.Of(i))
		}
	}
}

func closeTo(a, b []float32) bool {
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 1e-6 {
			return false
		}
	}
	return true
}

// TestLabelsOfAnotherRun: they are counted, and refused when there are no others.
func TestLabelsOfAnotherRun(t *testing.T) {
	run := mined(t, "none")
	other := func(n int) label.Label {
		return label.Label{Source: fmt.Sprintf("%032x", n), Target: fmt.Sprintf("%032x", n+1)}
	}
	foreign := []label.Label{other(1), other(5)}
	if err := label.Append(run.Dir, foreign); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func() error{
		"scores":   func() error { _, err := scorer.ReadScores(t.Context(), run, options()); return err },
		"examples": func() error { _, _, err := scorer.ReadExamples(t.Context(), run, options()); return err },
		"missing":  func() error { _, err := scorer.Find(t.Context(), run, foreign); return err },
	} {
		if err := read(); !badinput.Is(err) || !strings.Contains(err.Error(), "of another run") {
			t.Errorf("%s: %v", name, err)
		}
	}
	labelled(t, run, 12)
	s, err := scorer.ReadScores(t.Context(), run, options())
	if err != nil || s.Scorer || s.Count != (scorer.Count{Labels: 14, Present: 12, Used: 12}) {
		t.Errorf("%+v, error %v", s, err)
	}
	var warned string
	run.Plan.Labels, err = label.Latest(run.Dir)
	if err == nil {
		err = scorer.Warn(t.Context(), run.Files, func(format string, args ...any) { warned = fmt.Sprintf(format, args...) })
	}
	if err != nil || !strings.HasPrefix(warned, "2 of the 14 labels") {
		t.Errorf("warning %q, error %v", warned, err)
	}
}
