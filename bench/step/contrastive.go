package main

import (
	"context"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/objective"
	"bitextmine/train/weights"
)

// contrastive is the plainest objective, -log softmax of the pairs' cosines / 0.05 in both directions, written here so that the two sides of the
// comparison can be read beside each other.
type contrastive struct{}

func (contrastive) Heads(int) []weights.Spec { return nil }

func (contrastive) Inputs(context.Context, *data.Batch) ([]*tensors.Tensor, error) { return nil, nil }

func (contrastive) Terms(s objective.Step) []objective.Term {
	u, v := normalise(s.Source.Vectors), normalise(s.Target.Vectors)
	logits := g.MulScalar(g.DotGeneral(u, []int{1}, nil, v, []int{1}, nil), 20)
	n := u.Shape().Dimensions[0]
	square := shapes.Make(dtypes.Int32, n, n)
	diagonal := g.ConvertDType(g.Equal(g.Iota(u.Graph(), square, 0), g.Iota(u.Graph(), square, 1)), dtypes.Float32)
	loss := g.MulScalar(g.Add(crossEntropy(logits, diagonal, 0), crossEntropy(logits, diagonal, 1)), 0.5)
	return []objective.Term{{Name: "contrastive", Weight: 1, Value: loss}}
}

func normalise(x *g.Node) *g.Node {
	return g.Div(x, g.Sqrt(g.ReduceAndKeep(g.Mul(x, x), g.ReduceSum, 1)))
}

func crossEntropy(logits, diagonal *g.Node, axis int) *g.Node {
	top := g.StopGradient(g.ReduceAndKeep(logits, g.ReduceMax, axis))
	sums := g.Add(g.Log(g.ReduceAndKeep(g.Exp(g.Sub(logits, top)), g.ReduceSum, axis)), top)
	n := float64(logits.Shape().Dimensions[0])
	return g.MulScalar(g.Sub(g.ReduceAllSum(sums), g.ReduceAllSum(g.Mul(logits, diagonal))), 1/n)
}
