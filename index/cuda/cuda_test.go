package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"bitextmine/index"
	"bitextmine/index/exact"
	"bitextmine/index/indextest"
	"bitextmine/internal/badinput"
	"bitextmine/internal/cuda"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sides are a cell of several blocks either way, of which the last are not full.
func sides() (src, tgt index.Side) {
	rng := rand.New(rand.NewPCG(1, 2))
	const dim = 24
	a, b := indextest.Paired(rng, 1500, dim)
	return indextest.Shuffled(rng, indextest.Float16(a[:1100*dim], dim)), indextest.Shuffled(rng, indextest.Float32(b, dim))
}

// same searches the cell and compares the result with that of exact.
func same(t *testing.T, opts Options, src, tgt index.Side, k int) {
	t.Helper()
	reference, err := exact.Open(exact.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	want, err := reference.Search(t.Context(), src, tgt, k, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	var seen []float64
	got, err := s.Search(t.Context(), src, tgt, k, func(f float64) { seen = append(seen, f) })
	if err != nil {
		t.Fatal(err)
	}
	indextest.Same(t, "source", got.Source, want.Source)
	indextest.Same(t, "target", got.Target, want.Target)
	if !slices.IsSorted(seen) || seen[len(seen)-1] != 1 {
		t.Errorf("progress %v", seen)
	}
}

// TestBlocks: lists of blocks are merged, and several GPUs, of any kind, share the blocks.
func TestBlocks(t *testing.T) {
	src, tgt := sides()
	for _, gpus := range []string{"GPUS=1", "GPUS=3"} {
		for _, kind := range []string{"MAJOR=8", "MAJOR=9"} {
			indextest.Driver(t, gpus, kind)
			for _, rows := range []int{0, 512} {
				same(t, Options{Threads: 2, Rows: rows}, src, tgt, 4)
			}
		}
	}
}

// TestLongLists: each number of slots has a kernel of its own.
func TestLongLists(t *testing.T) {
	src, tgt := sides()
	indextest.Driver(t)
	for _, k := range []int{1, 8, 9, index.MaxK} {
		same(t, Options{Threads: 2, Rows: 512}, src, tgt, k)
	}
}

// TestMemoryIsShort: what does not fit is searched in smaller blocks, also if that is seen late.
func TestMemoryIsShort(t *testing.T) {
	src, tgt := sides()
	indextest.Driver(t, "MEMORY=1000000")
	same(t, Options{Threads: 2}, src, tgt, 4)
	indextest.Driver(t, "ALLOCATIONS=5")
	same(t, Options{Threads: 2}, src, tgt, 4)
}

func TestOpenBadInput(t *testing.T) {
	indextest.Driver(t)
	for name, opts := range map[string]Options{"threads": {Threads: -1}, "rows": {Rows: 100}} {
		if _, err := Open(opts); !badinput.Is(err) || !strings.Contains(err.Error(), "cannot use") {
			t.Errorf("%s: %v", name, err)
		}
	}
	indextest.Driver(t, "MAJOR=7")
	if _, err := Open(Options{}); !badinput.Is(err) || !strings.Contains(err.Error(), "compute capability 7.0, older than the kernels") {
		t.Errorf("a GPU that is too old: %v", err)
	}
	cuda.Library = "/absent/libcuda.so.1"
	if _, err := Open(Options{}); !badinput.Is(err) || !strings.Contains(err.Error(), "driver is not installed") {
		t.Errorf("no driver: %v", err)
	}
}

// TestFailures: an error names the GPU, the operation and what to do, and leaves nothing behind.
func TestFailures(t *testing.T) {
	src, tgt := sides()
	for _, c := range []struct {
		definition, says string
		bad              bool
	}{
		{"LAUNCHES=2", "GPU 0 (NVIDIA H200), starting a kernel: CUDA_ERROR_PRETENDED (CUDA error 719); check it", false},
		{"WRONG=0.01f", "farther off than float16 products", false},
		{"FULL", "even blocks of 256 rows do not fit", true},
	} {
		indextest.Driver(t, c.definition)
		s, err := Open(Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = s.Search(t.Context(), src, tgt, 4, nil); err == nil || badinput.Is(err) != c.bad || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.definition, err)
		}
		if _, err = s.Search(t.Context(), src, tgt, 4, nil); c.definition == "LAUNCHES=2" && err != nil {
			t.Errorf("after it: %v", err)
		}
	}
}

// TestGPUDisappears: whatever operation fails first, the error names the GPU, and there is no result.
func TestGPUDisappears(t *testing.T) {
	src, tgt := sides()
	for at := 1; ; at += 7 {
		indextest.Driver(t, fmt.Sprintf("LOST=%d", at))
		s, err := Open(Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		result, err := s.Search(t.Context(), src, tgt, 4, nil)
		if err == nil {
			if at < 20 {
				t.Errorf("only %d operations", at)
			}
			break
		}
		if badinput.Is(err) || !strings.HasPrefix(err.Error(), "GPU 0 (NVIDIA H200), ") || strings.Contains(err.Error(), "\n") || result.Source.IDs != nil {
			t.Fatalf("operation %d failed: %v", at, err)
		}
	}
}

// TestHardRows: rows whose rounding loses much, or that are far from unit length.
func TestHardRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const dim, n = 20, 400
	indextest.Driver(t)
	for name, value := range hardRows {
		t.Run(name, func(t *testing.T) {
			rows := make([]float32, 2*n*dim)
			for i := range rows {
				rows[i] = value(rng, i/dim, i%dim)
			}
			same(t, Options{Threads: 2, Rows: 256}, indextest.Float32(rows[:n*dim], dim), indextest.Float32(rows[n*dim:], dim), 4)
		})
	}
}

var hardRows = map[string]func(rng *rand.Rand, row, at int) float32{
	"halfway":         func(*rand.Rand, int, int) float32 { return 1 + 0x1p-11 },
	"one large value": func(rng *rand.Rand, row, at int) float32 { return peak(rng, row%20 == at) },
	"magnitudes apart": func(rng *rand.Rand, _, _ int) float32 {
		return float32(math.Ldexp(rng.NormFloat64(), -rng.IntN(60)))
	},
	"lengths apart":      func(rng *rand.Rand, row, _ int) float32 { return float32(math.Ldexp(rng.NormFloat64(), -row%30)) },
	"almost the longest": func(rng *rand.Rand, _, _ int) float32 { return float32(rng.NormFloat64() * 1e13) },
	"tiny":               func(rng *rand.Rand, _, _ int) float32 { return float32(rng.NormFloat64() * 1e-30) },
}

func peak(rng *rand.Rand, here bool) float32 {
	if here {
		return 1
	}
	return float32(rng.NormFloat64() * 1e-6)
}

// TestWaitsForTheGPUs: one search at a time has them, and one that waits can be stopped.
func TestWaitsForTheGPUs(t *testing.T) {
	indextest.Driver(t)
	opened, err := Open(Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	opened.(*searcher).busy <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	src, tgt := sides()
	if _, err := opened.Search(ctx, src, tgt, 4, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestEveryGPUHasKernels: those of every compute capability from the oldest on.
func TestEveryGPUHasKernels(t *testing.T) {
	for _, capability := range []struct{ major, minor, want int }{{8, 0, 80}, {8, 9, 80}, {9, 0, 90}, {10, 0, 80}, {12, 1, 80}} {
		on := cuda.GPU{Major: capability.major, Minor: capability.minor}
		for _, name := range []string{"maxima", "select16", "select32", "select128", "rescore16", "rescore32", "rescore128"} {
			s := source(name, on)
			if want := capability.want; s.Name != name || name == "maxima" && s.Capability != want || !strings.Contains(s.PTX, ".entry "+s.Entry) {
				t.Errorf("%s for %v is %s of %d", name, on, s.Name, s.Capability)
			}
		}
	}
}
