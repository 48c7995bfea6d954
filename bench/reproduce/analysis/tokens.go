package analysis

import (
	"context"
	"math/rand/v2"
	"slices"

	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/internal/badinput"
)

// Matches are the percentages of the tokens nearest to a token, by their sentence (MEXMA's Table 9): the token's own, a
// translation of it, another of its language, or any other.
type Matches struct{ Same, Translation, Language, Other float64 }

// perSentence and nearest are the paper's: three tokens of a sentence, the five nearest of each.
const perSentence, nearest = 3, 5

// place is the place of a token.
type place struct{ language, line int }

// MatchTokens looks for the tokens nearest to some of the sentences of the first language, among all tokens of all
// languages but itself. texts[i] has the lines of languages[i].
func (t *Trained) MatchTokens(ctx context.Context, searcher index.Searcher, languages []string,
	texts [][]string) (Matches, error) {
	var rows []float32
	var places []place
	var ends []int // ends of the sentences of the first language
	for l, lines := range texts {
		all, err := t.tokens(ctx, languages[l], lines)
		if err != nil {
			return Matches{}, err
		}
		for line, of := range all {
			for from := 0; from < len(of); from += t.encoder.Width {
				token := of[from : from+t.encoder.Width]
				if err := encode.Unit(token); err != nil {
					return Matches{}, badinput.Errorf("a token of %q %w", lines[line], err)
				}
				places, rows = append(places, place{l, line}), append(rows, token...)
			}
			if l == 0 {
				ends = append(ends, len(places))
			}
		}
	}
	all, chosen := embedding.FromFloat32(rows, t.encoder.Width), draw(ends)
	queries := embedding.Matrix{N: len(chosen), Dim: all.Dim}
	for _, at := range chosen {
		queries.F32 = append(queries.F32, rows[at*all.Dim:(at+1)*all.Dim]...)
	}
	found, err := searcher.Search(ctx, index.Side{Vectors: queries}, index.Side{Vectors: all}, nearest+1, nil)
	if err != nil {
		return Matches{}, err
	}
	return count(chosen, found.Source.IDs, places), nil
}

// draw draws tokens of each sentence, which end at ends.
func draw(ends []int) (chosen []int) {
	rng, begin := rand.New(rand.NewPCG(1, 0)), 0
	for _, end := range ends {
		of := rng.Perm(end - begin)
		for _, at := range of[:min(perSentence, len(of))] {
			chosen = append(chosen, begin+at)
		}
		begin = end
	}
	return chosen
}

// count counts the neighbours [len(chosen), nearest+1] of tokens by their places. The token itself is left out, or
// another one with the same vector.
func count(chosen []int, neighbours []int32, places []place) (m Matches) {
	n := 0
	for i, at := range chosen {
		of := neighbours[i*(nearest+1) : (i+1)*(nearest+1)]
		itself := max(0, slices.Index(of, int32(at)))
		if of[itself] != int32(at) {
			itself = nearest
		}
		for j, id := range of {
			if j == itself || id < 0 {
				continue
			}
			n++
			q, p := places[at], places[id]
			switch {
			case p == q:
				m.Same++
			case p.line == q.line:
				m.Translation++
			case p.language == q.language:
				m.Language++
			default:
				m.Other++
			}
		}
	}
	for _, share := range []*float64{&m.Same, &m.Translation, &m.Language, &m.Other} {
		*share *= 100 / float64(max(n, 1))
	}
	return m
}
