// Package objective holds the losses that encoders are trained with, one file each, as graphs over sentence vectors.
//
// An objective never sees how vectors were made: the trainer hands it nodes, which are inputs of the graph when vectors are cached (bag, GradCache) and
// inner nodes of a transformer's graph when a step is fused. Gradients come from the graph.
package objective

import (
	"context"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/weights"
)

// Encoded is one side of a batch after the encoder.
type Encoded struct {
	Vectors *graph.Node // float32 [n, dim], not normalised
	Tokens  *graph.Node // float32 [n, length, dim], the last layer; nil when vectors are cached
	Mask    *graph.Node // bool [n, length]; nil when vectors are cached
}

// Step is what a loss is made of.
type Step struct {
	Source, Target Encoded
	Negatives      *Encoded               // vectors [n*h, dim], or nil
	Heads          map[string]*graph.Node // the tensors of Heads, by name
	Inputs         []*graph.Node          // what Inputs gave, in its order
}

// Term is one summand of a loss, a float32 scalar, as it is logged; the loss is the sum of Weight x Value.
type Term struct {
	Name   string
	Weight float64
	Value  *graph.Node
}

// Objective is a loss. One value serves one training; its methods are not for concurrent use.
type Objective interface {
	// Heads are the objective's own tensors for vectors of dim numbers; the encoder is exported without them.
	Heads(dim int) []weights.Spec
	// Inputs computes on the host what a batch brings beside its vectors: teacher vectors, counts of words, ids of languages.
	// The shapes depend on the batch's shape alone. It may block (a teacher encodes) and obeys ctx.
	Inputs(ctx context.Context, b *data.Batch) ([]*tensors.Tensor, error)
	// Terms builds the loss. It is called once for each shape of batch.
	Terms(s Step) []Term
}

// WithGradients gives the values of terms as one node [terms], then the gradient of the loss by each node of learned.
func WithGradients(terms []Term, learned []*graph.Node) []*graph.Node {
	var loss *graph.Node
	values := make([]*graph.Node, len(terms))
	for i, term := range terms {
		values[i] = graph.Reshape(term.Value, 1)
		weighted := graph.MulScalar(term.Value, term.Weight)
		if loss == nil {
			loss = weighted
		} else {
			loss = graph.Add(loss, weighted)
		}
	}
	return append([]*graph.Node{graph.Concatenate(values, 0)}, graph.Gradient(loss, learned...)...)
}
