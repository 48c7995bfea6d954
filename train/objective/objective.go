// Package objective defines what a loss is, and keeps the registry of those that a preset may name. Each objective is a
// package of its own that registers a Descriptor; package systems links all of them.
//
// An objective declares the views of a batch that are encoded (the two sides, hard negatives, masked copies), and
// builds its terms as nodes of a graph over the encoded views. It never sees how they were made: vectors are inputs of
// the graph when they are cached (a bag, GradCache), and inner nodes of a transformer's graph when the whole step is
// one graph. Gradients come from the graph. Package train/step joins the parts.
package objective

import (
	"context"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/encoder"
	"bitextmine/train/weights"
)

// Objective is a loss. One value serves one training; its methods are not for concurrent use.
type Objective interface {
	// Heads are the objective's own tensors; the encoder is exported without them.
	Heads() []weights.Spec
	// Terms are the names and weights of the loss's terms, in the order of Loss.
	Terms() []Term
	// Views are the sides that are encoded for a batch, in the order of Step.Views: sides of the batch, or changed
	// copies of them. The batch stays as it is. The same batch gives the same views, and every batch as many.
	Views(b *data.Batch) ([]data.Side, error)
	// Inputs computes on the host the graph's inputs other than encoded views: teacher vectors, word counts, language
	// ids. views are those of Views. The shapes depend on the shapes of the views alone. It may block (a teacher
	// encodes) and obeys ctx.
	Inputs(ctx context.Context, b *data.Batch, views []data.Side) ([]*tensors.Tensor, error)
	// Loss builds the value of each term, a float32 scalar. It is called once for each shape of batch.
	Loss(s Step) []*graph.Node
}

// Step is the part of a step's graph that a loss is built on.
type Step struct {
	Views  []encoder.Encoded      // as Views gave them
	Heads  map[string]*graph.Node // the tensors of Heads, by name, and the encoder's table of words where Needs.Table
	Inputs []*graph.Node          // as Inputs gave them
}

// Vectors are the vectors of a view [n, dim], not normalised.
func (s Step) Vectors(view int) *graph.Node { return s.Views[view].Vectors }

// Term is one summand of a loss, as it is logged; the loss is the sum of weight x value.
type Term struct {
	Name   string
	Weight Weight
}

// Weight is the factor of a term. It changes linearly from From to To over the first Steps optimiser steps, and is To
// after them.
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
