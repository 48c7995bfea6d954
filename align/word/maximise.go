package word

import (
	"context"
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

// worker is the memory of one thread.
type worker struct {
	prior   prior
	weights []float64 // [n, m]
	sums    []float64 // weight of NULL and of the possible source words, summed per predicted word
	nulls   []float64
	likened []float64 // a row of the prior with an encoder's similarities
}

// expect adds the expected counts of all pairs.
func (d *direction) expect(ctx context.Context) error {
	parallel(len(d.blocks), d.Threads, func(next func() (int, bool)) {
		var w worker
		for b, ok := next(); ok && ctx.Err() == nil; b, ok = next() {
			d.expectBlock(&w, d.blocks[b])
		}
	})
	return ctx.Err()
}

func (d *direction) expectBlock(w *worker, b block) {
	w.prior.fill(b.shape, d.backward, d.tension, 1-d.NullProb)
	var null, distance uint64
	var bits int64
	for _, pair := range b.pairs {
		predicted := d.weigh(w, int(pair), b.shape)
		nulls := d.null()
		log := 0.0
		for k, f := range predicted {
			log += math.Log2(w.sums[k])
			w.sums[k] = unit / w.sums[k]
			count := uint64(w.nulls[k]*w.sums[k] + 0.5)
			atomic.AddUint64(&nulls[f].count, count)
			null += count
		}
		bits += int64(math.Round(log * (1 << 20)))
		distance += d.count(w, int(pair), b.shape)
	}
	d.sums.null.Add(null)
	d.sums.distance.Add(distance)
	d.sums.bits.Add(bits)
}

// count adds the expected counts of a pair, given its weights and the inverse of their sums. It returns the expected
// distance.
func (d *direction) count(w *worker, pair int, s shape) uint64 {
	total := 0.0
	entries := d.table.entries
	first := d.table.first[pair]
	for i := range s.n {
		at := i * s.m
		cells := d.table.cells[first+at:][:s.m]
		weights, distances := w.weights[at:][:s.m], w.prior.distances[at:][:s.m]
		if d.backward {
			inverse := w.sums[i]
			for j, cell := range cells {
				p := weights[j] * inverse
				total += p * distances[j]
				atomic.AddUint64(&entries[cell].count, uint64(p+0.5))
			}
			continue
		}
		inverse := w.sums[:s.m]
		for j, cell := range cells {
			p := weights[j] * inverse[j]
			total += p * distances[j]
			atomic.AddUint64(&entries[cell].count, uint64(p+0.5))
		}
	}
	return uint64(total + 0.5)
}

// weigh computes the weights of a pair: the joint probability of each predicted word with each word that it may be a
// translation of. It returns the predicted words.
func (d *direction) weigh(w *worker, pair int, s shape) []uint32 {
	predicted := d.pairs.sides[1].of(pair)
	if d.backward {
		predicted = d.pairs.sides[0].of(pair)
	}
	w.weights, w.sums, w.nulls = grown(w.weights, s.n*s.m), grown(w.sums, len(predicted)),
		grown(w.nulls, len(predicted))
	nulls := d.null()
	for k, f := range predicted {
		w.nulls[k] = d.NullProb * nulls[f].prob
		w.sums[k] = w.nulls[k]
	}
	entries := d.table.entries
	first := d.table.first[pair]
	for i := range s.n {
		at := i * s.m
		cells := d.table.cells[first+at:][:s.m]
		weights, probs := w.weights[at:][:s.m], w.prior.probs[at:][:s.m]
		if d.cosines != nil {
			probs = d.liken(w, probs, d.cosines[first+at:][:s.m])
		}
		if d.backward {
			sum := 0.0
			for j, cell := range cells {
				weights[j] = entries[cell].prob * probs[j]
				sum += weights[j]
			}
			w.sums[i] += sum
			continue
		}
		sums := w.sums[:s.m]
		for j, cell := range cells {
			weights[j] = entries[cell].prob * probs[j]
			sums[j] += weights[j]
		}
	}
	return predicted
}

// maxExponent is the largest whose exponential can be summed over a sentence: the lowest temperature gives up to 2000.
const maxExponent = 600

// liken multiplies a row of the prior by what an encoder says of its cells.
func (d *direction) liken(w *worker, probs []float64, cosines []float32) []float64 {
	w.likened = grown(w.likened, len(probs))
	for j, p := range probs {
		w.likened[j] = p * math.Exp(min(maxExponent, (float64(cosines[j])-d.Similarity.Floor)/d.Similarity.Temperature))
	}
	return w.likened
}

func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// expDigamma returns exp(ψ(x)) for x > 0, where ψ is the logarithmic derivative of the gamma function: by its
// recurrence up to 6, then by its asymptotic series, to about 1e-12 relative.
func expDigamma(x float64) float64 {
	shift := 0.0
	for ; x < 6; x++ {
		shift += 1 / x
	}
	y := 1 / (x * x)
	series := y * (1./12 - y*(1./120-y*(1./252-y*(1./240-y*(1./132-y*(691./32760-y/12))))))
	return x * math.Exp(-0.5/x-series-shift)
}
