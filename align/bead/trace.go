package bead

import (
	"context"
	"math"
	"slices"
)

// trace finds the beads of the greatest total gain. lengths gives the ratio of the lengths of spans that end at i and
// j.
func (l *lattice) trace(ctx context.Context, skip float32, lengths func(i, x, j, y int) float64) ([]Bead, error) {
	gains, from := make([]float32, l.band.places()), make([]step, l.band.places())
	for i := range l.band.rows() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for j := l.band.first[i]; j <= l.band.last(i); j++ {
			if at := l.band.at(i, j); at > 0 {
				gains[at], from[at] = l.best(gains, i, j, skip, lengths)
			}
		}
	}
	var beads []Bead
	for i, j := l.source.Count, l.target.Count; i > 0 || j > 0; {
		s := from[l.band.at(i, j)]
		beads = append(beads, l.bead(i, int(s.x), j, int(s.y)))
		i, j = i-int(s.x), j-int(s.y)
	}
	slices.Reverse(beads)
	return beads, nil
}

// step is the type of a bead, x:y.
type step struct{ x, y uint8 }

// best is the best bead that ends at a place, and the gain of the beads up to there.
func (l *lattice) best(gains []float32, i, j int, skip float32, lengths func(i, x, j, y int) float64) (gain float32, s step) {
	gain = float32(math.Inf(-1))
	if k := l.band.at(i-1, j); k >= 0 {
		gain, s = gains[k]+skip, step{1, 0}
	}
	if k := l.band.at(i, j-1); k >= 0 && gains[k]+skip > gain {
		gain, s = gains[k]+skip, step{0, 1}
	}
	for x := 1; x <= min(l.spans[0], i); x++ {
		for y := 1; y <= min(l.spans[1], j); y++ {
			k := l.band.at(i-x, j-y)
			if k < 0 {
				continue
			}
			f := l.describe(i, x, j, y, lengths(i, x, j, y))
			if g := gains[k] + weights.times(&f); g > gain {
				gain, s = g, step{uint8(x), uint8(y)}
			}
		}
	}
	return gain, s
}
