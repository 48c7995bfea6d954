package feature

import (
	"sync"

	"bitextmine/mine"
)

// rivals are the best two token coverages among the neighbours of each sentence. It may be added to concurrently.
type rivals struct {
	mu    sync.Mutex
	sides [2][]tops // one for each sentence
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

func newRivals(lists *mine.Lists) *rivals {
	r := &rivals{}
	for side, n := range [2]int{lists.Source.Len(), lists.Target.Len()} {
		r.sides[side] = make([]tops, n)
		for i := range r.sides[side] {
			for j := range r.sides[side][i] {
				r.sides[side][i][j].best, r.sides[side][i][j].second = noRival, noRival
			}
		}
	}
	return r
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
			if !is[side] {
				continue
			}
			for j, m := range found {
				switch t := &r.sides[side][at][j]; {
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
		t := &r.sides[of.side][sentence[of.side]][of.mean]
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
