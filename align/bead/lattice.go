package bead

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// lattice has the scores of all beads that end at a place of a band.
type lattice struct {
	band           *band
	source, target *part
	spans          [2]int // sentences on each side of the longest bead
	ratio          lengths
	usual          float32 // score of a translation in these documents
	links          *linkTable
	endings        *endings
	cosines        [][]float32 // cosine by bead type and place
	scores         [][]float32 // score relative to the usual score
	gains          [][]float32
}

// lengths gives the ratio of the lengths of a bead's spans, which end at i and j, without the documents' ratio.
type lengths func(i, x, j, y int) float64

// fill computes the products of the spans' vectors, and the beads' gains.
func (l *lattice) fill(ctx context.Context) error {
	l.spans = [2]int{len(l.source.spans), len(l.target.spans)}
	types := l.spans[0] * l.spans[1]
	l.cosines, l.scores, l.gains = make([][]float32, types), make([][]float32, types), make([][]float32, types)
	if err := l.each(ctx, l.compute); err != nil {
		return err
	}
	return l.each(ctx, l.weigh)
}

// each calls do for every type of beads, x:y, on all processors.
func (l *lattice) each(ctx context.Context, do func(t, x, y int)) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for t := range l.cosines {
		work.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			do(t, t/l.spans[1]+1, t%l.spans[1]+1)
			return nil
		})
	}
	return work.Wait()
}

// weigh fills the table of gains of beads of x:y sentences.
func (l *lattice) weigh(t, x, y int) {
	gains := make([]float32, l.band.places())
	for i := x; i < l.band.rows(); i++ {
		for j := max(l.band.first[i], y); j <= l.band.last(i); j++ {
			if l.band.at(i-x, j-y) >= 0 { // else no path can use it
				gains[l.band.at(i, j)] = l.gain(i, x, j, y)
			}
		}
	}
	l.gains[t] = gains
}

// compute fills the table of beads of x:y sentences.
func (l *lattice) compute(t, x, y int) {
	cosines, scores := make([]float32, l.band.places()), make([]float32, l.band.places())
	for i := x; i < l.band.rows(); i++ {
		u, mean := l.source.vector(i-x, x), l.source.means[x-1][i-x]
		for j := max(l.band.first[i], y); j <= l.band.last(i); j++ {
			at := l.band.at(i, j)
			cosines[at] = dot(u, l.target.vector(j-y, y))
			scores[at] = score(cosines[at], mean, l.target.means[y-1][j-y]) / l.usual
		}
	}
	l.cosines[t], l.scores[t] = cosines, scores
}

// score returns the score of the bead of x source sentences before i and y target sentences before j, and false if the
// lattice has no such bead.
func (l *lattice) score(i, x, j, y int) (float32, bool) {
	if x < 1 || y < 1 || x > l.spans[0] || y > l.spans[1] || i < x || j < y {
		return 0, false
	}
	at := l.band.at(i, j)
	if at < 0 {
		return 0, false
	}
	return l.scores[(x-1)*l.spans[1]+y-1][at], true
}

// bead describes the bead of x source sentences before i and y target sentences before j.
func (l *lattice) bead(i, x, j, y int) Bead {
	b := Bead{Source: Span{l.source.First + i - x, x}, Target: Span{l.target.First + j - y, y}}
	if b.Deletion() {
		return b
	}
	b.Cosine = l.cosines[(x-1)*l.spans[1]+y-1][l.band.at(i, j)]
	b.SourceMean, b.TargetMean = l.source.means[x-1][i-x], l.target.means[y-1][j-y]
	return b
}
