package statistic

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/train/data"
)

// TestTexts: the first pairs are in the bitext's order, here by length, and those drawn in batches of training's, in
// which no pair is twice.
func TestTexts(t *testing.T) {
	var text strings.Builder
	var sources []string
	for i := range 100 {
		sources = append(sources, strings.Repeat("a ", i)+fmt.Sprintf("source %d", i))
		fmt.Fprintf(&text, "%s\ttarget %d\n", sources[i], i)
	}
	path := filepath.Join(t.TempDir(), "pairs.tsv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	source := data.DefaultSource()
	source.Files, source.Src, source.Tgt, source.Licence = []string{path}, "en", "de", "CC0"
	c := data.DefaultConfig()
	c.Sources, c.Seed, c.BatchSize, c.AnyLength, c.BothWays, c.MaxTokens, c.Buckets = []data.Source{source}, 1, 32, true, true, 8, []int{8}
	if sides, err := first(t.Context(), c); err != nil || !slices.Equal(sides[0], sources) {
		t.Errorf("the first pairs are %q, %v", sides[0], err)
	}
	sides, err := drawn(t.Context(), c)
	if err != nil || len(sides[0]) != enough || len(sides[1]) != enough {
		t.Fatalf("%d and %d texts are drawn, %v", len(sides[0]), len(sides[1]), err)
	}
	for i, s := range sides[0] {
		if _, number, _ := strings.Cut(s, "source "); sides[1][i] != "target "+number {
			t.Fatalf("%q has the other side %q", s, sides[1][i])
		}
	}
	batch := slices.Sorted(slices.Values(sides[0][:32]))
	if len(slices.Compact(batch)) != 32 || slices.Equal(sides[0][:32], sources[:32]) {
		t.Errorf("the first batch is %q", sides[0][:32])
	}
	set, err := data.Read(t.Context(), c, data.Options{Tokenizer: byWords{}, Texts: true})
	if err != nil {
		t.Fatal(err)
	}
	batches, err := set.Batches(nil)
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := set.Texts(int(batches.Next().Rows[0])); s != sides[0][0] {
		t.Errorf("%q is drawn first, training draws %q", sides[0][0], s)
	}
}
