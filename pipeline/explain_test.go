package pipeline

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/pipeline/decide"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/view"
)

// openExplainer opens a finished run as mine explain does.
func openExplainer(t testing.TB, location string) *decide.Explainer {
	t.Helper()
	run, err := view.Open(t.Context(), location, options().Version, options().Log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	})
	pair, err := run.Pair(0)
	if err != nil {
		t.Fatal(err)
	}
	explainer, err := decide.NewExplainer(t.Context(), pair, run.Model, encode.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := explainer.Close(); err != nil {
			t.Error(err)
		}
	})
	return explainer
}

// TestExplain explains every candidate of a run by margin and compares with the bitext.
func TestExplain(t *testing.T) {
	cfg := testConfig(corpora(t, 60), filepath.Join(t.TempDir(), "out"))
	cfg.KeepBelow = true
	rows := pairs(t, mustRun(t, cfg))
	explainer := openExplainer(t, cfg.Out)
	seen := map[mine.Verdict]int{}
	for _, row := range rows {
		x, err := explainer.Explain(t.Context(), row.Source.Text, row.Target.Text)
		if err != nil {
			t.Fatal(err)
		}
		seen[x.Verdict]++
		if !x.Candidate || x.Scored || (x.Verdict == mine.Kept) != row.Keep || x.Score != row.Score || x.SourceRank != row.SourceRank {
			t.Errorf("%+v, the bitext has %+v", x, row)
		}
		if x.Forward && !x.Source.Neighbours[x.Source.Best].Partner || x.Backward && !x.Target.Neighbours[x.Target.Best].Partner {
			t.Errorf("%+v: the neighbour with the best margin is not the one that is proposed", x)
		}
		mean := 0.0
		for _, n := range x.Source.Neighbours {
			mean += float64(n.Cosine) / float64(len(x.Source.Neighbours))
		}
		if math.Abs(mean-float64(x.SourceMean)) > 1e-6 {
			t.Errorf("the cosines shown average to %v, the mean is %v", mean, x.SourceMean)
		}
		if (x.Verdict == mine.Taken) != (len(x.Winners) > 0) {
			t.Errorf("%s with winners %+v", x.Verdict, x.Winners)
		}
	}
	if seen[mine.Taken] == 0 || seen[mine.Kept] == 0 {
		t.Fatalf("verdicts %v: the case shows nothing", seen)
	}
	for _, texts := range [][2]string{{"nowhere", rows[0].Target.Text}, {rows[0].Source.Text, "nowhere"}} {
		if _, err := explainer.Explain(t.Context(), texts[0], texts[1]); !badinput.Is(err) || !strings.Contains(err.Error(), "nowhere") {
			t.Errorf("error %v", err)
		}
	}
}

// TestExplainScored: where a scorer decides, the probability and the log odds are those of the bitext, and a pair that
// nobody proposes is no candidate.
func TestExplainScored(t *testing.T) {
	cfg := scored(testConfig(corpora(t, 60), filepath.Join(t.TempDir(), "out")))
	cfg.KeepBelow = true
	report := mustRun(t, cfg)
	rows := pairs(t, report)
	explainer := openExplainer(t, report.Bitext.Path)
	for _, row := range rows[:min(len(rows), 20)] {
		x, err := explainer.Explain(t.Context(), row.Source.Text, row.Target.Text)
		if err != nil {
			t.Fatal(err)
		}
		sum := x.Intercept + x.Adapted
		for _, part := range x.Contributions {
			sum += part.Logit
		}
		if !x.Scored || x.Probability != *row.Prob || math.Abs(1/(1+math.Exp(-sum))-float64(x.Probability)) > 1e-5 || (x.Verdict == mine.Kept) != row.Keep {
			t.Errorf("%+v, the bitext has probability %v, keep %v", x, *row.Prob, row.Keep)
		}
	}
	best, worst := rows[0], rows[len(rows)-1]
	for i := len(rows) - 1; worst.Target.Text == best.Target.Text; i-- {
		worst = rows[i]
	}
	x, err := explainer.Explain(t.Context(), best.Source.Text, worst.Target.Text)
	if err != nil || x.Candidate && x.Verdict == mine.Kept || x.Cosine == 0 {
		t.Errorf("%+v, error %v of a pair that is none", x, err)
	}
}

// TestMargins: pairs scored by a run have the figures of its bitext, by margin and by a scorer; a pair with a sentence
// that the run lacks has none.
func TestMargins(t *testing.T) {
	for name, scorer := range map[string]bool{"margin": false, "scorer": true} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig(corpora(t, 60), filepath.Join(t.TempDir(), "out"))
			if scorer {
				cfg = scored(cfg)
			}
			cfg.KeepBelow = true
			rows := pairs(t, mustRun(t, cfg))
			var sources, targets []string
			for _, row := range rows {
				sources, targets = append(sources, row.Source.Text), append(targets, row.Target.Text)
			}
			// One pair with blanks around its source, two with a sentence from nowhere.
			sources = append(sources, "  "+rows[0].Source.Text+" ", "nowhere", rows[0].Source.Text)
			targets = append(targets, rows[0].Target.Text, rows[0].Target.Text, "nowhere")
			run, err := view.Open(t.Context(), cfg.Out, options().Version, options().Log)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := run.Close(); err != nil {
					t.Error(err)
				}
			}()
			pair, err := run.Pair(0)
			if err != nil {
				t.Fatal(err)
			}
			var keys [2][]corpus.Key
			for side, texts := range [2][]string{sources, targets} {
				for _, text := range texts {
					keys[side] = append(keys[side], corpus.KeyOf(corpus.Normalise(text)))
				}
			}
			found, err := decide.Margins(t.Context(), pair, keys)
			if err != nil || len(found) != len(rows)+3 {
				t.Fatalf("%d margins, %v", len(found), err)
			}
			for i, row := range append(rows, rows[0]) {
				c := found[i]
				if c == nil || c.Score != row.Score || c.Cosine != row.Cosine || c.SourceMean != row.SourceMean || c.TargetMean != row.TargetMean ||
					c.SourceRank != row.SourceRank || c.TargetRank != row.TargetRank {
					t.Errorf("%+v, the bitext has %+v", c, row)
				}
			}
			if found[len(rows)+1] != nil || found[len(rows)+2] != nil {
				t.Errorf("a sentence from nowhere has the margin %+v or %+v", found[len(rows)+1], found[len(rows)+2])
			}
		})
	}
}

func TestOpenRunRefuses(t *testing.T) {
	cfg := testConfig(corpora(t, 40), filepath.Join(t.TempDir(), "out"))
	report := mustRun(t, cfg)
	other := filepath.Join(cfg.Out, "other.parquet")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	earlier := *report
	earlier.Work = ""
	old := t.TempDir()
	if err := earlier.Write(filepath.Join(old, record.ReportName)); err != nil {
		t.Fatal(err)
	}
	for location, says := range map[string]string{
		filepath.Join(cfg.Out, "nothing"): "neither a run's output directory",
		t.TempDir():                       "has no run.json",
		other:                             "not other.parquet",
		old:                               "earlier version",
	} {
		if _, err := view.Open(t.Context(), location, "test", options().Log); !badinput.Is(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v does not say %q", location, err, says)
		}
	}
	if _, err := view.Open(t.Context(), cfg.Out, "other", options().Log); !badinput.Is(err) || !strings.Contains(err.Error(), "another version") {
		t.Errorf("error %v", err)
	}
	if err := os.RemoveAll(filepath.Join(cfg.Out, "work", "plans")); err != nil {
		t.Fatal(err)
	}
	if _, err := view.Open(t.Context(), cfg.Out, "test", options().Log); !badinput.Is(err) || !strings.Contains(err.Error(), "is not in") {
		t.Errorf("error %v", err)
	}
}
