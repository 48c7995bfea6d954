package inject

import (
	"context"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/mine"
)

// part is some sentences of a side: the host's or the injected ones.
type part struct {
	index.Side
	numbers []int32
}

// search finds the neighbours of both sides including the injected sentences. The host's own lists are known; three
// smaller searches find what the injected sentences change.
func (in *Injection) search(ctx context.Context) (*mine.Lists, error) {
	h := in.host
	var mergers [2]*mine.Merger
	var own, added [2]part
	for side, n := range in.numbers {
		vectors, err := in.vectors(ctx, side)
		if err != nil {
			return nil, err
		}
		own[side] = part{index.Side{Vectors: h.Vectors[side]}, n.own}
		added[side] = part{index.Side{Vectors: vectors, Order: n.order}, n.added}
		mergers[side] = mine.NewMerger(len(n.own)+len(n.added), h.K)
	}
	mergers[0].Add(h.Lists[0], own[0].numbers, own[1].numbers)
	mergers[1].Add(h.Lists[1], own[1].numbers, own[0].numbers)
	for _, cell := range [][2]part{{added[0], own[1]}, {own[0], added[1]}, {added[0], added[1]}} {
		if len(cell[0].numbers) == 0 || len(cell[1].numbers) == 0 {
			continue
		}
		result, err := h.Searcher.Search(ctx, cell[0].Side, cell[1].Side, h.K, nil)
		if err != nil {
			return nil, err
		}
		mergers[0].Add(result.Source, cell[0].numbers, cell[1].numbers)
		mergers[1].Add(result.Target, cell[1].numbers, cell[0].numbers)
	}
	return mine.NewLists(mergers[0].Neighbours(), mergers[1].Neighbours(), h.K, mine.Ratio)
}

// vectors encodes a side's injected sentences, in the number type of the host's.
func (in *Injection) vectors(ctx context.Context, side int) (embedding.Matrix, error) {
	h, texts := in.host, in.texts[side]
	rows := make([]float32, len(texts)*h.Encoder.Dim())
	if err := h.Encoder.Encode(ctx, h.Languages[side], texts, rows); err != nil {
		return embedding.Matrix{}, err
	}
	vectors := embedding.FromFloat32(rows, h.Encoder.Dim())
	if h.Vectors[side].F16 != nil {
		vectors = embedding.Narrow(vectors)
	}
	return vectors, nil
}
