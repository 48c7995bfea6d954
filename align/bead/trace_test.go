package bead

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestTraceIsBest compares the beads' total gain with the best of all ways through small documents.
func TestTraceIsBest(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 9))
	runs := 0
	for range 300 {
		n, m := 1+rng.IntN(4), 1+rng.IntN(4)
		l := &lattice{band: full(n, m), source: &part{Span: Span{0, n}}, target: &part{Span: Span{0, m}}, spans: [2]int{min(n, 2), min(m, 2)}}
		l.source.means, l.target.means = [][]float32{make([]float32, n), make([]float32, n)}, [][]float32{make([]float32, m), make([]float32, m)}
		for range l.spans[0] * l.spans[1] {
			gains := make([]float32, l.band.places())
			for k := range gains {
				gains[k] = float32(rng.NormFloat64() - 1)
				if rng.IntN(4) == 0 {
					gains[k] = impossible
				}
			}
			l.gains, l.cosines = append(l.gains, gains), append(l.cosines, make([]float32, len(gains)))
		}
		beads, err := l.trace(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		total, after := float32(0), false
		for _, b := range beads {
			i, j, x, y := b.Source.End(), b.Target.End(), b.Source.Count, b.Target.Count
			switch {
			case !b.Deletion():
				total += l.gains[(x-1)*l.spans[1]+y-1][l.band.at(i, j)]
			case after:
				total += unmarked.skipMore
				runs++
			default:
				total += unmarked.skipFirst
			}
			after = b.Deletion()
		}
		if want := bestFrom(l, 0, 0, false); math.Abs(float64(total-want)) > 1e-4 {
			t.Fatalf("%d and %d sentences: gain %v, want %v", n, m, total, want)
		}
	}
	if runs < 100 {
		t.Errorf("only %d deletions followed another", runs)
	}
}

// bestFrom is the greatest gain from a place to the end, found by trying everything.
func bestFrom(l *lattice, i, j int, after bool) float32 {
	if i == l.source.Count && j == l.target.Count {
		return 0
	}
	best := impossible
	for x := range 3 {
		for y := range 3 {
			if x+y == 0 || i+x > l.source.Count || j+y > l.target.Count {
				continue
			}
			var gain float32
			switch {
			case x > 0 && y > 0:
				if gain = l.gains[(x-1)*l.spans[1]+y-1][l.band.at(i+x, j+y)]; gain == impossible {
					continue
				}
			case x+y > 1:
				continue
			case after:
				gain = unmarked.skipMore
			default:
				gain = unmarked.skipFirst
			}
			best = max(best, gain+bestFrom(l, i+x, j+y, x == 0 || y == 0))
		}
	}
	return best
}
