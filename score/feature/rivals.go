package feature

import (
	"sync"

	"bitextmine/mine"
)

// rivals are the best two token coverages among the neighbours of each sentence. It may be added to concurrently.
type rivals struct {
	mu    sync.Mutex
	sides [2][]tops // by sentence
}

// tops are the highest and the second highest mean of the coverages of both sides, of their cubes and of mutual
// matches.
type tops [3]struct{ best, second float32 }

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

// means are the mean coverage of a pair, that of the cubes and that of mutual matches.
func means(v []float32) [3]float32 {
	return [3]float32{(v[atCoverageSource] + v[atCoverageTarget]) / 2, (v[atCubedSource] + v[atCubedTarget]) / 2, (v[atMutualSource] + v[atMutualTarget]) / 2}
}

// gapsAt are the places of the differences of means, by side.
var gapsAt = [2][3]int{{atCoverageGapSource, atCubedGapSource, atMutualGapSource}, {atCoverageGapTarget, atCubedGapTarget, atMutualGapTarget}}

// near says of a pair's sides whether the partner is one of the sentence's neighbours.
func near(p mine.Pair) [2]bool {
	return [2]bool{p.SourceRank != mine.Unranked, p.TargetRank != mine.Unranked}
}

// add takes in n pairs, whose token features are given.
func (r *rivals) add(n int, pair func(i int) mine.Pair, values Values) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range n {
		p := pair(i)
		found, is := means(values.Of(i)), near(p)
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

// gaps sets the differences between the token coverage of a pair, which was added, and that of the best other
// neighbour of the same sentence.
func (r *rivals) gaps(p mine.Pair, v []float32) {
	found, is := means(v), near(p)
	for side, at := range [2]int32{p.Source, p.Target} {
		for j, m := range found {
			t := &r.sides[side][at][j]
			rival := t.best
			if is[side] && m == rival {
				rival = t.second
			}
			if rival != noRival {
				v[gapsAt[side][j]] = m - rival
			}
		}
	}
}
