package word

import (
	"context"
	"math"
	"sync/atomic"
)

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

// liken multiplies a row of the prior by what an encoder says of its cells.
func (d *direction) liken(w *worker, probs []float64, cosines []float32) []float64 {
	w.likened = grown(w.likened, len(probs))
	for j, p := range probs {
		w.likened[j] = p * math.Exp((float64(cosines[j])-d.Similarity.Floor)/d.Similarity.Temperature)
	}
	return w.likened
}

func grown(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
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
