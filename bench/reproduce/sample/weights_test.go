package sample

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/train"
	"bitextmine/train/encoder"
	"bitextmine/train/weights"
)

// TestStartWithoutUnusedPieces: the text is cut as before, every piece of it keeps its row, and others are gone.
func TestStartWithoutUnusedPieces(t *testing.T) {
	from, out := t.TempDir(), t.TempDir()
	pieces, err := os.ReadFile(encodetest.Pieces())
	if err != nil {
		t.Fatal(err)
	}
	c, text := train.DefaultConfig(), []string{"The river rises.", "La rivière monte."}
	c.Tokenizer.File, c.Encoder.Start = filepath.Join(from, "spm.model"), from
	c.Prefixes = map[string]model.Prefix{model.AnyLanguage: {Text: "query: "}}
	if err := os.WriteFile(c.Tokenizer.File, pieces, 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(dir string) *tokenizer.Vocabulary {
		v, err := tokenizer.OpenIn(dir, model.Tokenizer{Kind: "sentencepiece", File: "spm.model"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(v.Close)
		return v
	}
	whole, shape := open(from), encoder.DefaultSettings()
	shape.Vocabulary, shape.Width, shape.Layers, shape.Heads, shape.FFN, shape.Norm = whole.Rows(), 2, 1, 1, 2, "post"
	table := weights.New(weights.Spec{Name: wordTable, Shape: []int{shape.Vocabulary, shape.Width}, Init: weights.Normal, Scale: 1}, 1)
	if err := encoder.WritePublished(from, shape, []*weights.Tensor{table}); err != nil {
		t.Fatal(err)
	}
	small, texts := c, func() ([]string, error) { return slices.Clone(text), nil }
	if err := Weights(&small, texts, out); err != nil {
		t.Fatal(err)
	}
	got, err := weights.ReadModel(out, nil)
	if err != nil {
		t.Fatal(err)
	}
	pruned := open(filepath.Dir(small.Tokenizer.File))
	if shape, err := encoder.ReadShape(small.Encoder.Start); err != nil || shape.Vocabulary != pruned.Rows() || pruned.Rows() > 60 {
		t.Fatalf("%d pieces, shape %+v, %v", pruned.Rows(), shape, err)
	}
	cut := func(v *tokenizer.Vocabulary, table *weights.Tensor) (all []string) {
		err := v.Encode([]string{"query: " + text[0], "query: " + text[1]}, 100, func(_ int, ids []int32) {
			for _, id := range ids {
				all = append(all, fmt.Sprint(v.Pieces()[id], table.Row(int(id))))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if before, after := cut(whole, table), cut(pruned, got[0]); !slices.Equal(before, after) {
		t.Errorf("%v before, %v after", before, after)
	}
	again := c
	if err := Weights(&again, nil, out); err != nil || again.Encoder.Start != small.Encoder.Start || again.Tokenizer.File != small.Tokenizer.File {
		t.Errorf("what exists is made again: %v", err)
	}
}
