package inject

import (
	"context"

	"bitextmine/encode/embedding"
	"bitextmine/mine"
)

// Strong is the strong encoder of two-stage mining, which sees the sentences of candidates above a floor. It encodes
// each sentence once, however often pairs are injected. It may be used by one goroutine.
type Strong struct {
	Encoder Embedder
	Floor   float64 // margin
	vectors [2]map[string][]float32
}

// Cosines returns the strong cosines of candidates, whose texts are given; mine.NotRefined is that of one that is not
// above the floor.
func (s *Strong) Cosines(ctx context.Context, languages [2]string, candidates []mine.Candidate, text func(side int, number int32) string) ([]float32, error) {
	promising := func(c mine.Candidate) bool { return float64(c.Score) > s.Floor }
	var left [2][]string
	for side := range left {
		if s.vectors[side] == nil {
			s.vectors[side] = map[string][]float32{}
		}
		for _, c := range candidates {
			if promising(c) {
				one := text(side, [2]int32{c.Source, c.Target}[side])
				if _, known := s.vectors[side][one]; !known {
					s.vectors[side][one] = nil
					left[side] = append(left[side], one)
				}
			}
		}
		dim := s.Encoder.Dim()
		rows := make([]float32, len(left[side])*dim)
		if err := s.Encoder.Encode(ctx, languages[side], left[side], rows); err != nil {
			return nil, err
		}
		for i, one := range left[side] {
			s.vectors[side][one] = rows[i*dim:][:dim:dim]
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
		texts[side] = make([]string, len(n.own)+len(n.added))
		for i, number := range n.own {
			texts[side][number] = in.host.Texts[side][i]
		}
		for i, number := range n.added {
			texts[side][number] = in.texts[side][i]
		}
	}
	return in.host.Strong.Cosines(ctx, in.host.Languages, candidates, func(side int, number int32) string { return texts[side][number] })
}
