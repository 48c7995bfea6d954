package decide

import (
	"context"
	"errors"

	"bitextmine/mine"
	"bitextmine/pipeline/view"
)

// Margins sets pairs of sentences, given by their texts, against their neighbourhoods in the run. It reads the run's
// vectors and neighbour lists and encodes nothing. A pair has nil if the run's text lacks one of its sentences.
func Margins(ctx context.Context, p *view.Pair, sources, targets []string) (_ []*mine.Candidate, err error) {
	var numbers [2][]int32
	for side, texts := range [2][]string{sources, targets} {
		if numbers[side], err = p.Numbers(ctx, side, texts); err != nil {
			return nil, err
		}
	}
	lists, _, err := neighbourhoods(ctx, p, &view.Recall{})
	if err != nil {
		return nil, err
	}
	vectors := p.OpenVectors()
	defer func() { err = errors.Join(err, vectors.Close()) }()
	out := make([]*mine.Candidate, len(sources))
	for i := range out {
		source, target := numbers[0][i], numbers[1][i]
		if source < 0 || target < 0 {
			continue
		}
		cosine, err := vectors.Cosine(ctx, source, target)
		if err != nil {
			return nil, err
		}
		c := lists.Candidate(source, target, cosine)
		out[i] = &c
	}
	return out, nil
}
