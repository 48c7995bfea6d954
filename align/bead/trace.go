package bead

import (
	"context"
	"slices"
)

// trace finds the beads of the greatest total gain. skip is added to that of each sentence without a counterpart.
func (l *lattice) trace(ctx context.Context, skip float32) ([]Bead, error) {
	w := l.weighting()
	t := tracer{lattice: l, skip: [2]float32{w.skipFirst + skip, w.skipMore + skip}}
	for after := range t.gains {
		t.gains[after], t.from[after] = make([]float32, l.band.places()), make([]step, l.band.places())
	}
	t.gains[1][0] = impossible
	for i := range l.band.rows() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for j := l.band.first[i]; j <= l.band.last(i); j++ {
			if at := l.band.at(i, j); at > 0 {
				t.deletion(i, j, at)
				t.bead(i, j, at)
			}
		}
	}
	return t.beads(), nil
}

// tracer has the greatest gain of the beads up to each place, and the last of them, by what that is: 0 a bead, 1 a
// deletion. A deletion after another costs less than the first.
type tracer struct {
	*lattice
	skip  [2]float32 // cost of a deletion after a bead, and after a deletion
	gains [2][]float32
	from  [2][]step
}

// step is a bead of x:y sentences and what the one before it is.
type step struct{ x, y, before uint8 }

// deletion finds the best deletion that ends at a place.
func (t *tracer) deletion(i, j, at int) {
	t.gains[1][at] = impossible
	for _, s := range [...]step{{x: 1}, {y: 1}} {
		k := t.band.at(i-int(s.x), j-int(s.y))
		if k < 0 {
			continue
		}
		for before := range t.gains {
			if g := t.gains[before][k] + t.skip[before]; g > t.gains[1][at] {
				s.before = uint8(before)
				t.gains[1][at], t.from[1][at] = g, s
			}
		}
	}
}

// bead finds the best bead that ends at a place.
func (t *tracer) bead(i, j, at int) {
	t.gains[0][at] = impossible
	for x := 1; x <= min(t.spans[0], i); x++ {
		for y := 1; y <= min(t.spans[1], j); y++ {
			k := t.band.at(i-x, j-y)
			if k < 0 {
				continue
			}
			before := 0
			if t.gains[1][k] > t.gains[0][k] {
				before = 1
			}
			if g := t.gains[before][k] + t.lattice.gains[(x-1)*t.spans[1]+y-1][at]; g > t.gains[0][at] {
				t.gains[0][at], t.from[0][at] = g, step{uint8(x), uint8(y), uint8(before)}
			}
		}
	}
}

// beads are the best ones up to the end.
func (t *tracer) beads() []Bead {
	var out []Bead
	i, j := t.source.Count, t.target.Count
	state := 0
	if end := t.band.at(i, j); t.gains[1][end] > t.gains[0][end] {
		state = 1
	}
	for i > 0 || j > 0 {
		s := t.from[state][t.band.at(i, j)]
		out = append(out, t.lattice.bead(i, int(s.x), j, int(s.y)))
		i, j, state = i-int(s.x), j-int(s.y), int(s.before)
	}
	slices.Reverse(out)
	return out
}
