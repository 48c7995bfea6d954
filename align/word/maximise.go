package word

import (
	"math"
	"sync/atomic"
)

// maximise estimates t from the counts and sets them to zero.
func (d *direction) maximise() {
	if d.backward {
		d.maximiseColumns()
	} else {
		d.maximiseRows()
	}
	normalise(d.null(), d)
}

// normalise turns the counts of a distribution into its probabilities, as the settings of a direction say.
func normalise(row []entry, d *direction) {
	total := uint64(0)
	for _, e := range row {
		total += e.count
	}
	inverse := d.inverse(total, len(row))
	for i := range row {
		row[i] = entry{prob: d.value(row[i].count) * inverse}
	}
}

// maximiseRows normalises over the target words of each source word.
func (d *direction) maximiseRows() {
	t := d.table
	parallel(len(t.rows)-1, d.Threads, func(next func() (int, bool)) {
		for e, ok := next(); ok; e, ok = next() {
			row, _ := t.row(e)
			normalise(row, d)
		}
	})
}

// maximiseColumns normalises over the source words of each target word.
func (d *direction) maximiseColumns() {
	t := d.table
	words := len(d.pairs.sides[1].ids)
	totals, sizes := make([]uint64, words), make([]uint64, words)
	parallel(len(t.rows)-1, d.Threads, func(next func() (int, bool)) {
		for e, ok := next(); ok; e, ok = next() {
			row, targets := t.row(e)
			for i, f := range targets {
				atomic.AddUint64(&totals[f], row[i].count)
				atomic.AddUint64(&sizes[f], 1)
			}
		}
	})
	inverses := make([]float64, words)
	for f := range inverses {
		inverses[f] = d.inverse(totals[f], int(sizes[f]))
	}
	parallel(len(t.rows)-1, d.Threads, func(next func() (int, bool)) {
		for e, ok := next(); ok; e, ok = next() {
			row, targets := t.row(e)
			for i, f := range targets {
				row[i] = entry{prob: d.value(row[i].count) * inverses[f]}
			}
		}
	})
}

// value returns the weight of a count. With a Dirichlet prior it is the exponential of the expected logarithm.
func (o Options) value(count uint64) float64 {
	if o.Alpha == 0 {
		return float64(count)
	}
	return expDigamma(float64(count)/unit + o.Alpha)
}

// inverse is the inverse of a word's total, which it distributes over size words. A word that was never the most
// likely one has no counts, and without a prior its translations keep the probability 0.
func (o Options) inverse(total uint64, size int) float64 {
	switch {
	case o.Alpha != 0:
		return 1 / expDigamma(float64(total)/unit+float64(size)*o.Alpha)
	case total == 0:
		return 0
	}
	return 1 / float64(total)
}

// prior is the diagonal prior of one shape and direction.
type prior struct {
	probs     []float64 // [n, m]: of source word i for target word j; in the backward direction of j for i
	distances []float64 // [n, m]: |i/n - j/m|, with i and j from 1
}

// fill computes the prior of a shape: for each predicted word, the probabilities of the words that it may be a
// translation of sum to mass.
func (p *prior) fill(s shape, backward bool, tension, mass float64) {
	size := s.n * s.m
	if cap(p.probs) < size {
		p.probs, p.distances = make([]float64, size), make([]float64, size)
	}
	p.probs, p.distances = p.probs[:size], p.distances[:size]
	outer, inner, step, stride := s.m, s.n, 1, s.m
	if backward {
		outer, inner, step, stride = s.n, s.m, s.m, 1
	}
	for o := range outer {
		sum := 0.0
		for i, at := 0, o*step; i < inner; i, at = i+1, at+stride {
			d := math.Abs(float64(i+1)/float64(inner) - float64(o+1)/float64(outer))
			p.distances[at] = d
			p.probs[at] = math.Exp(-tension * d)
			sum += p.probs[at]
		}
		for i, at := 0, o*step; i < inner; i, at = i+1, at+stride {
			p.probs[at] *= mass / sum
		}
	}
}

// expectedDistance is the sum over the predicted words of a pair of the distance that the prior expects. inner is the
// number of words that a predicted word may be a translation of.
func expectedDistance(outer, inner int, tension float64) float64 {
	total := 0.0
	ratio := math.Exp(-tension / float64(inner))
	for o := range outer {
		at := float64(o+1) / float64(outer)
		split := int(at * float64(inner)) // words 1 to split stand before at or there, the others after it
		above, moment := series(float64(split+1)/float64(inner)-at, inner-split, inner, tension, ratio)
		below, other := series(at-float64(split)/float64(inner), split, inner, tension, ratio)
		total += (moment + other) / (above + below)
	}
	return total
}

// series sums exp(-λd), and d times that, over count distances d that begin with first and are 1/inner apart.
func series(first float64, count, inner int, tension, ratio float64) (sum, moment float64) {
	if count == 0 {
		return 0, 0
	}
	p := math.Exp(-tension * first)
	for k := range count {
		sum += p
		moment += p * (first + float64(k)/float64(inner))
		p *= ratio
	}
	return sum, moment
}
