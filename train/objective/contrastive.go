package objective

import (
	"context"

	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/weights"
)

// contrastive is cross-entropy over the batch's cosines with hard labels: a source's own target among all targets, and the other way about. With a margin
// it is additive-margin softmax (Yang et al., 2019; LaBSE).
//
//	forward  = -(1/N) Σ_i log softmax_j((cos(u_i, v_j) - [i = j] margin)/T) at j = i
//	backward = the same with the roles swapped
type contrastive struct{ s Settings }

func (contrastive) Heads(int) []weights.Spec { return nil }

func (contrastive) Inputs(context.Context, *data.Batch) ([]*tensors.Tensor, error) { return nil, nil }

func (c contrastive) Terms(s Step) []Term {
	return contrast(s.Source.Vectors, s.Target.Vectors, c.s)
}

// contrast gives the contrastive terms of vectors u and v [n, dim].
func contrast(u, v *g.Node, s Settings) []Term {
	logits := lowered(cosines(u, v, s.Temperature), s.Margin/s.Temperature)
	own := trace(logits)
	terms := []Term{{Name: "forward", Weight: 1, Value: ranking(own, logits, 1)}}
	if !s.OneWay {
		terms = append(terms, Term{Name: "backward", Weight: 1, Value: ranking(own, logits, 0)})
	}
	return terms
}
