// Package encoder holds the models that training changes. They turn token ids into sentence vectors, and a loss's
// gradients into gradients of their weights. Every kind of encoder is registered as a Kind.
package encoder

import (
	"context"

	"bitextmine/encode/model"
	"bitextmine/train/data"
	"bitextmine/train/export"
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
