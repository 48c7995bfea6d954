package backend_test

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

	"go.uber.org/goleak"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/approximate"
	"bitextmine/index/cuda"
	"bitextmine/index/exact"
	"bitextmine/index/faiss"
	"bitextmine/index/indextest"
	"bitextmine/index/ivf"
	"bitextmine/index/kernel"
	"bitextmine/internal/badinput"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestConformance runs the suite on every implementation; a kernel that is emulated is too slow for more than results,
// and inverted lists are exact where there is one.
func TestConformance(t *testing.T) {
	for _, name := range append(kernel.Names, kernel.Emulated) {
		t.Run(name, func(t *testing.T) {
			if kernel.Get(name) == nil {
				t.Skipf("this CPU lacks the instructions of %s", name)
			}
			run := runExact
			if name == kernel.Emulated {
				run = runResults
			}
			run(t, func(threads int) (index.Searcher, error) {
				return exact.Open(exact.Options{Threads: threads, Kernel: name})
			})
		})
	}
	t.Run("one list", func(t *testing.T) {
		runResults(t, func(threads int) (index.Searcher, error) { return ivf.Open("1", ivf.Options{Threads: threads}) })
	})
	t.Run("ivf", func(t *testing.T) {
		run(t, func(threads int) (index.Searcher, error) {
			return ivf.Open("16", ivf.Options{Threads: threads, Settings: approximate.Settings{NProbe: 4}})
		})
	})
	t.Run("FAISS flat", func(t *testing.T) {
		runExact(t, func(threads int) (index.Searcher, error) {
			return faiss.Open("Flat", faiss.Options{Threads: threads})
		})
	})
	t.Run("FAISS", func(t *testing.T) {
		run(t, func(threads int) (index.Searcher, error) {
			return faiss.Open("IVF16,Flat", faiss.Options{Threads: threads, Settings: approximate.Settings{NProbe: 4}})
		})
	})
	t.Run("CUDA", func(t *testing.T) {
		indextest.Driver(t)
		runExact(t, func(threads int) (index.Searcher, error) {
			return cuda.Open(cuda.Options{Threads: threads, Rows: 1024})
		})
	})
}

// opener opens a searcher that runs on the given number of threads.
type opener func(threads int) (index.Searcher, error)

// runExact runs the whole suite on an implementation whose results must be exact.
func runExact(t *testing.T, open opener) {
	runResults(t, open)
	run(t, open)
}

// runResults compares results with a brute force's: the part of runExact for implementations that are too slow for
// the rest.
func runResults(t *testing.T, open opener) {
	t.Run("results", func(t *testing.T) { testResults(t, open) })
	t.Run("threads", func(t *testing.T) { testThreads(t, open) })
}

// run runs the tests that every implementation must pass, exact or not.
func run(t *testing.T, open opener) {
	t.Run("bad input", func(t *testing.T) { testBadInput(t, open) })
	t.Run("cancel", func(t *testing.T) { testCancel(t, open) })
	t.Run("progress", func(t *testing.T) { testProgress(t, open) })
	t.Run("concurrent", func(t *testing.T) { testConcurrent(t, open) })
}

func mustOpen(t *testing.T, open opener, threads int) index.Searcher {
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
		// Detectors make the oracle about twenty times slower.
		if indextest.Instrumented && c.src.Vectors.N*c.tgt.Vectors.N*c.src.Vectors.Dim > 2e7 {
			continue
		}
		all = append(all, solved{c, indextest.BruteForce(c.src, c.tgt, c.k)})
	}
	return all
})

func testResults(t *testing.T, open opener) {
	s := mustOpen(t, open, 2)
	for _, c := range solvedCells() {
		t.Run(c.name, func(t *testing.T) {
			got, err := s.Search(t.Context(), c.src, c.tgt, c.k, nil)
			if err != nil {
				t.Fatal(err)
			}
			indextest.Same(t, "source", got.Source, c.want.Source)
			indextest.Same(t, "target", got.Target, c.want.Target)
		})
	}
}

func testThreads(t *testing.T, open opener) {
	rng := rand.New(rand.NewPCG(7, 7))
	a, b := indextest.Paired(rng, 700, 48)
	src, tgt := indextest.Float16(a, 48), indextest.Float16(b[:500*48], 48)
	want, err := mustOpen(t, open, 1).Search(t.Context(), src, tgt, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{2, 3, 8} {
		got, err := mustOpen(t, open, threads).Search(t.Context(), src, tgt, 5, nil)
		if err != nil {
			t.Fatal(err)
		}
		indextest.Same(t, fmt.Sprintf("%d threads: source", threads), got.Source, want.Source)
		indextest.Same(t, fmt.Sprintf("%d threads: target", threads), got.Target, want.Target)
	}
}

func testBadInput(t *testing.T, open opener) {
	s := mustOpen(t, open, 2)
	rng := rand.New(rand.NewPCG(1, 2))
	good := func() index.Side { return indextest.Float32(indextest.Random(rng, 20, 8), 8) }
	with := func(v float32) index.Side {
		side := good()
		side.Vectors.F32[8*13+5] = v
		return side
	}
	short := good()
	short.Vectors.N = 21
	misordered := good()
	misordered.Order = make([]int32, 19)
	infinite := indextest.Float16(indextest.Random(rng, 20, 8), 8)
	infinite.Vectors.F16[3] = 0x7c00
	cases := []cell{
		{"no source rows", indextest.Float32(nil, 8), good(), 4},
		{"no target rows", good(), indextest.Float32(nil, 8), 4},
		{"unequal dims", good(), indextest.Float32(indextest.Random(rng, 20, 9), 9), 4},
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

func testCancel(t *testing.T, open opener) {
	s := mustOpen(t, open, 2)
	rng := rand.New(rand.NewPCG(3, 4))
	side := indextest.Float32(indextest.Random(rng, 40000, 64), 64)
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

func testProgress(t *testing.T, open opener) {
	s := mustOpen(t, open, 3)
	rng := rand.New(rand.NewPCG(5, 6))
	src, tgt := indextest.Float32(indextest.Random(rng, 3000, 32), 32), indextest.Float32(indextest.Random(rng, 5000, 32), 32)
	var seen []float64
	if _, err := s.Search(t.Context(), src, tgt, 4, func(f float64) { seen = append(seen, f) }); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(seen) || len(seen) < 2 || seen[0] < 0 || seen[len(seen)-1] != 1 {
		t.Errorf("progress %v; want fractions that never fall and end at 1", seen)
	}
}

func testConcurrent(t *testing.T, open opener) {
	s := mustOpen(t, open, 2)
	rng := rand.New(rand.NewPCG(8, 9))
	a, b := indextest.Paired(rng, 400, 24)
	src, tgt := indextest.Float32(a, 24), indextest.Float32(b, 24)
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
