// Package layers has the parts of transformers as functions on the nodes of a GoMLX graph: dense layers, layer
// normalisation, attention, FFN, embeddings, masks and dropout. Encoders are built from them, and so are the heads and
// decoders of objectives.
//
// A stack processes n sequences of one length. Its x are [n·length, width]: with two axes every product is one matrix
// multiplication.
package layers

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
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
	LoRA              LoRA
	KeepAttention     bool // the shares of attention are not dropped
}

// Check calls check for every setting of the shape.
func (s Shape) Check(check func(ok bool, format string, args ...any)) {
	check(s.Heads >= 1 && s.Width >= 1 && s.Width%max(s.Heads, 1) == 0,
		"width is %d but must be a multiple of heads, %d", s.Width, s.Heads)
	check(s.FFN >= 1, "ffn is %d but must be at least 1", s.FFN)
	OneOf(check, "norm", s.Norm, PostNorm, PreNorm)
	OneOf(check, "activation", s.Activation, GELU, GELUTanh, ReLU)
	OneOf(check, "precision", s.Precision, Float32, BFloat16)
	s.LoRA.Check(check)
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

// TableSpec is the spec of an embedding table [rows, width].
func TableSpec(name string, rows, width int, deviation float64) weights.Spec {
	return weights.Spec{Name: name, Shape: []int{rows, width}, Init: weights.Normal, Scale: deviation}
}

// Lookup returns the rows of a table [rows, width] for ids [n, length], int32, in the shape that a stack needs:
// [n·length, width].
func Lookup(table, ids *graph.Node) *graph.Node {
	// ONNX Runtime's backend does not support int32 indices.
	return graph.Gather(table, graph.Reshape(graph.ConvertDType(ids, dtypes.Int64), ids.Shape().Size(), 1))
}

// Rows returns x's rows from, from+step ... below to. It is a gather, because ONNX Runtime's backend has no Pad, which
// is the gradient of a slice.
func Rows(x *graph.Node, from, to, step int) *graph.Node {
	var places []int64
	for r := from; r < to; r += step {
		places = append(places, int64(r))
	}
	return graph.Gather(x, graph.Reshape(graph.Const(x.Graph(), places), len(places), 1))
}

// First is [1, length, 1], float32: 1 at the first place and 0 at the others.
func First(g *graph.Graph, length int) *graph.Node {
	places := graph.Iota(g, shapes.Make(dtypes.Int32, 1, length, 1), 1)
	return graph.ConvertDType(graph.Equal(places, graph.ScalarZero(g, dtypes.Int32)), dtypes.Float32)
}

// Sinusoids returns position embeddings [length, width]: sines in the first half of a row and cosines in the second,
// with wavelengths from 2π to 10000·2π. Vaswani et al., 2017, interleave them, which only changes the order of the
// columns. They are added to embeddings that are multiplied by sqrt(width).
func Sinusoids(length, width int) []float32 {
	out := make([]float32, length*width)
	half := (width + 1) / 2
	for p := range length {
		for i := range width {
			angle := float64(p) * math.Pow(10000, -float64(i%half)/float64(half))
			if i < half {
				out[p*width+i] = float32(math.Sin(angle))
			} else {
				out[p*width+i] = float32(math.Cos(angle))
			}
		}
	}
	return out
}

// Attention computes softmax(Q·Kᵀ / sqrt(head width) + bias)·V for every head (Vaswani et al., 2017). bias is broadcast
// to [n, heads, length, length].
func (s *Stack) Attention(name string, x, bias *graph.Node) *graph.Node {
	size := s.Width / s.Heads
	heads := func(part string) *graph.Node {
		return graph.TransposeAllAxes(graph.Reshape(s.Dense(name+"."+part, x), s.N, s.Length, s.Heads, size), 0, 2, 1,
			3)
	}
	q, k, v := heads("query"), heads("key"), heads("value")
	batch := []int{0, 1}
	scores := s.Product(graph.MulScalar(q, 1/math.Sqrt(float64(size))), 3, k, 3, batch) // [n, heads, length, length]
	shares := Softmax(graph.Add(scores, bias))
	if !s.KeepAttention {
		shares = s.Dropout.Apply(shares)
	}
	context := s.Product(shares, 3, v, 2, batch)
	return s.Dense(name+".out", graph.Reshape(graph.TransposeAllAxes(context, 0, 2, 1, 3), s.N*s.Length, s.Width))
}

// excluded is subtracted from the score of a token that must not be attended to.
const excluded = 1e9

// Present is a bool [n, length]: true where a sequence has a token, given the lengths [n], int32.
func Present(lengths *graph.Node, length int) *graph.Node {
	n := lengths.Shape().Dimensions[0]
	places := graph.Iota(lengths.Graph(), shapes.Make(dtypes.Int32, n, length), 1)
	return graph.LessThan(places, graph.Reshape(lengths, n, 1))
}

// Absent is 0 where present [n, length] is 1, and -1 times excluded where it is 0.
func Absent(present *graph.Node) *graph.Node {
	return graph.MulScalar(graph.AddScalar(present, -1), excluded)
}

// Padding is the bias [n, 1, 1, length] that excludes padding from attention. present [n, length] is 1 or 0.
func Padding(present *graph.Node) *graph.Node {
	n, length := present.Shape().Dimensions[0], present.Shape().Dimensions[1]
	return graph.Reshape(Absent(present), n, 1, 1, length)
}

// Causal is the bias [1, 1, length, length] that excludes later tokens from attention. It has the type of like.
func Causal(like *graph.Node, length int) *graph.Node {
	square := shapes.Make(dtypes.Int32, length, length)
	query, key := graph.Iota(like.Graph(), square, 0), graph.Iota(like.Graph(), square, 1)
	seen := graph.ConvertDType(graph.LessOrEqual(key, query), like.DType())
	return graph.Reshape(Absent(seen), 1, 1, length, length)
}
