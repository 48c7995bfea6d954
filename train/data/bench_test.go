package data

import (
	"os"
	"testing"

	"bitextmine/encode/sentencepiece"
	"bitextmine/fixtures"
)

// pieces is the default encoder's tokenizer.
func pieces(tb testing.TB) *sentencepiece.Model {
	tb.Helper()
	model, err := os.ReadFile("../../fixtures/models/" + fixtures.Encoder + "/spm.model")
	if err != nil {
		tb.Fatal(err)
	}
	m, err := sentencepiece.New(model)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(m.Close)
	return m
}

// BenchmarkRead reads, normalises, deduplicates and tokenises real pairs.
func BenchmarkRead(b *testing.B) {
	const path = "../../../shared/data/train/tatoeba.en-zh.tsv.gz"
	if _, err := os.Stat(path); err != nil {
		b.Skip("needs the development data beside the checkout")
	}
	s := source(path)
	s.Src, s.Tgt = "en", "zh"
	o, n := Options{Tokenizer: pieces(b), Lowercase: true}, 0
	for b.Loop() {
		set, err := Read(b.Context(), config(s), o)
		if err != nil {
			b.Fatal(err)
		}
		n = set.Len()
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "pairs/s")
}

func BenchmarkNext(b *testing.B) {
	c := DefaultConfig()
	c.BatchSize, c.Temperature, c.BothWays = 512, 2, true
	set := setOf(b, c, Options{}, 100_000, 10_000, 1000)
	seq := batches(b, set)
	b.ReportAllocs()
	for b.Loop() {
		seq.Next()
	}
	b.ReportMetric(float64(512*b.N)/b.Elapsed().Seconds(), "pairs/s")
}

// BenchmarkSeek is what taking a training up costs for each pair that it had seen.
func BenchmarkSeek(b *testing.B) {
	c := DefaultConfig()
	c.BatchSize, c.Temperature = 512, 2
	set := setOf(b, c, Options{}, 100_000, 10_000, 1000)
	seq := batches(b, set)
	for b.Loop() {
		seq.Seek(seq.Step() + 1)
	}
	b.ReportMetric(float64(512*b.N)/b.Elapsed().Seconds(), "pairs/s")
}
