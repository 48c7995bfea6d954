package train

import (
	"context"
	"fmt"

	"bitextmine/index/exact"
	"bitextmine/train/data"
)

// mineNegatives finds the hard negatives that the objective needs: with the teacher if there is one, otherwise with the
// encoder at the start, so that a resumed training has the same ones.
func (p *parts) mineNegatives(ctx context.Context) (*data.HardNegatives, error) {
	if p.config.Objective.Needs().Negatives == 0 {
		return nil, nil
	}
	p.options.report("find hard negatives")
	source, target, dim, err := p.vectorsOfPairs(ctx)
	if err != nil {
		return nil, err
	}
	searcher := p.options.Searcher
	if searcher == nil {
		if searcher, err = exact.Open(exact.Options{}); err != nil {
			return nil, err
		}
	}
	tenths := 0
	each := p.config.Objective.Needs().Negatives
	return MineNegatives(ctx, searcher, p.set, source, target, dim, each, func(fraction float64) {
		if now := int(10 * fraction); now > tenths { // it can take as long as many steps
			tenths = now
			p.options.report(fmt.Sprintf("find hard negatives: %d%%", 10*now))
		}
	})
}

// vectorsOfPairs returns the vectors of the sources and of the targets [pairs, dim].
func (p *parts) vectorsOfPairs(ctx context.Context) (source, target []float32, dim int, err error) {
	vectors := p.started
	dim = p.encoder.Dim()
	if p.teacher != nil {
		vectors, dim = p.taught, p.teacher.Dim()
	}
	if source, err = vectors(ctx, false); err != nil {
		return nil, nil, 0, err
	}
	target, err = vectors(ctx, true)
	return source, target, dim, err
}

// started returns the vectors of one side of all pairs that the encoder gives at the start.
func (p *parts) started(ctx context.Context, target bool) ([]float32, error) {
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
