package rescore

import (
	"context"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/mine"
)

// smallSizes are the sentences a side of the parts of a corpus that pairs are planted into too. Margins, gaps and the weights of tokens mean
// less among a few dozen sentences than among thousands, which a scorer can only learn from such.
var smallSizes = []int{30, 100, 500}

const (
	smallPairs = 400 // that are planted into parts of each size
	smallShare = 5   // one pair is planted for so many sentences of a part
)

// small plants the first pairs into small parts of the corpora, a few into each.
func (b *Bed) small(ctx context.Context, pairs []Pair, examples *mine.Examples) error {
	pairs = pairs[:min(len(pairs), smallPairs)]
	for _, size := range smallSizes {
		if len(b.Texts[0]) < 2*size || len(b.Texts[1]) < 2*size {
			return nil
		}
		step := size / smallShare
		for trial := 0; trial*step < len(pairs); trial++ {
			part, err := b.part(ctx, size, trial)
			if err != nil {
				return err
			}
			some := pairs[trial*step : min((trial+1)*step, len(pairs))]
			if _, err := part.round(ctx, some, trial*step, trial%rounds, examples); err != nil {
				return err
			}
		}
	}
	return nil
}

// part is size sentences of either side, evenly spread; another trial takes others.
func (b *Bed) part(ctx context.Context, size, trial int) (*Bed, error) {
	part := *b
	for side, texts := range b.Texts {
		stride := len(texts) / size
		vectors := b.Vectors[side]
		part.Texts[side] = make([]string, size)
		part.Vectors[side] = embedding.Matrix{N: size, Dim: vectors.Dim}
		into := &part.Vectors[side]
		for i := range size {
			from := i*stride + trial%stride
			part.Texts[side][i] = texts[from]
			if vectors.F16 != nil {
				into.F16 = append(into.F16, vectors.F16[from*vectors.Dim:][:vectors.Dim]...)
			} else {
				into.F32 = append(into.F32, vectors.F32[from*vectors.Dim:][:vectors.Dim]...)
			}
		}
	}
	found, err := b.Searcher.Search(ctx, index.Side{Vectors: part.Vectors[0]}, index.Side{Vectors: part.Vectors[1]}, b.K, nil)
	if err != nil {
		return nil, err
	}
	part.Describe = Texts(part.Texts)
	part.Lists = [2]mine.Neighbours{found.Source, found.Target}
	return &part, nil
}
