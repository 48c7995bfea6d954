package indextest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
)

// Opener opens a searcher that runs on the given number of threads.
type Opener func(threads int) (index.Searcher, error)

// RunExact runs the whole suite on an implementation whose results must be exact.
func RunExact(t *testing.T, open Opener) {
	RunResults(t, open)
	Run(t, open)
}

// RunResults compares results with a brute force's: the part of RunExact for implementations that are too slow for
// the rest.
func RunResults(t *testing.T, open Opener) {
	t.Run("results", func(t *testing.T) { testResults(t, open) })
	t.Run("threads", func(t *testing.T) { testThreads(t, open) })
}

// Run runs the tests that every implementation must pass, exact or not.
func Run(t *testing.T, open Opener) {
	t.Run("bad input", func(t *testing.T) { testBadInput(t, open) })
	t.Run("cancel", func(t *testing.T) { testCancel(t, open) })
	t.Run("progress", func(t *testing.T) { testProgress(t, open) })
	t.Run("concurrent", func(t *testing.T) { testConcurrent(t, open) })
}

func mustOpen(t *testing.T, open Opener, threads int) index.Searcher {
	t.Helper()
	s, err := open(threads)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// cell is one named input of the suite.
type cell struct {
	name     string
	src, tgt index.Side
	k        int
}

// solved is a cell with its correct result.
type solved struct {
	cell
	want index.Result
}

// solvedCells is computed once for all implementations that a test binary tests.
var solvedCells = sync.OnceValue(func() []solved {
	var all []solved
	for _, c := range slices.Concat(shapes(), adversaries()) {
		if c.src.Vectors.N*c.tgt.Vectors.N*c.src.Vectors.Dim > maxProducts {
			continue
		}
		all = append(all, solved{c, BruteForce(c.src, c.tgt, c.k)})
	}
	return all
})

func testResults(t *testing.T, open Opener) {
	s := mustOpen(t, open, 2)
	for _, c := range solvedCells() {
		t.Run(c.name, func(t *testing.T) {
			got, err := s.Search(t.Context(), c.src, c.tgt, c.k, nil)
			if err != nil {
				t.Fatal(err)
			}
			Same(t, "source", got.Source, c.want.Source)
			Same(t, "target", got.Target, c.want.Target)
		})
	}
}

// Same fails the test at the first list that differs in an id or in a bit of a cosine.
func Same(t *testing.T, side string, got, want mine.Neighbours) {
	t.Helper()
	if got.K != want.K || len(got.IDs) != len(want.IDs) || len(got.Cosines) != len(want.Cosines) {
		t.Fatalf("%s lists: k %d with %d ids and %d cosines, want k %d with %d and %d", side,
			got.K, len(got.IDs), len(got.Cosines), want.K, len(want.IDs), len(want.Cosines))
	}
	for i := range want.Len() {
		gotIDs, gotCosines := got.Row(i)
		wantIDs, wantCosines := want.Row(i)
		if !slices.Equal(gotIDs, wantIDs) || !slices.Equal(gotCosines, wantCosines) {
			t.Fatalf("%s row %d:\n got %v %v\nwant %v %v", side, i, gotIDs, gotCosines, wantIDs, wantCosines)
		}
	}
}

func testThreads(t *testing.T, open Opener) {
	rng := rand.New(rand.NewPCG(7, 7))
	a, b := Paired(rng, 700, 48)
	src, tgt := Float16(a, 48), Float16(b[:500*48], 48)
	want, err := mustOpen(t, open, 1).Search(t.Context(), src, tgt, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{2, 3, 8} {
		got, err := mustOpen(t, open, threads).Search(t.Context(), src, tgt, 5, nil)
		if err != nil {
			t.Fatal(err)
		}
		Same(t, fmt.Sprintf("%d threads: source", threads), got.Source, want.Source)
		Same(t, fmt.Sprintf("%d threads: target", threads), got.Target, want.Target)
	}
}

func testBadInput(t *testing.T, open Opener) {
	s := mustOpen(t, open, 2)
	rng := rand.New(rand.NewPCG(1, 2))
	good := func() index.Side { return Float32(Random(rng, 20, 8), 8) }
	with := func(v float32) index.Side {
		side := good()
		side.Vectors.F32[8*13+5] = v
		return side
	}
	short := good()
	short.Vectors.N = 21
	misordered := good()
	misordered.Order = make([]int32, 19)
	infinite := Float16(Random(rng, 20, 8), 8)
	infinite.Vectors.F16[3] = 0x7c00
	cases := []cell{
		{"no source rows", Float32(nil, 8), good(), 4},
		{"no target rows", good(), Float32(nil, 8), 4},
		{"unequal dims", good(), Float32(Random(rng, 20, 9), 9), 4},
		{"no dims", index.Side{Vectors: embedding.Matrix{N: 20, F32: []float32{}}}, good(), 4},
		{"k is 0", good(), good(), 0},
		{"k is negative", good(), good(), -1},
		{"k is too large", good(), good(), index.MaxK + 1},
		{"NaN", with(float32(math.NaN())), good(), 4},
		{"infinity", good(), with(float32(math.Inf(-1))), 4},
		{"float16 infinity", infinite, good(), 4},
		{"far from unit length", good(), with(3e20), 4},
		{"fewer values than rows", short, good(), 4},
		{"order of another length", misordered, good(), 4},
		{"no values", index.Side{Vectors: embedding.Matrix{N: 20, Dim: 8}}, good(), 4},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := s.Search(t.Context(), c.src, c.tgt, c.k, nil)
			if !badinput.Is(err) {
				t.Errorf("error %v; want a badinput error", err)
			}
		})
	}
}

func testCancel(t *testing.T, open Opener) {
	s := mustOpen(t, open, 2)
	rng := rand.New(rand.NewPCG(3, 4))
	side := Float32(Random(rng, 40000, 64), 64)
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Search(ctx, side, side, 4, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v; want context.Canceled", err)
		}
	})
	t.Run("during", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var cancelled time.Time
		_, err := s.Search(ctx, side, side, 4, func(fraction float64) {
			if fraction > 0 && cancelled.IsZero() {
				cancelled = time.Now()
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v; want context.Canceled", err)
		}
		if took := time.Since(cancelled); took > 5*time.Second {
			t.Errorf("Search returned %v after it was cancelled", took)
		}
	})
}

func testProgress(t *testing.T, open Opener) {
	s := mustOpen(t, open, 3)
	rng := rand.New(rand.NewPCG(5, 6))
	src, tgt := Float32(Random(rng, 3000, 32), 32), Float32(Random(rng, 5000, 32), 32)
	var seen []float64
	if _, err := s.Search(t.Context(), src, tgt, 4, func(f float64) { seen = append(seen, f) }); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(seen) || len(seen) < 2 || seen[0] < 0 || seen[len(seen)-1] != 1 {
		t.Errorf("progress %v; want fractions that never fall and end at 1", seen)
	}
}

func testConcurrent(t *testing.T, open Opener) {
	s := mustOpen(t, open, 2)
	rng := rand.New(rand.NewPCG(8, 9))
	a, b := Paired(rng, 400, 24)
	src, tgt := Float32(a, 24), Float32(b, 24)
	want, err := s.Search(t.Context(), src, tgt, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got, err := s.Search(t.Context(), src, tgt, 4, nil)
			if err != nil {
				t.Error(err)
			} else if !slices.Equal(got.Source.IDs, want.Source.IDs) ||
				!slices.Equal(got.Target.Cosines, want.Target.Cosines) {
				t.Error("a concurrent search gave another result")
			}
		})
	}
	wg.Wait()
}
