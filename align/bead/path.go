package bead

import (
	"context"
	"math"
	"slices"
)

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
