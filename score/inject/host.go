package inject

import (
	"context"

	"bitextmine/bitext/exchange"
	"bitextmine/corpus/surface"
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
	Strong    *Strong          // the strong encoder of two-stage mining; nil: one encoder
	Tokens    score.Tokenizer  // nil if there is none
	Read      score.TextReader // reads Texts
	Threads   int
	injected  *[2]vectors // vectors of injected sentences; nil: none yet
}

// Strong is the strong encoder of two-stage mining, which sees the sentences of candidates above a floor. It encodes
// each sentence once, however often pairs are injected. It may be used by one goroutine.
type Strong struct {
	Encoder Embedder
	Floor   float64 // margin
	vectors [2]vectors
}

// vectors are those of sentences that were encoded.
type vectors map[string][]float32

// encode adds the vectors of those sentences that are not there.
func (v *vectors) encode(ctx context.Context, encoder Embedder, language string, texts []string) error {
	if *v == nil {
		*v = vectors{}
	}
	var left []string
	for _, text := range texts {
		if _, known := (*v)[text]; !known {
			(*v)[text] = nil
			left = append(left, text)
		}
	}
	dim := encoder.Dim()
	rows := make([]float32, len(left)*dim)
	if err := encoder.Encode(ctx, language, left, rows); err != nil {
		return err
	}
	for i, text := range left {
		(*v)[text] = rows[i*dim:][:dim:dim]
	}
	return nil
}

// Cosines returns the strong cosines of candidates, whose texts are given; mine.NotRefined for one that is not above
// the floor.
func (s *Strong) Cosines(ctx context.Context, languages [2]string, candidates []mine.Candidate, text func(side int, number int32) string) ([]float32, error) {
	promising := func(c mine.Candidate) bool { return float64(c.Score) > s.Floor }
	for side := range s.vectors {
		var texts []string
		for _, c := range candidates {
			if promising(c) {
				texts = append(texts, text(side, [2]int32{c.Source, c.Target}[side]))
			}
		}
		if err := s.vectors[side].encode(ctx, s.Encoder, languages[side], texts); err != nil {
			return nil, err
		}
	}
	cosines := make([]float32, len(candidates))
	for i, c := range candidates {
		cosines[i] = mine.NotRefined
		if promising(c) {
			cosines[i] = embedding.Dot(s.vectors[0][text(0, c.Source)], s.vectors[1][text(1, c.Target)])
		}
	}
	return cosines, nil
}

// Seen is the number of sentences that were encoded.
func (s *Strong) Seen() int { return len(s.vectors[0]) + len(s.vectors[1]) }

// StrongCosines returns the strong cosines of candidates; nil if the host has no strong encoder.
func (in *Injection) StrongCosines(ctx context.Context, candidates []mine.Candidate) ([]float32, error) {
	if in.host.Strong == nil {
		return nil, nil
	}
	var texts [2][]string
	for side, n := range in.numbers {
		language := in.host.Languages[side]
		texts[side] = make([]string, len(n.own)+len(n.added))
		for i, number := range n.own {
			texts[side][number], _ = surface.Calm(in.host.Texts[side][i], language)
		}
		for i, number := range n.added {
			texts[side][number], _ = surface.Calm(in.texts[side][i], language)
		}
	}
	return in.host.Strong.Cosines(ctx, in.host.Languages, candidates, func(side int, number int32) string { return texts[side][number] })
}
