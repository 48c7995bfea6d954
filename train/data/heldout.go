package data

import (
	"context"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
)

// ReadHeldOut reads the keys of sentences that must not be trained on, whatever their language.
func ReadHeldOut(ctx context.Context, patterns []string) (map[corpus.Key]struct{}, error) {
	keys := map[corpus.Key]struct{}{}
	files, err := input.Expand(nil, patterns)
	if err != nil {
		return nil, err
	}
	for _, in := range files {
		for s, err := range corpus.Sentences(in, corpus.DefaultOptions()) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, err
			}
			keys[corpus.KeyOf(s.Normal)] = struct{}{}
		}
	}
	return keys, nil
}
