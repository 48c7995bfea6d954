package train

import (
	"context"
	"fmt"
	"math"

	"bitextmine/encode/embedding"
	"bitextmine/index/exact"
	"bitextmine/train/data"
)

// mineNegatives finds the hard negatives that the objective needs: with the teacher if there is one, otherwise with the
// encoder at the start, so that a resumed training has the same ones. Those that are found again are found by the
// encoder, and the teacher says which of them are none.
func (p *parts) mineNegatives(ctx context.Context, again bool) (_ *data.HardNegatives, err error) {
	needs := p.config.Objective.Needs()
	if needs.Negatives == 0 {
		return nil, nil
	}
	p.options.report("find hard negatives")
	var taught, own vectors
	if p.teacher != nil {
		if taught, err = p.vectorsOf(ctx, p.taught, p.teacher.Dim()); err != nil {
			return nil, err
		}
	}
	by := taught
	if p.teacher == nil || again {
		if own, err = p.vectorsOf(ctx, p.ours, p.encoder.Dim()); err != nil {
			return nil, err
		}
		if by = own; p.teacher == nil {
			taught = own
		}
	}
	searcher := p.options.Searcher
	if searcher == nil {
		if searcher, err = exact.Open(exact.Options{}); err != nil {
			return nil, err
		}
	}
	var filter func(row, other int) bool
	if needs.Filter > 0 {
		filter = func(row, other int) bool {
			return taught.cosine(row, other) > needs.Filter*taught.cosine(row, row)
		}
	}
	tenths := 0
	return MineNegatives(ctx, searcher, p.set, by.source, by.target, by.dim, needs.Negatives, filter, func(fraction float64) {
		if now := int(10 * fraction); now > tenths { // it can take as long as many steps
			tenths = now
			p.options.report(fmt.Sprintf("find hard negatives: %d%%", 10*now))
		}
	})
}

// findAgain replaces the hard negatives before a step whose number the objective names.
func (t *trainer) findAgain(ctx context.Context) error {
	every, step := t.config.Objective.Needs().Every, t.state.Step
	if every == 0 || step == 0 || step%every != 0 {
		return nil
	}
	negatives, err := t.mineNegatives(ctx, true)
	if err != nil {
		return err
	}
	return t.batches.Replace(negatives)
}

// vectors are those of the sources and of the targets [pairs, dim].
type vectors struct {
	source, target []float32
	dim            int
}

// cosine is that of a pair's source to a pair's target.
func (v vectors) cosine(row, other int) float64 {
	x, y := v.source[row*v.dim:][:v.dim], v.target[other*v.dim:][:v.dim]
	lengths := math.Sqrt(float64(embedding.Dot(x, x)) * float64(embedding.Dot(y, y)))
	return float64(embedding.Dot(x, y)) / max(lengths, math.SmallestNonzeroFloat32)
}

func (p *parts) vectorsOf(ctx context.Context, side func(context.Context, bool) ([]float32, error), dim int) (v vectors, err error) {
	v.dim = dim
	if v.source, err = side(ctx, false); err == nil {
		v.target, err = side(ctx, true)
	}
	return v, err
}

// ours returns the vectors of one side of all pairs that the encoder gives as it is.
func (p *parts) ours(ctx context.Context, target bool) ([]float32, error) {
	dim := p.encoder.Dim()
	out := make([]float32, p.set.Len()*dim)
	for part := range p.set.Parts(target, DevBatch) {
		vectors, err := p.encoder.Forward(ctx, part.Side, 0)
		if err != nil {
			return nil, err
		}
		for i, row := range part.Rows {
			copy(out[row*dim:(row+1)*dim], vectors[i*dim:])
		}
	}
	return out, nil
}

// taught returns the teacher's vectors of one side of all pairs.
func (p *parts) taught(ctx context.Context, target bool) ([]float32, error) {
	texts, languages := make([]string, p.set.Len()), make([]string, p.set.Len())
	for i := range texts {
		pair := p.set.Groups[p.set.Group(i)]
		source, other := p.set.Texts(i)
		texts[i], languages[i] = source, p.set.Languages[pair.Source]
		if target {
			texts[i], languages[i] = other, p.set.Languages[pair.Target]
		}
	}
	return p.teacher.Encode(ctx, languages, texts)
}
