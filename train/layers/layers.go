// Package layers has the parts of transformers as functions on the nodes of a GoMLX graph: dense layers, layer
// normalisation, attention, FFN, embeddings, masks and dropout. Encoders are built from them, and so are the heads and
// decoders of objectives.
//
// A stack processes n sequences of one length. Its x are [n·length, width]: with two axes every product is one matrix
// multiplication.
package layers

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/core/graph"

	"bitextmine/train/weights"
)

// Norm is the position of the layer normalisation.
type Norm string

// PostNorm normalises the embeddings and every sum with a residual (Vaswani et al., 2017; BERT, XLM-R); PreNorm
// normalises the inputs of attention and FFN, and once more after the last layer.
const (
	PostNorm Norm = "post"
	PreNorm  Norm = "pre"
)

// Activation is the function between the FFN's two products.
type Activation string

// GELU is x·Φ(x); GELUTanh is its approximation by tanh (Hendrycks and Gimpel, 2016).
const (
	GELU     Activation = "gelu"
	GELUTanh Activation = "gelu_tanh"
	ReLU     Activation = "relu"
)

// Precision is the type of the products in a training step.
type Precision string

// BFloat16 rounds the operands and results of products to bfloat16, also in the gradients. Sums in a product, softmax,
// normalisation, residuals, the loss, the weights and the optimiser stay in float32 (Micikevicius et al., 2018).
// bfloat16 has the range of float32, so the loss needs no scaling.
const (
	Float32  Precision = "float32"
	BFloat16 Precision = "bfloat16"
)

// Shape is the shape of the layers of one stack.
type Shape struct {
	Heads, Width, FFN int
	Norm              Norm
	Activation        Activation
	Epsilon           float64 // layer normalisation's
	Precision         Precision
}

// Check calls check for every setting of the shape.
func (s Shape) Check(check func(ok bool, format string, args ...any)) {
	check(s.Heads >= 1 && s.Width >= 1 && s.Width%max(s.Heads, 1) == 0,
		"width is %d but must be a multiple of heads, %d", s.Width, s.Heads)
	check(s.FFN >= 1, "ffn is %d but must be at least 1", s.FFN)
	OneOf(check, "norm", s.Norm, PostNorm, PreNorm)
	OneOf(check, "activation", s.Activation, GELU, GELUTanh, ReLU)
	OneOf(check, "precision", s.Precision, Float32, BFloat16)
	check(s.Epsilon > 0, "epsilon is %v but must be above 0", s.Epsilon)
}

// OneOf checks that a setting has one of its allowed values.
func OneOf[T ~string](check func(bool, string, ...any), field string, value T, known ...T) {
	check(slices.Contains(known, value), "%s is %q but must be one of %v", field, value, known)
}

// Specs are the weights of the named layer, in the order in which Layer reads them.
func (s Shape) Specs(name string) []weights.Spec {
	var specs []weights.Spec
	for _, part := range []string{"query", "key", "value", "out"} {
		specs = append(specs, DenseSpecs(name+".attention."+part, s.Width, s.Width)...)
	}
	specs = append(specs, NormSpecs(name+".attention.norm", s.Width)...)
	specs = append(specs, DenseSpecs(name+".ffn.in", s.Width, s.FFN)...)
	specs = append(specs, DenseSpecs(name+".ffn.out", s.FFN, s.Width)...)
	return append(specs, NormSpecs(name+".ffn.norm", s.Width)...)
}

// Name is the name of layer i of a stack.
func Name(stack string, i int) string { return fmt.Sprintf("%s.%d", stack, i) }

// Stack builds layers for n sequences of one length in a graph.
type Stack struct {
	Shape
	Params    map[string]*graph.Node // the tensors of Specs by name
	Dropout   *Dropout               // nil drops nothing
	N, Length int
}

// Layer is attention and FFN, each with its residual, dropout and normalisation. bias is added to the attention scores:
// that of Padding, of Causal, or their sum.
func (s *Stack) Layer(name string, x, bias *graph.Node) *graph.Node {
	attend := func(x *graph.Node) *graph.Node { return s.Dropout.Apply(s.Attention(name+".attention", x, bias)) }
	feed := func(x *graph.Node) *graph.Node { return s.Dropout.Apply(s.FeedForward(name+".ffn", x)) }
	if s.Norm == PreNorm {
		x = graph.Add(x, attend(s.Normalise(name+".attention.norm", x)))
		return graph.Add(x, feed(s.Normalise(name+".ffn.norm", x)))
	}
	x = s.Normalise(name+".attention.norm", graph.Add(x, attend(x)))
	return s.Normalise(name+".ffn.norm", graph.Add(x, feed(x)))
}
