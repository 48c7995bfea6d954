package round

import (
	"context"
	"errors"

	"bitextmine/bitext"
)

// pairs are the keys of both sentences of each pair.
type pairs map[[2][16]byte]struct{}

// shared is how many of the pairs the others have too.
func (p pairs) shared(others pairs) (n int) {
	for pair := range p {
		if _, ok := others[pair]; ok {
			n++
		}
	}
	return n
}

// kept reads the mined pairs that are trained on, and counts those that mining kept.
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
		if c.MinProb != nil && row.Prob != nil && float64(*row.Prob) < *c.MinProb { // a file without probabilities is training's to refuse
			continue
		}
		found[[2][16]byte{row.Source.Key, row.Target.Key}] = struct{}{}
	}
	return found, mined, nil
}
