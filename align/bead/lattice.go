package bead

import (
	"context"
	"math"
	"runtime"
	"slices"

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

// band is the places of a dynamic programme that are looked at. Place (i, j) is between sentences: i of the source
// and j of the target are behind it. Row i has the places (i, first[i]) to (i, first[i] + its width - 1).
type band struct {
	first []int // [n+1]
	begin []int // [n+2] where a row's places begin among all
}

// newBand makes the band of rows lo to hi, both included.
func newBand(lo, hi []int) *band {
	b := &band{first: lo, begin: make([]int, len(lo)+1)}
	for i := range lo {
		b.begin[i+1] = b.begin[i] + hi[i] - lo[i] + 1
	}
	return b
}

// full is the band of all places.
func full(n, m int) *band {
	lo, hi := make([]int, n+1), make([]int, n+1)
	for i := range hi {
		hi[i] = m
	}
	return newBand(lo, hi)
}

// around is the band of all places at most width from a path. The path begins at (0, 0) and ends at (n, m).
func around(path []place, width, n, m int) *band {
	lo, hi := make([]int, n+1), make([]int, n+1)
	for i := range lo {
		lo[i], hi[i] = m, 0
	}
	widen := func(i, j int) {
		for r := max(i-width, 0); r <= min(i+width, n); r++ {
			lo[r], hi[r] = min(lo[r], max(j-width, 0)), max(hi[r], min(j+width, m))
		}
	}
	for k, p := range path {
		widen(p.i, p.j)
		if k == 0 {
			continue
		}
		// A step that is longer than 1 is a straight line.
		q := path[k-1]
		steps := max(p.i-q.i, p.j-q.j)
		for s := 1; s < steps; s++ {
			widen(q.i+(p.i-q.i)*s/steps, q.j+(p.j-q.j)*s/steps)
		}
	}
	return newBand(lo, hi)
}

// rows is the number of rows.
func (b *band) rows() int { return len(b.first) }

// last is the last place of row i.
func (b *band) last(i int) int { return b.first[i] + b.begin[i+1] - b.begin[i] - 1 }

// places is the number of places.
func (b *band) places() int { return b.begin[len(b.begin)-1] }

// at returns the index of a place, or -1 if it is not in the band.
func (b *band) at(i, j int) int {
	if i < 0 || i >= len(b.first) || j < b.first[i] {
		return -1
	}
	if k := b.begin[i] + j - b.first[i]; k < b.begin[i+1] {
		return k
	}
	return -1
}

// place is a place in a dynamic programme.
type place struct{ i, j int }

// coarsePath finds the way of the best beads of one sentence or none through both documents: first at a size that is
// small enough to look at every place, then at double the size near what was found, until the size is full.
func coarsePath(ctx context.Context, source, target *level, o Options) ([]place, error) {
	compare(source, target, o.Samples)
	if max(source.n, target.n) <= fullSize {
		return onePath(ctx, source, target, full(source.n, target.n), o)
	}
	path, err := coarsePath(ctx, source.halved(), target.halved(), o)
	if err != nil {
		return nil, err
	}
	for k, p := range path {
		path[k] = place{min(2*p.i, source.n), min(2*p.j, target.n)}
	}
	path[len(path)-1] = place{source.n, target.n}
	return onePath(ctx, source, target, around(path, o.Band, source.n, target.n), o)
}

// skipPercentile is the part of random sentences' scores that a 1:1 bead must exceed to be better than two deletions.
const skipPercentile = 0.8

// onePath returns the best path in a band by 1:1 beads and deletions. Two deletions cost as much as a 1:1 bead of
// random sentences. With vecalign's cost, nearly twice as high, the path cuts across the text between two gaps.
func onePath(ctx context.Context, source, target *level, b *band, o Options) ([]place, error) {
	skip := (1 - percentile(randomScores(source, target, o.Samples), skipPercentile)) / 2
	costs := make([]float32, b.places())
	from := make([]uint8, b.places())
	for i := range b.rows() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for j := b.first[i]; j <= b.last(i); j++ {
			at := b.at(i, j)
			if at == 0 {
				continue
			}
			best, step := float32(math.Inf(1)), uint8(0)
			if k := b.at(i-1, j-1); k >= 0 {
				best, step = costs[k]+1-source.score(target, i-1, j-1), 3
			}
			if k := b.at(i-1, j); k >= 0 && costs[k]+skip < best {
				best, step = costs[k]+skip, 1
			}
			if k := b.at(i, j-1); k >= 0 && costs[k]+skip < best {
				best, step = costs[k]+skip, 2
			}
			costs[at], from[at] = best, step
		}
	}
	path := []place{{source.n, target.n}}
	for i, j := source.n, target.n; i > 0 || j > 0; {
		step := from[b.at(i, j)]
		i, j = i-int(step&1), j-int(step>>1)
		path = append(path, place{i, j})
	}
	slices.Reverse(path)
	return path, nil
}

const (
	// usualPart is the part of the source sentences whose best score near the path is less than the usual one: about a
	// quarter have no translation of their own, the others are better and worse.
	usualPart = 0.6
	// usualReach is how many target sentences from the path a source sentence's best counterpart is looked for.
	usualReach = 2
	// minUsual keeps the documents apart that are no translations.
	minUsual = 0.1
)

// usual is the score that a translated sentence usually has in two documents. It depends on the encoder, the languages
// and on how freely was translated.
func usual(path []place, source, target *level) float32 {
	best := make([]float32, source.n)
	for k := 1; k < len(path); k++ {
		i := path[k-1].i
		if path[k].i == i {
			continue
		}
		for j := max(path[k-1].j-usualReach, 0); j <= min(path[k-1].j+usualReach, target.n-1); j++ {
			best[i] = max(best[i], source.score(target, i, j))
		}
	}
	slices.Sort(best)
	return max(percentile(best, usualPart), minUsual)
}

// randomScores are scores of 1:1 beads between sentences that stand anywhere, in ascending order.
func randomScores(source, target *level, samples int) []float32 {
	n := min(samples*samples, source.n*target.n)
	out := make([]float32, n)
	state := uint64(1)
	for k := range out {
		out[k] = source.score(target, draw(&state, source.n), draw(&state, target.n))
	}
	slices.Sort(out)
	return out
}

// draw returns a number below n of a sequence that is always the same (splitmix64).
func draw(state *uint64, n int) int {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return int(z % uint64(n))
}

// percentile is the value below which a part of the sorted values is.
func percentile(sorted []float32, part float64) float32 {
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}
