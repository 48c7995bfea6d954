package objective

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	g "github.com/gomlx/gomlx/core/graph"
)

// least is added to squared lengths, so that a vector of zeros has a cosine, 0, and a gradient.
const least = 1e-12

// normalise divides the rows of x [n, dim] by their lengths.
func normalise(x *g.Node) *g.Node {
	return g.Div(x, g.Sqrt(g.AddScalar(g.ReduceAndKeep(g.Mul(x, x), g.ReduceSum, -1), least)))
}

// cosines are those of all rows of u [n, dim] and v [m, dim] over the temperature, [n, m].
func cosines(u, v *g.Node, temperature float64) *g.Node {
	return g.DotGeneral(g.MulScalar(normalise(u), 1/temperature), []int{1}, nil, normalise(v), []int{1}, nil)
}

// lowered takes the margin of the diagonal of logits [n, n].
func lowered(logits *g.Node, margin float64) *g.Node {
	if margin == 0 {
		return logits
	}
	return g.Sub(logits, g.MulScalar(identity(logits), margin))
}

// identity is the unit matrix of logits' shape [n, n].
func identity(logits *g.Node) *g.Node {
	square := shapes.Make(dtypes.Int32, logits.Shape().Dimensions...)
	return g.ConvertDType(g.Equal(g.Iota(logits.Graph(), square, 0), g.Iota(logits.Graph(), square, 1)), logits.DType())
}

// logSumExp is log Σ exp x over an axis, which is kept with length 1.
func logSumExp(x *g.Node, axis int) *g.Node {
	top := g.StopGradient(g.ReduceAndKeep(x, g.ReduceMax, axis))
	return g.Add(g.Log(g.ReduceAndKeep(g.Exp(g.Sub(x, top)), g.ReduceSum, axis)), top)
}

// crossEntropy is -(1/n) Σ w log softmax(logits) over an axis; w and logits are [n, m], and what w sums to along the axis need not be 1.
func crossEntropy(w, logits *g.Node, axis int) *g.Node {
	surprise := g.Sub(logSumExp(logits, axis), logits)
	return g.MulScalar(g.ReduceAllSum(g.Mul(w, surprise)), 1/float64(logits.Shape().Dimensions[0]))
}

// ranking is the same for hard labels: row i's is column i. logits are [n, m], m at least n.
func ranking(own, logits *g.Node, axis int) *g.Node {
	return g.MulScalar(g.Sub(g.ReduceAllSum(logSumExp(logits, axis)), own), 1/float64(logits.Shape().Dimensions[0]))
}

// trace is the sum of the diagonal of logits [n, n].
func trace(logits *g.Node) *g.Node { return g.ReduceAllSum(g.Mul(logits, identity(logits))) }
