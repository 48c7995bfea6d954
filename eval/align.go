package eval

import (
	"context"

	"bitextmine/align/word"
)

// AlignmentResult is the figures of one way to combine the directions.
type AlignmentResult struct {
	Symmetry word.Symmetry
	LinkCounts
}

// Align aligns the set with package word, together with further bitext if more is not nil, and measures every way to
// combine both directions.
func (s AlignmentSet) Align(ctx context.Context, more *word.FileInput,
	words word.FileAligner) ([]AlignmentResult, error) {
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
	var out []AlignmentResult
	for _, how := range word.Symmetries {
		c, err := s.Measure(func(i int) []word.Link { return found.Of(i, how) })
		if err != nil {
			return nil, err
		}
		out = append(out, AlignmentResult{how, c})
	}
	return out, nil
}
