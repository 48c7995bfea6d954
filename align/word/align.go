package word

import (
	"context"
	"math"
	"runtime"

	"bitextmine/internal/badinput"
)

// Alignments are the most likely alignments of all pairs in both directions.
type Alignments struct {
	pairs   *Pairs
	cosines []float32 // an encoder's, [n, m] for pair i from first[i]; nil: none
	first   []int
	// The source word of each target word, and the target word of each source word: [words of the side], for pair i from
	// the side's begin(i)
	forward, backward []choice
}

// choice is the word that a word is a translation of, from 0, or none.
type choice struct {
	word      int32
	posterior float32
}

const none = -1

// Align estimates the model in both directions and aligns all pairs. Each direction gets Iterations iterations. report
// is called after each.
func Align(ctx context.Context, p *Pairs, opts Options, report func(Progress)) (*Alignments, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if opts.Threads == 0 {
		opts.Threads = runtime.GOMAXPROCS(0)
	}
	if p.Len() > math.MaxInt32 {
		return nil, badinput.Errorf("word alignment of %d pairs: at most %d can be aligned at once; divide them",
			p.Len(), math.MaxInt32)
	}
	if p.cells == 0 {
		return nil, badinput.Errorf("word alignment: none of the %d pairs has words on both sides", p.Len())
	}
	a := &Alignments{pairs: p}
	if opts.Similarity != nil {
		var err error
		if a.cosines, err = opts.Similarity.cosines(ctx, p); err != nil {
			return nil, err
		}
	}
	t, err := newTable(p, opts.Threads)
	if err != nil {
		return nil, err
	}
	a.first = t.first
	blocks := p.blocks()
	for _, backward := range []bool{false, true} {
		d := &direction{Options: opts, pairs: p, table: t, blocks: blocks, backward: backward, cosines: a.cosines}
		if err := d.estimate(ctx, report); err != nil {
			return nil, err
		}
		chosen, err := d.choose(ctx)
		if err != nil {
			return nil, err
		}
		if backward {
			a.backward = chosen
		} else {
			a.forward = chosen
		}
	}
	return a, nil
}

// choose finds the most likely alignment of every predicted word.
func (d *direction) choose(ctx context.Context) ([]choice, error) {
	side := &d.pairs.sides[1]
	if d.backward {
		side = &d.pairs.sides[0]
	}
	out := make([]choice, len(side.tokens))
	parallel(len(d.blocks), d.Threads, func(next func() (int, bool)) {
		var w worker
		for b, ok := next(); ok && ctx.Err() == nil; b, ok = next() {
			block := d.blocks[b]
			w.prior.fill(block.shape, d.backward, d.tension, 1-d.NullProb)
			for _, pair := range block.pairs {
				d.weigh(&w, int(pair), block.shape)
				chosen := out[side.begin(int(pair)):side.ends[pair]]
				w.choose(chosen, block.shape, d.backward)
				if d.Similarity != nil && d.Similarity.MaxEntropy < 1 {
					w.limitEntropy(chosen, block.shape, d.backward, d.Similarity.MaxEntropy)
				}
			}
		}
	})
	return out, ctx.Err()
}

// choose takes the largest weight of each predicted word: NULL before a word, and the first of equal words.
func (w *worker) choose(out []choice, s shape, backward bool) {
	inner, step, stride := s.n, 1, s.m
	if backward {
		inner, step, stride = s.m, s.m, 1
	}
	for k := range out {
		best, most := none, w.nulls[k]
		for i, at := 0, k*step; i < inner; i, at = i+1, at+stride {
			if w.weights[at] > most {
				best, most = i, w.weights[at]
			}
		}
		out[k] = choice{int32(best), float32(most / w.sums[k])}
	}
}

// limitEntropy takes their words from the predicted words whose weights have more than a part of the largest entropy.
func (w *worker) limitEntropy(out []choice, s shape, backward bool, limit float64) {
	inner, step, stride := s.n, 1, s.m
	if backward {
		inner, step, stride = s.m, s.m, 1
	}
	for k := range out {
		entropy := 0.0
		for i, at := 0, k*step; i < inner; i, at = i+1, at+stride {
			if p := w.weights[at] / (w.sums[k] - w.nulls[k]); p > 0 {
				entropy -= p * math.Log(p)
			}
		}
		if entropy > limit*math.Log(float64(inner)) {
			out[k] = choice{word: none}
		}
	}
}

// Of returns the alignment of pair i, ascending. A link's score is the mean of its posterior probabilities in both
// directions, where a direction that does not have the link counts as 0. A pair that Add refused has no links.
func (a *Alignments) Of(i int, how Symmetry) []Link { return a.of(&grid{}, i, how) }

// of is Of with a grid whose memory it uses.
func (a *Alignments) of(g *grid, i int, how Symmetry) []Link {
	s := a.pairs.shape(i)
	g.reset(s.n, s.m)
	begin := a.pairs.sides[1].begin(i)
	for j, c := range a.forward[begin : begin+s.m] {
		if c.word != none {
			g.add(int(c.word), j, inForward, c.posterior)
		}
	}
	begin = a.pairs.sides[0].begin(i)
	for k, c := range a.backward[begin : begin+s.n] {
		if c.word != none {
			g.add(k, int(c.word), inBackward, c.posterior)
		}
	}
	if how == IterMax { // ParseSymmetry gives it with an encoder only
		return g.iterate(a.cosines[a.first[i]:][:s.n*s.m])
	}
	return g.links(how)
}
