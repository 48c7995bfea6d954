package feature

import (
	"sync"

	"bitextmine/internal/spill"
	"bitextmine/mine"
)

// rivals are the best two token coverages among the neighbours of each sentence of a candidate. It may be added to
// concurrently.
type rivals struct {
	mu     sync.Mutex
	places [2][]int32 // places in sides of each sentence, counted from 1; 0: it is in no candidate
	sides  [2][]tops
}

// The means that a pair's features compare with its rivals'.
const (
	ofCoverage = iota
	ofCubes
	ofMutual
	means // the number of them
)

// rival says whose rivals a feature compares with, and by which mean.
type rival struct{ side, mean int }

// tops are the highest and the second highest of each mean.
type tops [means]struct{ best, second float32 }

// noRival is below any mean of cosines.
const noRival = -2

// newRivals returns empty rivals of candidates, which are in room.
func newRivals(room *spill.Arena, lists *mine.Lists, candidates []mine.Candidate) (*rivals, error) {
	r := &rivals{}
	var none tops
	for j := range none {
		none[j].best, none[j].second = noRival, noRival
	}
	for side, n := range [2]int{lists.Source.Len(), lists.Target.Len()} {
		places, err := spill.Make[int32](room, n)
		if err != nil {
			return nil, err
		}
		last := int32(0)
		for i := range candidates {
			if at := &places[[2]int32{candidates[i].Source, candidates[i].Target}[side]]; *at == 0 {
				last++
				*at = last
			}
		}
		if r.sides[side], err = spill.Make[tops](room, int(last)); err != nil {
			return nil, err
		}
		for i := range r.sides[side] {
			r.sides[side][i] = none
		}
		r.places[side] = places
	}
	return r, nil
}

// meansOf returns the means of a pair, in the order of the constants.
func meansOf(p *pair) [means]float32 { return [means]float32{p.coverage(), p.cubes(), p.mutual()} }

// near says of a pair's sides whether the partner is one of the sentence's neighbours.
func near(p mine.Pair) [2]bool {
	return [2]bool{p.SourceRank != mine.Unranked, p.TargetRank != mine.Unranked}
}

// add takes in n pairs with their means.
func (r *rivals) add(n int, pair func(i int) mine.Pair, measured [][means]float32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range n {
		p := pair(i)
		found, is := measured[i], near(p)
		for side, at := range [2]int32{p.Source, p.Target} {
			place := r.places[side][at]
			if !is[side] || place == 0 {
				continue
			}
			for j, m := range found {
				switch t := &r.sides[side][place-1][j]; {
				case m > t.best:
					t.best, t.second = m, t.best
				case m > t.second:
					t.second = m
				}
			}
		}
	}
}

// gaps subtracts from the means of a pair, which was added, those of the best other neighbours.
func (r *rivals) gaps(p mine.Pair, v []float32) {
	is, sentence := near(p), [2]int32{p.Source, p.Target}
	for i := range All {
		of := All[i].rival
		if of == nil {
			continue
		}
		t := &r.sides[of.side][r.places[of.side][sentence[of.side]]-1][of.mean]
		best := t.best
		if is[of.side] && v[i] == best {
			best = t.second
		}
		if best == noRival {
			v[i] = 0
		} else {
			v[i] -= best
		}
	}
}
