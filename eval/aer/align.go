package aer

import (
	"context"

	"bitextmine/align"
	"bitextmine/align/pharaoh"
	"bitextmine/align/word"
)

// Result is the figures of one way to combine the directions.
type Result struct {
	Symmetry word.Symmetry
	Counts
}

// Align aligns the set with package word, together with further bitext if more is not nil, and measures every way to
// combine both directions.
func (s Set) Align(ctx context.Context, more *align.Input, words align.Words) ([]Result, error) {
	var pairs word.Pairs
	for _, text := range s.Text {
		pairs.Add(text[0], text[1])
	}
	if more != nil {
		err := more.Each(ctx, func(source, target string) error {
			pairs.Add(words.Splitter.Words(source), words.Splitter.Words(target))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	found, err := word.Align(ctx, &pairs, words.Model, func(word.Progress) {})
	if err != nil {
		return nil, err
	}
	var out []Result
	for _, how := range word.Symmetries {
		c, err := s.Measure(func(i int) []pharaoh.Link { return found.Of(i, how) })
		if err != nil {
			return nil, err
		}
		out = append(out, Result{how, c})
	}
	return out, nil
}
