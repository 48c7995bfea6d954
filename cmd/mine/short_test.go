package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// TestShortPairsAreAddedToAScorer: mine fit-scorer --short keeps the scorer of --base, and adds weights that a run with
// it takes.
func TestShortPairsAreAddedToAScorer(t *testing.T) {
	dir := t.TempDir()
	texts := []string{"--src", "de", "--tgt", "en", "--src-text", "../../fixtures/text/de.txt", "--tgt-text", "../../fixtures/text/en.txt", "--work", filepath.Join(dir, "work")}
	first, varied := filepath.Join(dir, "first.json"), filepath.Join(dir, "varied.json")
	must(t, append([]string{"fit-scorer", "--scorer-out", first}, texts...)...)
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
	must(t, append([]string{"run", "--scorer", varied, "--out", filepath.Join(dir, "mined")}, texts...)...)
	for _, wrong := range [][]string{{"--short"}, {"--short", "--base", "none"}, {"--base", first}, {"--short", "--base", first, "--without", "cosine"}} {
		if _, err := command(t, append(append([]string{"fit-scorer"}, wrong...), texts...)...); !badinput.Is(err) {
			t.Errorf("mine fit-scorer %s: %v", strings.Join(wrong, " "), err)
		}
	}
}
