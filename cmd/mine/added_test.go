package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// TestAScorerIsAddedTo: mine fit-scorer --short and --unknown keep the scorer of --base, and add weights that a run
// takes, those for unknown languages only if it has one.
func TestAScorerIsAddedTo(t *testing.T) {
	dir := t.TempDir()
	texts := []string{"--src", "de", "--tgt", "en", "--src-text", "../../fixtures/text/de.txt", "--tgt-text", "../../fixtures/text/en.txt", "--work", filepath.Join(dir, "work")}
	first, varied := filepath.Join(dir, "first.json"), filepath.Join(dir, "varied.json")
	saved, pairs := filepath.Join(dir, "saved.json"), writerInto(t, dir)("pairs.tsv", "Ein Satz.\tA sentence.\n")
	must(t, append([]string{"fit-scorer", "--scorer-out", first, "--save-examples", saved}, texts...)...)
	must(t, append([]string{"fit-scorer", "--base", first, "--short", "--scorer-out", varied}, texts...)...)
	weights := func(path string) (weights, short []float64) {
		t.Helper()
		var scorer struct {
			Terms []struct{ Weight, Short float64 }
		}
		data, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(data, &scorer)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, term := range scorer.Terms {
			weights = append(weights, term.Weight)
			if term.Short != 0 {
				short = append(short, term.Short)
			}
		}
		return weights, short
	}
	was, none := weights(first)
	is, short := weights(varied)
	if len(none) > 0 || len(short) < 20 || len(was) != len(is) {
		t.Errorf("%d and %d weights for short pairs", len(none), len(short))
	}
	for i := range was {
		if was[i] != is[i] {
			t.Errorf("weight %d was %v and is %v", i, was[i], is[i])
		}
	}
	both := filepath.Join(dir, "both.json")
	if out := must(t, append([]string{"fit-scorer", "--base", varied, "--unknown", "--scorer-out", both}, texts...)...); !strings.Contains(out, "left out") {
		t.Errorf("mine fit-scorer --unknown says %s", out)
	}
	expected := func(scorer, language string) float64 {
		t.Helper()
		out := filepath.Join(dir, filepath.Base(scorer)+language)
		must(t, append(append([]string{"run"}, texts...), "--src", language, "--scorer", scorer, "--out", out)...)
		var run struct{ Cut struct{ Share float64 } }
		data, err := os.ReadFile(filepath.Join(out, "run.json"))
		if err == nil {
			err = json.Unmarshal(data, &run)
		}
		if err != nil || run.Cut.Share <= 0 {
			t.Fatalf("a share of %v is expected, error %v", run.Cut.Share, err)
		}
		return run.Cut.Share
	}
	if known, unknown := expected(varied, "de"), expected(varied, "cs"); expected(both, "de") != known || expected(both, "cs") == unknown {
		t.Error("of German the share that is expected is another, or of Czech it is not")
	}
	for _, wrong := range [][]string{
		{"--short"}, {"--unknown"}, {"--short", "--unknown", "--base", first}, {"--short", "--base", "none"}, {"--base", first},
		{"--short", "--base", first, "--without", "cosine"}, {"--short", "--base", first, "--share", "0.2"},
		{"--examples", saved, "--save-examples", filepath.Join(dir, "again.json")}, {"--examples", saved, "--pairs", pairs},
		{"--examples", saved, "--pairs-src", pairs}, {"--examples", saved, "--pairs-tgt", pairs},
	} {
		if _, err := command(t, append(append([]string{"fit-scorer"}, wrong...), texts...)...); !badinput.Is(err) {
			t.Errorf("mine fit-scorer %s: %v", strings.Join(wrong, " "), err)
		}
	}
}
