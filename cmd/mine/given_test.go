package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/bitext"
	"bitextmine/fixtures"
)

// TestRunGivenVectors: what mine encode wrote is mined as what the run encodes itself: by the margin, or by the scorer
// of the encoder that is named. A finished run explains and scores its pairs without the encoder.
func TestRunGivenVectors(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, lang := range []string{"de", "en"} {
		data, err := fixtures.Text.ReadFile("text/" + lang + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for line := range strings.Lines(string(data)) {
			_, sentence, _ := strings.Cut(line, "\t")
			text.WriteString(sentence)
		}
		if err := os.WriteFile(in(lang+".txt"), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mustExecute := func(args ...string) {
		t.Helper()
		if code := execute(t.Context(), args); code != 0 {
			t.Fatalf("mine %s: exit code %d", strings.Join(args, " "), code)
		}
	}
	mustExecute("encode", "--lang", "de", "--raw", "--out", in("de.f32"), in("de.txt"))
	mustExecute("encode", "--lang", "en", "--out", in("en.npy"), in("en.txt"))
	type pair struct {
		lines  string
		score  float64
		scored bool
	}
	kept := func(out string, args ...string) (pairs []pair) {
		t.Helper()
		mustExecute(append([]string{"run", "--src", "de", "--tgt", "en", "--src-text", in("de.txt"),
			"--tgt-text", in("en.txt"), "--out", in(out)}, args...)...)
		file, err := bitext.Open(filepath.Join(in(out), "de-en.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		for row, err := range file.Rows(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			pairs = append(pairs, pair{fmt.Sprint(row.Source.Line, " ", row.Target.Line), float64(row.Score), row.Prob != nil})
		}
		slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.lines, b.lines) })
		return pairs
	}
	given := []string{"--src-emb", in("de.f32"), "--tgt-emb", in("en.npy"), "--emb-dim", "512"}
	for name, with := range map[string][2][]string{
		"margin": {{"--scorer", "none", "--threshold", "1.06"}, given},
		"scorer": {nil, append(given, "--encoder", "use-static")},
	} {
		want, got := kept(name, with[0]...), kept(name+"-given", with[1]...)
		same := func(a, b pair) bool {
			return a.lines == b.lines && a.scored == b.scored && math.Abs(a.score-b.score) < 0.001
		}
		if len(want) < 100 || !slices.EqualFunc(got, want, same) {
			t.Errorf("by %s %d pairs are kept of given vectors and %d of the encoder's, or others", name, len(got), len(want))
		}
	}
	mustExecute("explain", "3", "--bitext", filepath.Join(in("margin-given"), "de-en.parquet"))
	mustExecute("score", filepath.Join(in("margin-given"), "de-en.parquet"), "--run", in("margin-given"),
		"--prefix", "own_", "--out", in("scored.parquet"))
	mustExecute(append([]string{"plan", "--src", "de", "--tgt", "en", "--src-text", in("de.txt"),
		"--tgt-text", in("en.txt"), "--out", in("planned")}, given...)...)
}
