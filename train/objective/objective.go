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

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/encoder"
	"bitextmine/train/weights"
)

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
