package inject

import (
	"context"

	"bitextmine/bitext/exchange"
	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/mine"
	"bitextmine/score"
)

// Distinct removes pairs with a sentence that is in an earlier pair, because it would have two translations.
func Distinct(pairs []exchange.Pair) []exchange.Pair {
	sources, targets := map[string]bool{}, map[string]bool{}
	var out []exchange.Pair
	for _, p := range pairs {
		if p.Source == "" || p.Target == "" || sources[p.Source] || targets[p.Target] {
			continue
		}
		sources[p.Source], targets[p.Target] = true, true
		out = append(out, p)
	}
	return out
}

// Embedder turns normalised sentences into vectors. *encode.Encoder implements it.
type Embedder interface {
	Dim() int
	Encode(ctx context.Context, language string, texts []string, dst []float32) error
}

// Host is a pair of corpora that known pairs are injected into.
type Host struct {
	Languages [2]string
	Texts     [2][]string         // distinct, normalised, in key order
	Vectors   [2]embedding.Matrix // row i is the vector of text i
	Lists     [2]mine.Neighbours  // the neighbours of each side's texts on the other side
	K         int
	Searcher  index.Searcher
	Encoder   Embedder
	Tokens    score.Tokenizer  // nil if there is none
	Read      score.TextReader // reads Texts
	Threads   int
}

// search finds the neighbours of both sides including the injected sentences. The host's own lists are known; three
// smaller searches find what the injected sentences change.
func (h *Host) search(ctx context.Context, injected [2][]string) (*mine.Lists, error) {
	var vectors [2]embedding.Matrix
	for side, texts := range injected {
		rows := make([]float32, len(texts)*h.Encoder.Dim())
		if err := h.Encoder.Encode(ctx, h.Languages[side], texts, rows); err != nil {
			return nil, err
		}
		vectors[side] = embedding.FromFloat32(rows, h.Encoder.Dim())
		if h.Vectors[side].F16 != nil {
			vectors[side] = embedding.Narrow(vectors[side])
		}
	}
	var mergers [2]*mine.Merger
	var own, added [2][]int32
	for side, texts := range h.Texts {
		mergers[side] = mine.NewMerger(len(texts)+len(injected[side]), h.K)
		own[side], added[side] = score.Numbers(0, len(texts)), score.Numbers(len(texts), len(injected[side]))
	}
	mergers[0].Add(h.Lists[0], own[0], own[1])
	mergers[1].Add(h.Lists[1], own[1], own[0])
	for _, cell := range [][2]struct {
		vectors embedding.Matrix
		numbers []int32
	}{
		{{vectors[0], added[0]}, {h.Vectors[1], own[1]}},
		{{h.Vectors[0], own[0]}, {vectors[1], added[1]}},
		{{vectors[0], added[0]}, {vectors[1], added[1]}},
	} {
		if len(cell[0].numbers) == 0 || len(cell[1].numbers) == 0 {
			continue
		}
		result, err := h.Searcher.Search(ctx, index.Side{Vectors: cell[0].vectors}, index.Side{Vectors: cell[1].vectors}, h.K, nil)
		if err != nil {
			return nil, err
		}
		mergers[0].Add(result.Source, cell[0].numbers, cell[1].numbers)
		mergers[1].Add(result.Target, cell[1].numbers, cell[0].numbers)
	}
	return mine.NewLists(mergers[0].Neighbours(), mergers[1].Neighbours(), h.K, mine.Ratio)
}
