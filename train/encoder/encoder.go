// Package encoder holds the models that training changes. They turn token ids into sentence vectors, and a loss's
// gradients into gradients of their weights. Every kind of encoder is registered as a Kind.
package encoder

import (
	"context"

	g "github.com/gomlx/gomlx/core/graph"

	"bitextmine/encode/model"
	"bitextmine/train/data"
	"bitextmine/train/export"
	"bitextmine/train/layers"
	"bitextmine/train/weights"
)

// Encoder is a model in training. Its methods are for one goroutine at a time; they use as many processors as they
// like, and give the same numbers on any number of them.
type Encoder interface {
	Dim() int
	Longest() int // tokens of a sentence; 0: any number
	// Weights are all learned and frozen tensors, in a fixed order: first the table of words [vocabulary, width].
	Weights() []*weights.Tensor
	// Forward gives the vectors [n, dim] of a side, not normalised. With a seed other than zero it drops what training
	// drops.
	Forward(ctx context.Context, side data.Side, seed uint64) ([]float32, error)
	// Backward adds to the weights' gradients, given the gradients of the vectors [n, dim] that Forward gave with the
	// same seed.
	Backward(ctx context.Context, side data.Side, seed uint64, gradients []float32) error
	// Architecture returns the part of an Architecture that depends on the kind.
	Architecture() Architecture
	// Export returns the graph that is published, and the encoder whose vectors it gives: a table may be rounded.
	Export(name string) (*export.Graph, Encoder, error)
	// Describe changes the graph's manifest where the kind needs other than the inputs export.IDs and export.Mask and
	// the outputs export.Vectors and export.Tokens.
	Describe(m *model.Manifest)
}

var (
	_ Encoder = (*Bag)(nil)
	_ Encoder = (*Transformer)(nil)
)

// Encoded is one view of a batch after the encoder.
type Encoded struct {
	Vectors *g.Node // float32 [n, dim], pooled, not normalised
	Tokens  *g.Node // float32 [n, length, width], the last layer; nil when vectors are cached
	Mask    *g.Node // bool [n, length]; nil when vectors are cached
}

// Build builds the encoder's graph. params are all of Specs but the tables; embedded [n, length, width] is the sum of
// their rows, of the params' float type; lengths [n] int32; dropout is nil in evaluation. The places after a sentence's
// length do not change its vector.
func (s Settings) Build(params map[string]*g.Node, embedded, lengths *g.Node, dropout *layers.Dropout) Encoded {
	n, length := embedded.Shape().Dimensions[0], embedded.Shape().Dimensions[1]
	stack := &layers.Stack{Shape: s.shape(), Params: params, Dropout: dropout, N: n, Length: length}
	mask := layers.Present(lengths, length)
	present := g.ConvertDType(mask, embedded.DType()) // [n, length]
	bias := layers.Padding(present)

	x := g.Reshape(embedded, n*length, s.Width)
	if s.Norm == layers.PostNorm {
		x = stack.Normalise(embeddingNorm, x)
	}
	x = dropout.Apply(x)
	for i := range s.Layers {
		x = stack.Layer(layers.Name(stackName, i), x, bias)
	}
	if s.Norm == layers.PreNorm {
		x = stack.Normalise(finalNorm, x)
	}
	tokens := g.Reshape(x, n, length, s.Width)
	vectors := s.pool(tokens, present)
	if s.Pooling == Pooler {
		vectors = g.Tanh(stack.Dense(pooler, vectors))
	}
	if s.Projection > 0 {
		vectors = stack.Dense(projection, vectors)
	}
	return Encoded{Vectors: vectors, Tokens: tokens, Mask: mask}
}

// pool makes vectors [n, width] of tokens [n, length, width]: of a pooler, its input. present [n, length] is 1 or 0.
func (s Settings) pool(tokens, present *g.Node) *g.Node {
	n, length := present.Shape().Dimensions[0], present.Shape().Dimensions[1]
	switch s.Pooling {
	case CLS, Pooler:
		return layers.Rows(g.Reshape(tokens, n*length, s.Width), 0, n*length, length)
	case Mean:
		share := g.Div(present, g.ReduceAndKeep(present, g.ReduceSum, 1))
		return g.ReduceSum(g.Mul(tokens, g.Reshape(share, n, length, 1)), 1)
	default:
		return g.ReduceMax(g.Add(tokens, g.Reshape(layers.Absent(present), n, length, 1)), 1)
	}
}
