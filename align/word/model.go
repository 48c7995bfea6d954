package word

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"bitextmine/internal/badinput"
)

// Options of the model.
type Options struct {
	Iterations int     // iterations of expectation maximisation
	NullProb   float64 // p0, the prior probability that a word is a translation of none
	Tension    float64 // λ at the start
	FitTension bool    // estimate λ too
	Alpha      float64 // parameter of the Dirichlet prior; 0 maximises the likelihood without a prior
	Threads    int     // 0: one for each processor
	// Similarity is an encoder's; nil: the model alone. Only with it may there be no iteration.
	Similarity *Similarity
}

// DefaultOptions are fast_align's recommended settings, but λ stays as it is: on the test sets of docs/alignment.md the
// λ of maximum likelihood, 8 to 14, has more errors.
func DefaultOptions() Options {
	return Options{Iterations: 5, NullProb: 0.08, Tension: 4, Alpha: 0.01}
}

// Validate reports the first setting that is not valid.
func (o Options) Validate() error {
	least := 1
	if o.Similarity != nil {
		if err := o.Similarity.Validate(); err != nil {
			return err
		}
		least = 0
	}
	for _, c := range []struct {
		ok   bool
		what string
	}{
		{o.Iterations != 0 || least == 0, "--iterations 0 has an encoder align alone: name one with --encoder, or give from 1 to 1000"},
		{o.Iterations >= least && o.Iterations <= 1000,
			fmt.Sprintf("--iterations is %d but must be from %d to 1000", o.Iterations, least)},
		{o.NullProb >= 0 && o.NullProb < 1,
			fmt.Sprintf("--p0 is %v but must be at least 0 and less than 1", o.NullProb)},
		{o.Tension >= minTension && o.Tension <= maxTension,
			fmt.Sprintf("--tension is %v but must be from %v to %v", o.Tension, minTension, maxTension)},
		{o.Alpha >= 0 && o.Alpha <= 100, fmt.Sprintf("--alpha is %v but must be from 0 to 100", o.Alpha)},
		{o.Threads >= 0, fmt.Sprintf("--threads is %d but must not be negative", o.Threads)},
	} {
		if !c.ok {
			return badinput.Errorf("word alignment: %s", c.what)
		}
	}
	return nil
}

// The range of λ, which is fast_align's.
const minTension, maxTension = 0.1, 14

// unit is the scale of counts: they are integers in units of 1/unit.
const unit = 1 << 32

// direction estimates one direction of the model.
type direction struct {
	Options
	pairs    *Pairs
	table    *table
	blocks   []block
	backward bool
	tension  float64
	cosines  []float32 // an encoder's, a cell of the table each; nil: none

	sums sums
}

// sums are totals over all pairs, in units of 1/unit. They are integers for the same reason as the counts.
type sums struct {
	null     atomic.Uint64 // expected number of words that are translations of none
	distance atomic.Uint64 // expected distance of the other words
	bits     atomic.Int64  // log2 likelihood, in units of 2^-20
}

// estimate runs expectation maximisation.
func (d *direction) estimate(ctx context.Context, report func(Progress)) error {
	d.tension = d.Tension
	reset(d.null(), d.table.entries)
	for i := range d.Iterations {
		d.sums = sums{}
		if err := d.expect(ctx); err != nil {
			return err
		}
		if i > 0 && d.FitTension {
			d.fitTension()
		}
		d.maximise()
		report(Progress{Backward: d.backward, Iteration: i + 1, Tension: d.tension,
			Perplexity: d.sums.perplexity(d.predicted())})
	}
	return nil
}

// Progress reports one iteration.
type Progress struct {
	Backward   bool
	Iteration  int // iteration number, from 1
	Tension    float64
	Perplexity float64 // perplexity per predicted word before the iteration
}

// perplexity returns the perplexity per word.
func (s *sums) perplexity(words int) float64 {
	return math.Exp2(-float64(s.bits.Load()) / (1 << 20) / float64(words))
}

// predicted is the number of words that are predicted.
func (d *direction) predicted() int {
	if d.backward {
		return len(d.pairs.sides[0].tokens)
	}
	return len(d.pairs.sides[1].tokens)
}

// null returns the translations of NULL.
func (d *direction) null() []entry {
	if d.backward {
		return d.table.null[1]
	}
	return d.table.null[0]
}

// reset makes t uniform over the words that NULL may be translated as, which are all of the predicted side.
func reset(null, entries []entry) {
	uniform := entry{prob: 1 / float64(len(null))}
	for i := range null {
		null[i] = uniform
	}
	for i := range entries {
		entries[i] = uniform
	}
}

// fitTension chooses the λ under which the prior expects the distance that the pairs have, by bisection: the expected
// distance falls with λ.
func (d *direction) fitTension() {
	aligned := float64(d.predicted()) - float64(d.sums.null.Load())/unit
	if aligned <= 0 {
		return
	}
	want := float64(d.sums.distance.Load()) / unit / aligned * float64(d.predicted())
	low, high := float64(minTension), float64(maxTension)
	for range 24 {
		d.tension = (low + high) / 2
		have := 0.0
		for begin := 0; begin < len(d.blocks); {
			s, n := d.blocks[begin].shape, 0
			for ; begin < len(d.blocks) && d.blocks[begin].shape == s; begin++ {
				n += len(d.blocks[begin].pairs)
			}
			if d.backward {
				s.n, s.m = s.m, s.n
			}
			have += float64(n) * expectedDistance(s.m, s.n, d.tension)
		}
		if have > want {
			low = d.tension
		} else {
			high = d.tension
		}
	}
}
