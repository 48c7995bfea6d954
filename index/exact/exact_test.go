package exact

import (
	"math/rand/v2"
	"testing"

	"go.uber.org/goleak"

	"bitextmine/index"
	"bitextmine/index/indextest"
	"bitextmine/index/kernel"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestParts: a search whose queries are in several parts finds the same.
func TestParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	src, tgt := indextest.Float16(indextest.Random(rng, 7000, 24), 24), indextest.Float16(indextest.Random(rng, 6500, 24), 24)
	var results [2]index.Result
	for i, partBytes := range []int{partBytes, 1} {
		cell, err := index.NewCell(t.Context(), src, tgt, 4)
		if err != nil {
			t.Fatal(err)
		}
		if err := (&searcher{threads: 2, kernel: kernel.Best}).pass(t.Context(), cell, partBytes, nil); err != nil {
			t.Fatal(err)
		}
		if results[i], err = cell.Result(); err != nil {
			t.Fatal(err)
		}
		cell.Close()
	}
	indextest.Same(t, "source", results[1].Source, results[0].Source)
	indextest.Same(t, "target", results[1].Target, results[0].Target)
}

func TestInPartsHasEveryRowOnce(t *testing.T) {
	seen := map[int]bool{}
	for _, part := range inParts(10001, 4096, 2048) {
		if part.n > 4096 || part.size > 2048 {
			t.Errorf("a part of %d rows in blocks of %d", part.n, part.size)
		}
		for _, row := range part.rows {
			seen[int(row)] = true
		}
	}
	if len(seen) != 10001 {
		t.Errorf("%d of 10001 rows are in parts", len(seen))
	}
}

// The lists of the source rows do not depend on whether those of the target rows are wanted.
func TestSourceOnly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range [][2]int{{300, 5000}, {5000, 300}} {
		src, tgt := indextest.Float32(indextest.Random(rng, n[0], 24), 24), indextest.Float16(indextest.Random(rng, n[1], 24), 24)
		var results [2]index.Result
		for i, only := range []bool{false, true} {
			s, err := Open(Options{Threads: 2, SourceOnly: only})
			if err != nil {
				t.Fatal(err)
			}
			if results[i], err = s.Search(t.Context(), src, tgt, 4, nil); err != nil {
				t.Fatal(err)
			}
		}
		indextest.Same(t, "source", results[1].Source, results[0].Source)
		for _, id := range results[1].Target.IDs {
			if id != mine.None {
				t.Fatalf("%d x %d: a target row has a neighbour", n[0], n[1])
			}
		}
	}
}

func TestOpenBadInput(t *testing.T) {
	for name, opts := range map[string]Options{"threads": {Threads: -1}, "kernel": {Kernel: "mmx"}} {
		if _, err := Open(opts); !badinput.Is(err) {
			t.Errorf("%s: error %v; want badinput", name, err)
		}
	}
}

func TestCutVisitsEveryRowOnce(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 1023, 1024, 2049, 16385, 50000, 70001} {
		for _, workers := range []int{1, 2, 3, -1, -16} {
			b := cut(n, 8192, max(workers, -workers))
			if workers < 0 {
				b = b.inRuns(1024)
			}
			seen := make([]bool, n)
			for i := range b.count {
				lo, hi := b.bounds(i)
				if s := b.span(i); s.Lo != lo || s.Hi != hi {
					t.Fatalf("n %d, %d workers: block %d is %d to %d and %d to %d", n, workers, i, lo, hi, s.Lo, s.Hi)
				}
				if hi <= lo || hi-lo > b.size || b.size > 8192 {
					t.Fatalf("n %d, %d workers: block %d is %d to %d of size %d", n, workers, i, lo, hi, b.size)
				}
				for p := lo; p < hi; p++ {
					row := p * b.step % n
					if b.rows != nil {
						row = int(b.rows[p])
					}
					if seen[row] {
						t.Fatalf("n %d, %d workers: row %d comes twice", n, workers, row)
					}
					seen[row] = true
				}
			}
			for row, ok := range seen {
				if !ok {
					t.Fatalf("n %d, %d workers: row %d does not come", n, workers, row)
				}
			}
		}
	}
}
