package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/internal/badinput"
)

// TestEvalRefined: two-stage mining is evaluated as it is run. At the threshold that mine eval bucc-refined finds, mine
// run --refine keeps as many pairs with the same precision and recall.
func TestEvalRefined(t *testing.T) {
	dir := fixtureSet(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	text := must(t, "eval", "bucc-refined", "--dir", dir, "--src", "de", "--refine", encodetest.Bag(),
		"--dtype", "float16", "--format", "json")
	var found struct {
		Notes                    []string
		F1, Threshold, Precision float64
		Counts                   struct{ Source, Target, Gold, Extracted, Correct int }
	}
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	threshold, err := json.Marshal(found.Threshold)
	if err != nil {
		t.Fatal(err)
	}
	ran := must(t, "run", "--src", "de", "--tgt", "en", "--src-text", in("de-en.train.de"),
		"--tgt-text", in("de-en.train.en"), "--gold", in("de-en.train.gold"),
		"--refine", encodetest.Bag(), "--scorer", "none", "--threshold", string(threshold), "--keep-copies", "--keep-foreign",
		"--out", in("out"))
	c := found.Counts
	want, err := json.Marshal([]int{c.Correct, c.Extracted, c.Gold})
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(ran, "kept pairs against")
	var got [3]int
	_, line, _ = strings.Cut(line, " (")
	parts := strings.FieldsFunc(line, func(r rune) bool { return r < '0' || r > '9' })
	if len(parts) != 3 {
		t.Fatalf("mine run prints %q", ran)
	}
	for i, part := range parts {
		if err := json.Unmarshal([]byte(part), &got[i]); err != nil {
			t.Fatal(err)
		}
	}
	if have, _ := json.Marshal(got); string(have) != string(want) || c.Extracted < 100 || found.F1 < 70 {
		t.Errorf("mine run has %v (correct, kept, gold), mine eval %s with F1 %.1f", got, want, found.F1)
	}
	if !strings.Contains(strings.Join(found.Notes, " "), "the strong encoder saw") {
		t.Errorf("notes %q", found.Notes)
	}
	for _, wrong := range [][]string{
		{"bucc-refined"}, {"bucc-laser", "--refine", encodetest.Bag()}, {"bucc-refined",
			"--refine", "none such"}, {"bucc-scored", "--refine", encodetest.Bag()},
	} {
		if _, err := command(t, append([]string{"eval", "--dir", dir, "--src", "de"}, wrong...)...); !badinput.Is(err) {
			t.Errorf("mine eval %s: %v is not bad input", strings.Join(wrong, " "), err)
		}
	}
}
