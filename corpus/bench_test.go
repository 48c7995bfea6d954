package corpus

import (
	"errors"
	"io"
	"testing"

	"bitextmine/corpus/corpustest"
	"bitextmine/corpus/input"
)

func BenchmarkRead(b *testing.B) {
	in := input.File{Path: corpustest.Bench(b)}
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
