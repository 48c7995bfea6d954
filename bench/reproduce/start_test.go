package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/index/exact"
	"bitextmine/train"
	"bitextmine/train/data"
	"bitextmine/train/objective/mexma"
	"bitextmine/train/words"
)

// TestMEXMAStartsWithoutItsLoss: what both sides of MEXMA's comparison start from predicts masked words without the
// translation's vector; they differ in the gradients of tokens alone.
func TestMEXMAStartsWithoutItsLoss(t *testing.T) {
	for budget, kinds := range map[string][]string{"mexma.yaml": {"", "-mean"}, "mexma-e5.yaml": {""}} {
		b, err := readBudget(budget)
		if err != nil {
			t.Fatal(err)
		}
		config := func(name string) (c train.Config, of *mexma.Settings) {
			g, s, err := b.of(name)
			if err != nil {
				t.Fatal(err)
			}
			if c, err = b.preset(presets, g, s, b.Parts[0]); err != nil {
				t.Fatal(err)
			}
			return c, c.Objective.Settings.(*mexma.Settings)
		}
		for _, kind := range kinds {
			c, with := config("mexma-no-koleo" + kind)
			other, without := config("mexma-no-tokens" + kind)
			start := b.start("mexma-no-koleo" + kind)
			if _, of := config(start); of.Context != mexma.NoContext || of.Alignment != mexma.Contrastive {
				t.Errorf("%s: %s has %+v", budget, start, of)
			}
			if start != b.start("mexma-no-tokens"+kind) || !with.TokenGradients || without.TokenGradients ||
				c.Encoder.StartHeads != other.Encoder.StartHeads {
				t.Errorf("%s: %+v and %+v start from %s", budget, with, without, start)
			}
			if without.TokenGradients = true; *with != *without || with.Context == mexma.NoContext {
				t.Errorf("%s: %+v and %+v differ in more than gradients of tokens, or have no context", budget, with, without)
			}
		}
	}
}

// TestStartsFromALargerTransformer: a preset states the shape of the small transformers, and trains on what it starts
// from whatever shape that has. A row that is made again goes on where it was.
func TestStartsFromALargerTransformer(t *testing.T) {
	if err := encodetest.SetLibrary(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	pairs := filepath.Join(dir, "pairs.tsv")
	var text strings.Builder
	for i := range 200 {
		s := fmt.Sprintf("the %s of %s is %d", strconv.FormatInt(int64(i*7919), 36), strconv.FormatInt(int64(i*104729), 36), i)
		fmt.Fprintf(&text, "%s\t%s\n", strings.ToUpper(s), s)
	}
	if err := os.WriteFile(pairs, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	c := train.DefaultConfig()
	c.Name = "small"
	source := data.DefaultSource()
	source.Files, source.Src, source.Tgt, source.Licence = []string{pairs}, "de", "en", "CC0"
	c.Bitext.Sources, c.Bitext.BatchSize, c.Bitext.MaxTokens, c.Bitext.Buckets = []data.Source{source}, 16, 32, []int{32}
	c.Tokenizer.File = filepath.Join(dir, "spm.model")
	c.Vocabulary.Size = 80
	if err := words.TrainVocabulary(c.Tokenizer.File, c.Vocabulary, data.Sentences(t.Context(), c.Bitext)); err != nil {
		t.Fatal(err)
	}
	c.Encoder.Kind = "transformer"
	c.Encoder.Transformer.Layers, c.Encoder.Transformer.Heads, c.Encoder.Transformer.Width, c.Encoder.Transformer.FFN = 3, 2, 32, 64
	c.Steps, c.LogEvery = 2, 1
	searcher, err := exact.Open(exact.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	m := &maker{options: options{out: filepath.Join(dir, "out"), device: "cpu"}, judge: judge{searcher: searcher}}
	larger := filepath.Join(dir, "larger")
	if _, err := m.train(t.Context(), c, larger); err != nil {
		t.Fatal(err)
	}
	c.Encoder.Start = filepath.Join(larger, "checkpoints", "step-00000002")
	c.Encoder.Transformer.Layers = 1
	row := filepath.Join(dir, "row")
	if _, err := m.train(t.Context(), c, row); err != nil {
		t.Fatal(err)
	}
	weights := filepath.Join(row, "checkpoints", "step-00000002", "encoder.safetensors")
	before, err := os.Stat(weights)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.train(t.Context(), c, row); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(weights); err != nil || !os.SameFile(before, after) {
		t.Errorf("a row that was finished was made anew, or %v", err)
	}
}
