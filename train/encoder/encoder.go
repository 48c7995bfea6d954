// Package encoder holds the models that training changes: what turns token ids into sentence vectors, and a loss's
// gradients into the weights'.
package encoder

import (
	"context"

	"bitextmine/train/data"
	"bitextmine/train/weights"
)

// Encoder is a model in training. Its methods are for one goroutine at a time; they use as many processors as they
// like, and give the same numbers on any number of them.
type Encoder interface {
	Dim() int
	// Weights are all that is learned or frozen, in a fixed order: first the table of words [vocabulary, width].
	Weights() []*weights.Tensor
	// Forward gives the vectors [n, dim] of a side, not normalised. With a seed other than zero it drops what training
	// drops.
	Forward(ctx context.Context, side data.Side, seed uint64) ([]float32, error)
	// Backward adds to the weights' gradients what the gradients of the vectors [n, dim] give, for vectors that Forward
	// gave with the same seed.
	Backward(ctx context.Context, side data.Side, seed uint64, gradients []float32) error
}

var (
	_ Encoder = (*Bag)(nil)
	_ Encoder = (*Transformer)(nil)
)
