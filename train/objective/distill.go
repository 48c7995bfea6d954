package objective

import (
	"context"

	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/weights"
)

// distill moves both sides to where a teacher puts the anchor side g (Reimers and Gurevych, 2020). Vectors are compared as they are, not normalised.
//
//	source = mean over pairs and numbers of (u - g)²;  target = the same of v
type distill struct{ s Settings }

func (distill) Heads(int) []weights.Spec { return nil }

// Inputs are the teacher's vectors [n, dim] of the anchors.
func (d distill) Inputs(ctx context.Context, b *data.Batch) ([]*tensors.Tensor, error) {
	anchor, _, _ := byAnchor(d.s, b)
	taught, err := anchor.taught(ctx, d.s)
	if err != nil {
		return nil, err
	}
	return []*tensors.Tensor{taught}, nil
}

func (distill) Terms(s Step) []Term {
	distance := func(x *g.Node) *g.Node {
		away := g.Sub(x, s.Inputs[0])
		return g.MulScalar(g.ReduceAllSum(g.Mul(away, away)), 1/float64(x.Shape().Size()))
	}
	return []Term{{Name: "source", Weight: 1, Value: distance(s.Source.Vectors)}, {Name: "target", Weight: 1, Value: distance(s.Target.Vectors)}}
}
