package shard

import (
	"context"
	"path/filepath"
	"testing"

	"bitextmine/corpus"
	"bitextmine/corpus/corpustest"
	"bitextmine/corpus/input"
)

func BenchmarkCut(b *testing.B) {
	in, dir := input.File{Path: corpustest.Bench(b)}, b.TempDir()
	n := uint64(0)
	for b.Loop() {
		result, err := Cut(context.Background(), in, corpus.DefaultOptions(), dir, Options{})
		if err != nil {
			b.Fatal(err)
		}
		n += result.Counts.Lines
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "sentences/s")
}

func BenchmarkReader(b *testing.B) {
	dir := b.TempDir()
	result, err := Cut(context.Background(), input.File{Path: corpustest.Bench(b)}, corpus.DefaultOptions(), dir, Options{})
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, result.Shards[0].File)
	for _, bb := range []struct {
		name string
		read func(*Reader) (int, error)
	}{
		{"keys", func(r *Reader) (int, error) {
			keys, err := r.Keys()
			return len(keys), err
		}},
		{"rows", func(r *Reader) (n int, err error) {
			for _, err := range r.Rows() {
				if err != nil {
					return n, err
				}
				n++
			}
			return n, nil
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				r, err := Open(path)
				if err != nil {
					b.Fatal(err)
				}
				k, err := bb.read(r)
				if err != nil {
					b.Fatal(err)
				}
				n += k
				r.Close()
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
