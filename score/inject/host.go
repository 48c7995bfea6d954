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

// Absent returns the pairs of which the host has neither sentence.
func (h *Host) Absent(pairs []exchange.Pair) []exchange.Pair {
	var has [2]map[string]bool
	for side, texts := range h.Texts {
		has[side] = make(map[string]bool, len(texts))
		for _, text := range texts {
			has[side][text] = true
		}
	}
	var out []exchange.Pair
	for _, p := range pairs {
		if !has[0][p.Source] && !has[1][p.Target] {
			out = append(out, p)
		}
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
	Strong    *Strong          // of two-stage mining; nil: one encoder
	Tokens    score.Tokenizer  // nil if there is none
	Read      score.TextReader // reads Texts
	Threads   int
}
