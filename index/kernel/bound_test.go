package kernel

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bitextmine/encode/embedding"
)

// scored is the scores of two sets of rows, and the bound of their error.
func scored(t *testing.T, kn *Kernel, a, b []float32, dim int, measured bool) (scores []float32, slack float64) {
	t.Helper()
	queries, base := sideOf(kn, a, dim, measured), sideOf(kn, b, dim, measured)
	defer queries.Close()
	defer base.Close()
	lists := NewLists(slices.Repeat([]int32{-1}, queries.N), make([]float32, queries.N), 1)
	defer lists.Close()
	s, err := kn.NewScanner(queries, base, 1, queries.N, base.N)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Base(Span{Hi: base.N, Step: 1}, nil)
	s.Queries(Span{Hi: queries.N, Step: 1}, lists)
	return s.scores(queries.N, base.N), float64(kn.precisionOf(queries, base).slack)
}

func sideOf(kn *Kernel, rows []float32, dim int, measured bool) *Side {
	s := NewSide(embedding.FromFloat32(rows, dim), nil, nil)
	square, _ := kn.Inspect(s, 0, s.N, math.Inf(1))
	s.Length = math.Sqrt(square) * (1 + 1e-9)
	if measured {
		if err := kn.MeasureLoss(context.Background(), s); err != nil {
			panic(err) // nothing cancels it
		}
	}
	return s
}

// hostileRows are rows whose rounding is hard: what a value is, given its row and place.
var hostileRows = map[string]func(rng *rand.Rand, row, at int) float32{
	"normal":             func(rng *rand.Rand, _, _ int) float32 { return float32(rng.NormFloat64()) },
	"zeros":              func(*rand.Rand, int, int) float32 { return 0 },
	"denormal":           func(rng *rand.Rand, _, _ int) float32 { return float32(rng.NormFloat64() * 0x1p-130) },
	"products denormal":  func(rng *rand.Rand, _, _ int) float32 { return float32(rng.NormFloat64() * 0x1p-65) },
	"halfway upwards":    func(*rand.Rand, int, int) float32 { return 1 + 0x1p-8 + 0x1p-20 },
	"halfway downwards":  func(*rand.Rand, int, int) float32 { return 1 + 0x1p-8 - 0x1p-20 },
	"ties":               func(*rand.Rand, int, int) float32 { return 1 + 0x1p-8 },
	"one large value":    func(rng *rand.Rand, row, at int) float32 { return peak(rng, row == at) },
	"magnitudes apart":   func(rng *rand.Rand, _, _ int) float32 { return float32(math.Ldexp(rng.NormFloat64(), -rng.IntN(60))) },
	"lengths apart":      func(rng *rand.Rand, row, _ int) float32 { return float32(math.Ldexp(rng.NormFloat64(), -row)) },
	"almost the longest": func(rng *rand.Rand, _, _ int) float32 { return float32(rng.NormFloat64() * 1e13) },
}

func peak(rng *rand.Rand, here bool) float32 {
	if here {
		return 1
	}
	return float32(rng.NormFloat64() * 1e-4)
}

func hostile(name string, n, dim int, seed uint64) []float32 {
	rng := rand.New(rand.NewPCG(seed, 5))
	rows := make([]float32, n*dim)
	for i := range rows {
		rows[i] = hostileRows[name](rng, i/dim, i%dim)
	}
	return rows
}

// Every kernel's scores are as near the inner products as its bound says.
func TestBoundHolds(t *testing.T) {
	for _, name := range append(Names, Emulated) {
		kn := Get(name)
		if kn == nil {
			continue
		}
		for data := range hostileRows {
			for _, dim := range []int{1, 31, 32, 100, 257} {
				for _, measured := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s/d=%d/%v", name, data, dim, measured), func(t *testing.T) {
						a, b := hostile(data, 45, dim, 1), hostile(data, 70, dim, 2)
						scores, slack := scored(t, kn, a, b, dim, measured)
						for i, score := range scores {
							want := product(a[i/70*dim:][:dim], b[i%70*dim:][:dim])
							if off := math.Abs(float64(score) - want); !(off <= slack) {
								t.Fatalf("rows %d and %d: score %v is %v from %v, the bound says %v", i/70, i%70, score, off, want, slack)
							}
						}
					})
				}
			}
		}
	}
}

// The bound is not much wider than the worst that happens.
func TestBoundIsReached(t *testing.T) {
	a := hostile("halfway downwards", 1, 64, 1)
	scores, slack := scored(t, Get(Emulated), a, a, 64, true)
	if off := math.Abs(float64(scores[0]) - product(a, a)); off < slack/2 {
		t.Errorf("the worst score is off by %v, the bound is %v", off, slack)
	}
}

func product(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// The emulation computes what the tiles compute, bit for bit.
func TestEmulationIsExact(t *testing.T) {
	amx, emulated := Get("amx"), Get(Emulated)
	if amx == nil {
		t.Skip("this CPU has no AMX tiles for this process")
	}
	for data := range hostileRows {
		for _, dim := range []int{1, 31, 32, 64, 100, 700} {
			a, b := hostile(data, 50, dim, 1), hostile(data, 80, dim, 2)
			got, _ := scored(t, amx, a, b, dim, true)
			want, _ := scored(t, emulated, a, b, dim, true)
			for i := range want {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
					t.Fatalf("%s, d = %d: rows %d and %d have score %v, emulated %v", data, dim, i/80, i%80, got[i], want[i])
				}
			}
		}
	}
}
