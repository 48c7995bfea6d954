package corpus

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// benchCorpus is 27,000 sentences of news and encyclopaedia from the unpacked shared data in BITEXTMINE_BENCH_TEXT.
// Without it the sentences are generated; they are shorter and compress better.
func benchCorpus(b *testing.B) Input {
	if path := os.Getenv("BITEXTMINE_BENCH_TEXT"); path != "" {
		return Input{Path: path}
	}
	return Input{FS: fstest.MapFS{"a": {Data: []byte(bucc(27000, 27000))}}, Path: "a"}
}

func BenchmarkRead(b *testing.B) {
	in := benchCorpus(b)
	n := 0
	for b.Loop() {
		r, err := Open(in, DefaultOptions())
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := r.Next(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			n++
		}
		r.Close()
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "sentences/s")
}

func BenchmarkWriteShards(b *testing.B) {
	in, dir := benchCorpus(b), b.TempDir()
	n := uint64(0)
	for b.Loop() {
		result, err := WriteShards(context.Background(), in, DefaultOptions(), dir, ShardOptions{})
		if err != nil {
			b.Fatal(err)
		}
		n += result.Counts.Lines
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "sentences/s")
}

func BenchmarkReadShard(b *testing.B) {
	dir := b.TempDir()
	result, err := WriteShards(context.Background(), benchCorpus(b), DefaultOptions(), dir, ShardOptions{})
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, result.Shards[0].File)
	for _, bb := range []struct {
		name string
		read func(*ShardReader) (int, error)
	}{
		{"keys", func(r *ShardReader) (int, error) {
			keys, err := r.Keys()
			return len(keys), err
		}},
		{"rows", func(r *ShardReader) (n int, err error) {
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
				r, err := OpenShard(path)
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
