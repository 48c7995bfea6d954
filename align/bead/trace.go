package bead

import (
	"context"
	"math"
	"slices"
)

// trace finds the beads of the greatest total gain.
func (l *lattice) trace(ctx context.Context, skip float32) ([]Bead, error) {
	gains, from := make([]float32, l.band.places()), make([]step, l.band.places())
	for i := range l.band.rows() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for j := l.band.first[i]; j <= l.band.last(i); j++ {
			if at := l.band.at(i, j); at > 0 {
				gains[at], from[at] = l.best(gains, i, j, skip)
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
func (l *lattice) best(gains []float32, i, j int, skip float32) (gain float32, s step) {
	gain = float32(math.Inf(-1))
	if k := l.band.at(i-1, j); k >= 0 {
		gain, s = gains[k]+skip, step{1, 0}
	}
	if k := l.band.at(i, j-1); k >= 0 && gains[k]+skip > gain {
		gain, s = gains[k]+skip, step{0, 1}
	}
	at := l.band.at(i, j)
	for x := 1; x <= min(l.spans[0], i); x++ {
		for y := 1; y <= min(l.spans[1], j); y++ {
			k := l.band.at(i-x, j-y)
			if k < 0 {
				continue
			}
			if g := gains[k] + l.gains[(x-1)*l.spans[1]+y-1][at]; g > gain {
				gain, s = g, step{uint8(x), uint8(y)}
			}
		}
	}
	return gain, s
}
