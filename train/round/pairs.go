package round

import (
	"context"
	"errors"

	"bitextmine/bitext"
)

// pairs is a set of pairs, by the keys of both sentences.
type pairs map[[2][16]byte]struct{}

// shared is the number of pairs that are in both sets.
func (p pairs) shared(others pairs) (n int) {
	for pair := range p {
		if _, ok := others[pair]; ok {
			n++
		}
	}
	return n
}

// kept reads the mined pairs to train on, and counts those that mining kept.
func (r *runner) kept(ctx context.Context, path string) (_ pairs, mined int, err error) {
	f, err := bitext.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	found := pairs{}
	for row, err := range f.Rows(ctx) {
		if err != nil {
			return nil, 0, err
		}
		if !row.Keep {
			continue
		}
		mined++
		c := r.config
		if c.MinScore != nil && float64(row.Score) < *c.MinScore {
			continue
		}
		// training refuses a file without probabilities
		if c.MinProb != nil && row.Prob != nil && float64(*row.Prob) < *c.MinProb {
			continue
		}
		found[[2][16]byte{row.Source.Key, row.Target.Key}] = struct{}{}
	}
	return found, mined, nil
}
