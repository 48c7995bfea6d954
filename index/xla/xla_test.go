package xla

import (
	"errors"
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
	"bitextmine/internal/pjrt/pjrttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sides are a cell of several tiles either way.
func sides() (src, tgt index.Side) {
	rng := rand.New(rand.NewPCG(1, 2))
	const dim = 24
	a, b := indextest.Paired(rng, 1500, dim)
	return indextest.Shuffled(rng, indextest.Float16(a[:1100*dim], dim)), indextest.Shuffled(rng, indextest.Float32(b, dim))
}

// same searches the cell and compares the result with that of exact.
func same(t *testing.T, opts Options, src, tgt index.Side) {
	t.Helper()
	reference, err := exact.Open(exact.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	want, err := reference.Search(t.Context(), src, tgt, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(Prefix+pjrttest.Plugin(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	var seen []float64
	got, err := s.Search(t.Context(), src, tgt, 4, func(f float64) { seen = append(seen, f) })
	if err != nil {
		t.Fatal(err)
	}
	indextest.Same(t, "source", got.Source, want.Source)
	indextest.Same(t, "target", got.Target, want.Target)
	if !slices.IsSorted(seen) || seen[len(seen)-1] != 1 {
		t.Errorf("progress %v", seen)
	}
}

// TestSeveralDevices: the blocks of the base are shared, and tiles have rows to spare.
func TestSeveralDevices(t *testing.T) {
	src, tgt := sides()
	for _, devices := range []int{1, 2, 3} {
		same(t, Options{Threads: 2, Tile: 256, Devices: devices}, src, tgt)
	}
}

// failing fails the operation of the given number, and with more all after it.
func failing(number int, more bool, text string) (fault func(int, string) error, count *int) {
	count = new(int)
	return func(int, string) error {
		if *count++; *count == number || more && *count > number {
			return errors.New(text)
		}
		return nil
	}, count
}

// TestMemoryRunsOut: the search goes on with less on the device at a time, and gives the same.
func TestMemoryRunsOut(t *testing.T) {
	src, tgt := sides()
	for _, at := range []int{1, 4, 20} {
		fault, _ := failing(at, false, "PJRT error (code=8): RESOURCE_EXHAUSTED: Out of memory while trying to allocate")
		same(t, Options{Threads: 2, Tile: 256, Devices: 1, fault: fault}, src, tgt)
	}
	fault, _ := failing(1, true, "RESOURCE_EXHAUSTED: no more")
	s, err := Open(Prefix+pjrttest.Plugin(t), Options{Tile: 256, fault: fault})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Search(t.Context(), src, tgt, 4, nil); !badinput.Is(err) || !strings.Contains(err.Error(), "even tiles of") {
		t.Errorf("no memory at all: %v", err)
	}
}

// TestDeviceDisappears: whatever operation fails first, the error names the device and there is no result.
func TestDeviceDisappears(t *testing.T) {
	src, tgt := sides()
	name := Prefix + pjrttest.Plugin(t)
	for at := 1; ; at += 3 {
		fault, count := failing(at, true, "PJRT error (code=13): CUDA_ERROR_NO_DEVICE")
		s, err := Open(name, Options{Threads: 1, Tile: 512, Devices: 1, fault: fault})
		if err != nil {
			t.Fatal(err)
		}
		result, err := s.Search(t.Context(), src, tgt, 4, nil)
		if err == nil && *count < at {
			break
		}
		if err == nil || badinput.Is(err) || !strings.Contains(err.Error(), "device 0 of cpu") || !strings.Contains(err.Error(), "CUDA_ERROR_NO_DEVICE") || result.Source.IDs != nil {
			t.Fatalf("operation %d failed: %v", at, err)
		}
	}
}

// TestHardRows: rows whose rounding loses much, or that are far from unit length.
func TestHardRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const dim, n = 20, 400
	for name, value := range hardRows {
		t.Run(name, func(t *testing.T) {
			rows := make([]float32, 2*n*dim)
			for i := range rows {
				rows[i] = value(rng, i/dim, i%dim)
			}
			same(t, Options{Threads: 2, Tile: 256}, indextest.Float32(rows[:n*dim], dim), indextest.Float32(rows[n*dim:], dim))
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
