package objective

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
)

// tiny is added to squared lengths, so that a zero vector has a cosine, which is 0, and a gradient.
const tiny = 1e-12

// Normalise divides the rows of x [n, dim] by their L2 norms.
func Normalise(x *graph.Node) *graph.Node {
	squares := graph.ReduceAndKeep(graph.Mul(x, x), graph.ReduceSum, -1)
	return graph.Div(x, graph.Sqrt(graph.AddScalar(squares, tiny)))
}

// Cosines returns the cosines of all rows of u [n, dim] with all rows of v [m, dim], divided by the temperature, [n,
// m].
func Cosines(u, v *graph.Node, temperature float64) *graph.Node {
	return Products(Normalise(u), Normalise(v), temperature)
}

// Products returns the products of all rows of u [n, dim] with all rows of v [m, dim], divided by the temperature, [n,
// m].
func Products(u, v *graph.Node, temperature float64) *graph.Node {
	return graph.DotGeneral(graph.MulScalar(u, 1/temperature), []int{1}, nil, v, []int{1}, nil)
}

// LowerOwn subtracts a margin from the diagonal of logits [n, n].
func LowerOwn(logits *graph.Node, margin float64) *graph.Node {
	if margin == 0 {
		return logits
	}
	return graph.Sub(logits, graph.MulScalar(identity(logits), margin))
}

// identity is the identity matrix with the shape of logits [n, n].
func identity(logits *graph.Node) *graph.Node {
	square := shapes.Make(dtypes.Int32, logits.Shape().Dimensions...)
	row, column := graph.Iota(logits.Graph(), square, 0), graph.Iota(logits.Graph(), square, 1)
	return graph.ConvertDType(graph.Equal(row, column), logits.DType())
}

// LogSumExp is log Σ exp x over an axis, which is kept with length 1.
func LogSumExp(x *graph.Node, axis int) *graph.Node {
	top := graph.StopGradient(graph.ReduceAndKeep(x, graph.ReduceMax, axis))
	return graph.Add(graph.Log(graph.ReduceAndKeep(graph.Exp(graph.Sub(x, top)), graph.ReduceSum, axis)), top)
}

// CrossEntropy is -(1/n) Σ w log softmax(logits) over an axis; w and logits are [n, m]. The sum of w along the axis
// need not be 1.
func CrossEntropy(w, logits *graph.Node, axis int) *graph.Node {
	surprise := graph.Sub(LogSumExp(logits, axis), logits)
	return graph.MulScalar(graph.ReduceAllSum(graph.Mul(w, surprise)), 1/float64(logits.Shape().Dimensions[0]))
}

// Ranking is the cross-entropy with hard labels: the label of row i is column i. own is the OwnSum of the first n
// columns of logits [n, m], with m at least n.
func Ranking(own, logits *graph.Node, axis int) *graph.Node {
	return graph.MulScalar(graph.Sub(graph.ReduceAllSum(LogSumExp(logits, axis)), own),
		1/float64(logits.Shape().Dimensions[0]))
}

// OwnSum is the sum of the diagonal of logits [n, n].
func OwnSum(logits *graph.Node) *graph.Node {
	return graph.ReduceAllSum(graph.Mul(logits, identity(logits)))
}

// Tokens is Σ share · -log softmax(x·Wᵀ + b) at id, over the rows of x [n, width]: the cross-entropy of tokens whose
// logits are products with a table W [vocabulary, width]. b may be nil. ids [n, 1] are int64, shares [n].
func Tokens(x, table, bias, ids, shares *graph.Node) *graph.Node {
	n, vocabulary := x.Shape().Dimensions[0], table.Shape().Dimensions[0]
	logits := graph.DotGeneral(x, []int{1}, nil, table, []int{1}, nil)
	// The own logit from its row of the table, because a gradient by logits [n, vocabulary] would be as large again.
	own := graph.ReduceSum(graph.Mul(x, graph.Gather(table, ids)), 1)
	if bias != nil {
		logits = graph.Add(logits, graph.Reshape(bias, 1, vocabulary))
		own = graph.Add(own, graph.Reshape(graph.Gather(graph.Reshape(bias, vocabulary, 1), ids), n))
	}
	all := graph.Reshape(LogSumExp(logits, 1), n)
	return graph.ReduceAllSum(graph.Mul(shares, graph.Sub(all, own)))
}
