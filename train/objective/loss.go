// Package objective defines the interface of a loss and has the registry of the losses that a preset may name. Each
// objective is a package of its own that registers a Descriptor. Package systems links all of them.
//
// An objective declares the views of a batch that are encoded (the two sides, hard negatives, masked copies) and builds
// its terms as nodes of a graph over the encoded views. It does not depend on how they were encoded: vectors are inputs
// of the graph if they are cached (a bag, GradCache), and inner nodes of a transformer's graph if the whole step is one
// graph. The graph computes the gradients. Package train/step combines the parts.
package objective

import (
	"context"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/encoder"
	"bitextmine/train/weights"
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

// Hide leaves out of logits [n, m] the candidates whose likeness [n, m] is above most. With ownOnDiagonal the matrices
// are square and the diagonal, which has each row's own candidate, stays.
func Hide(logits, likeness *graph.Node, most float64, ownOnDiagonal bool) *graph.Node {
	hidden := graph.ConvertDType(graph.LessThan(graph.Scalar(logits.Graph(), logits.DType(), most), likeness), logits.DType())
	if ownOnDiagonal {
		hidden = graph.Mul(hidden, graph.OneMinus(identity(logits)))
	}
	return graph.Sub(logits, graph.MulScalar(graph.StopGradient(hidden), 1e9))
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

// Objective is a loss. One value is for one training. Its methods must not be called concurrently.
type Objective interface {
	// Heads are the objective's own tensors. They are not exported with the encoder.
	Heads() []weights.Spec
	// Terms are the names and weights of the loss's terms, in the order of Loss.
	Terms() []Term
	// Views returns the sides that are encoded for a batch, in the order of Step.Views: sides of the batch or changed
	// copies of them. The batch is not changed. The same batch gives the same views, and every batch the same number of
	// them.
	Views(b *data.Batch) ([]data.Side, error)
	// Inputs computes, on the host, the inputs of the graph other than the encoded views: teacher vectors, word counts,
	// language ids. views are the result of Views. The shapes depend on those of the views; where they do not, they are
	// few, because a graph is compiled for each. It may block (a teacher encodes) and obeys ctx.
	Inputs(ctx context.Context, b *data.Batch, views []data.Side) ([]*tensors.Tensor, error)
	// Loss builds the value of each term, a float32 scalar. It is called once for each shape of batch.
	Loss(s Step) []*graph.Node
}

// Step is the part of a step's graph that a loss is built on.
type Step struct {
	Views []encoder.Encoded // the same order as Views
	// the tensors of Heads by name, and the encoder's embedding table if Needs.Table is set
	Heads  map[string]*graph.Node
	Inputs []*graph.Node // the same order as Inputs
}

// Vectors are the vectors of a view [n, dim], not normalised.
func (s Step) Vectors(view int) *graph.Node { return s.Views[view].Vectors }

// Term is one summand of a loss, as logged. The loss is the sum of weight x value.
type Term struct {
	Name   string
	Weight Weight
}

// Weight is the factor of a term. It changes linearly from From to To over the first Steps optimiser steps and then
// stays at To.
type Weight struct {
	From, To float64
	Steps    int
}

// Fixed is a weight that does not change.
func Fixed(weight float64) Weight { return Weight{To: weight} }

// At is the weight in an optimiser step, counted from 0.
func (w Weight) At(step int) float64 {
	if step >= w.Steps {
		return w.To
	}
	return w.From + (w.To-w.From)*float64(step)/float64(w.Steps)
}
