// Package layers computes the layers of an encoder that `mine model quantise` wrote, in products of 8-bit numbers:
// attention, rotary positions, feed-forward layers, convolutions and normalisation, from the embeddings of tokens to
// the last layer's, or to their mean. ONNX Runtime has an operator of its own for each step of these, which takes
// longer than the products; here a product's scale, bias, activation and residual sum are one pass.
//
// What stands before the layers in the graph, and after them, is ONNX Runtime's, and so is a graph of another form, and
// every graph on a processor without AVX-512 and VNNI.
package layers

/*
#cgo CFLAGS: -O3 -std=c11 -D_GNU_SOURCE
#cgo LDFLAGS: -lm
#include "kernels.h"
*/
import "C"

import (
	"bitextmine/encode/matrix"
	"bitextmine/encode/onnxgraph"
)

// Layers computes the layers of a graph. Sums of products are exact, each row or sentence has its own scales, and all
// other sums add the values of one sentence in a fixed order. So a vector depends only on its sentence.
type Layers struct {
	// From is the tensor that the layers take, float32 [batch, tokens, Columns].
	From    string
	Columns int
	// To is the tensor that they give: float32 [batch, tokens, Width], or [batch, Width] if Pooled.
	To     string
	Width  int
	Pooled bool

	// Words, if not nil, is the table of which From is made, by what stands between Words.To and From.
	Words *Words

	steps   []step
	tensors []tensor
	buffers []buffer
	result  int // the tensor To
	slots   []int
}

// tensor is a part of the columns of a buffer.
type tensor struct {
	buffer, offset, columns int
}

// buffer has rows of tensors, one a token, or one a sentence of those after the mean.
type buffer struct {
	columns int
	last    int // the last step that needs it
	slot    int // the memory that it lies in; several lie in one, one after the other
}

// none is no tensor.
const none = -1

// step computes a tensor of others.
type step struct {
	op           operation
	x, y, z      int // tensors
	out          int
	after        activation // applied to a product's sums, or to x
	times        bool       // the result is multiplied by y; otherwise y, if there is one, is added
	product      *product
	first, other []float32 // a row that is added, or a normalisation's scale and bias
	epsilon      float32
	heads        int     // number of parts of the columns that are normalised, turned or attend apart
	shared       int     // heads of keys and values
	scale        float32 // scale of attention scores
	sight        sight
	rotary       *rotary
}

type operation int

const (
	multiply  operation = iota // x by a product's matrix
	apply                      // after(x) with y or a row added
	normalise                  // layer normalisation: mean and variance
	rescale                    // RMS normalisation
	rotate
	mean
	attend // x: queries, y: keys, z: values
	first  // the first token of each sentence, in a graph that was not quantised
)

// sight is how many tokens before and behind itself a token attends to; -1: all.
type sight struct{ before, behind int }

// product is a matrix in the order that matrix.Product takes it in.
type product struct {
	k, columns int
	matrix     []int8
	shift      []int32
	scales     []float32
	bias       []float32        // nil: none
	weight     onnxgraph.Weight // [k, columns] in float32, in place of matrix, shift and scales
	// A convolution takes the rows of `width` tokens at once, the first of them `before` tokens before its own.
	width, before int
}

// gap is how many rows of nothing stand between the sentences of a convolution.
func (p *product) gap() int { return max(p.before, p.width-1-p.before) }

// Find reads the layers of a graph, of which the output needs all; nil if there are none, or if they have another form
// than the steps know. ids is the graph's input of words, mask the one that is 1 for every token; "" if it has none.
// Packed matrices stay where they are in the graph's file, which must be kept.
func Find(g *onnxgraph.Graph, ids, mask, output string) *Layers {
	if !matrix.Supported() {
		return nil
	}
	l := read(g, mask, output, true)
	if l == nil {
		l = read(g, mask, output, false)
	}
	if l != nil {
		l.Words = findWords(g, ids)
	}
	return l
}
