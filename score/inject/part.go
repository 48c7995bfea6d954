package inject

import (
	"context"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/mine"
	"bitextmine/score"
)

// Part returns a host of size sentences on each side, evenly spread. Each trial takes other sentences. Both sides must
// have at least size sentences.
func (h *Host) Part(ctx context.Context, size, trial int) (*Host, error) {
	part := *h
	for side, texts := range h.Texts {
		stride := len(texts) / size
		vectors := h.Vectors[side]
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
	found, err := h.Searcher.Search(ctx, index.Side{Vectors: part.Vectors[0]}, index.Side{Vectors: part.Vectors[1]}, h.K, nil)
	if err != nil {
		return nil, err
	}
	part.Read = score.Texts(part.Texts)
	part.Lists = [2]mine.Neighbours{found.Source, found.Target}
	return &part, nil
}
