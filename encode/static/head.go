package static

/*
#cgo LDFLAGS: -lm
#include "head.h"
*/
import "C"

import (
	"slices"
	"strings"
	"sync"
	"unsafe"

	"bitextmine/encode/embedding"
	"bitextmine/encode/matrix"
	"bitextmine/encode/onnxgraph"
)

// Names of the tensors that `mine model quantise` adds to a graph; they identify an 8-bit head. The numbers of a
// product's input x are in Quantised + x + Numbers, with 128 for 0, and their scale in Quantised + x + Greatest.
//
// A table's rows and their scales are in Quantised + table + Rows and Scales; of the words' tensor w, Quantised + w +
// Bytes has the rows looked up, Floats the same as float32, and Scales their scales.
const (
	Quantised = "mine.int8."
	Numbers   = ".numbers"
	Greatest  = ".greatest"
	Rows      = ".rows"
	Scales    = ".scales"
	Bytes     = ".bytes"
	Floats    = ".floats"
)

// Unpack is the order of axes that makes [k/4, 4, columns/16, 16] of a packed matrix [columns/16, k/4, 16, 4].
var Unpack = []int{1, 3, 0, 2}

// Head computes a static encoder's vectors from its sums in products of 8-bit numbers, as the graph does, but for the
// last bits. Sums of products are exact, and every row has a scale of its own, so a vector depends on its sums alone,
// and is the same on every processor.
type Head struct {
	steps   []step
	columns []int // columns per tensor
}

// step computes a tensor of others, by their numbers.
type step struct {
	op      string
	x, y    int
	out     int
	product *product
	matrix  []float32 // [columns/32, rows, 32]
	at      int       // how many numbers of a column this processor multiplies at once
}

// product is a matrix in the order in which this processor takes it.
type product struct {
	packed []int8  // matrix.Product's matrix
	shift  []int32 // matrix.Product's
	pairs  []int16 // head_product_avx2's matrix
	wide   []int16 // head_product's matrix, for a processor that has neither
	scales []float32
}

// Memory holds the working buffers of Head.Vectors.
type Memory struct {
	tensors   [][]float32
	numbers   []uint8
	greatest  []float32
	quantised int // tensor that the numbers represent
}

// FindHead reads the head of a graph in 8 bits, from the sums on; nil if it is none or has another operator: then ONNX
// Runtime computes it.
func FindHead(g *onnxgraph.Graph, output string, t *Table) *Head {
	if t.dim%width != 0 || !Finite(t.scales) || !Finite(t.zeros) {
		return nil
	}
	r := headReader{weights: map[string]onnxgraph.Tensor{}, tensors: map[string]int{Sums: 0}, units: map[string]unit{},
		casts: map[string]onnxgraph.Tensor{}}
	r.head.columns = []int{t.dim}
	nodes, takes := g.Between(Sums, output)
	for _, w := range g.Initializers {
		if takes[w.Name] {
			if tensor, err := w.Tensor(); err == nil {
				r.weights[w.Name] = tensor
			}
		}
	}
	for _, i := range nodes {
		if !r.add(g.Nodes[i]) {
			return nil
		}
	}
	last := len(r.head.columns) - 1
	if at, ok := r.tensors[output]; !ok || at != last ||
		!slices.ContainsFunc(r.head.steps, func(s step) bool { return s.product != nil }) {
		return nil
	}
	return &r.head
}

// How many numbers of a column are multiplied at once.
const (
	one  = 1 // any processor
	two  = 2 // AVX2 and FMA
	four = 4 // AVX-512 and VNNI
)

// together is how many this processor multiplies at once.
var together = sync.OnceValue(func() int {
	switch {
	case matrix.Supported():
		return four
	case C.head_has_avx2() != 0:
		return two
	}
	return one
})

// headReader makes steps of nodes.
type headReader struct {
	head    Head
	weights map[string]onnxgraph.Tensor
	tensors map[string]int              // numbers of those that steps compute
	units   map[string]unit             // products that are not yet multiplied by their rows' scales
	casts   map[string]onnxgraph.Tensor // weights in float16 that the graph turns into float32
}

// unit is a product without its rows' scales, which are another tensor.
type unit struct {
	step
	scale string
}

// width is how many numbers are taken together, and block how many columns of a matrix.
const (
	width = C.HEAD_WIDTH
	block = C.HEAD_BLOCK
)

// maxRows is the greatest number of rows of an 8-bit matrix, because head_product has numbers for each on its stack.
const maxRows = 1 << 14

// add makes a step of a node, and reports whether it can.
func (r *headReader) add(n onnxgraph.Node) bool {
	if len(n.Outputs) != 1 || len(n.Inputs) == 0 {
		return false
	}
	out := n.Outputs[0]
	if u, ok := r.units[n.Inputs[0]]; ok && n.Op == "Mul" {
		return len(n.Inputs) == 2 && n.Inputs[1] == u.scale && r.step(u.step, out, len(u.product.scales))
	}
	x, known := r.tensors[n.Inputs[0]]
	switch n.Op {
	case "MatMulIntegerToFloat":
		u, ok := r.product(n.Inputs)
		r.units[out] = u
		return ok
	case "Cast":
		w, ok := r.weights[n.Inputs[0]]
		a, err := n.Attributes()
		r.casts[out] = w
		return ok && err == nil && w.Type == onnxgraph.Float16 && a["to"].First(0) == int(onnxgraph.Float32)
	case "MatMul":
		return known && len(n.Inputs) == 2 && r.multiply(x, n.Inputs[1], out)
	case "Identity":
		r.tensors[out] = x
		return known
	case "Relu", "Tanh":
		return known && r.step(step{op: n.Op, x: x}, out, r.head.columns[x])
	case "LpNormalization":
		a, err := n.Attributes()
		axis := a["axis"].First(-1)
		return known && err == nil && (axis == 1 || axis == -1) && a["p"].First(2) == 2 &&
			r.step(step{op: n.Op, x: x}, out, r.head.columns[x])
	case "Add":
		if len(n.Inputs) != 2 {
			return false
		}
		y, also := r.tensors[n.Inputs[1]]
		return known && also && r.head.columns[x] == r.head.columns[y] &&
			r.step(step{op: n.Op, x: x, y: y}, out, r.head.columns[x])
	case "ReduceMax", "ReduceMin", "Neg", "Max", "Div", "Mul", "QuantizeLinear": // operations of head_quantise
		return strings.HasPrefix(out, Quantised)
	}
	return false
}

// step adds a step with a new tensor.
func (r *headReader) step(s step, out string, columns int) bool {
	s.out = len(r.head.columns)
	r.tensors[out] = s.out
	r.head.columns, r.head.steps = append(r.head.columns, columns), append(r.head.steps, s)
	return true
}

// product reads the inputs of a MatMulIntegerToFloat.
func (r *headReader) product(inputs []string) (unit, bool) {
	if len(inputs) != 5 {
		return unit{}, false
	}
	name := strings.TrimSuffix(strings.TrimPrefix(inputs[0], Quantised), Numbers)
	x, ok := r.tensors[name]
	w, scales := r.weights[inputs[1]], r.weights[inputs[3]]
	if !ok || inputs[0] != Quantised+name+Numbers || w.Type != onnxgraph.Int8 || len(w.Shape) != 2 ||
		scales.Type != onnxgraph.Float32 {
		return unit{}, false
	}
	rows, columns := w.Shape[0], w.Shape[1]
	if rows != r.head.columns[x] || rows > maxRows || columns%block != 0 || columns == 0 || len(scales.Data) != 4*columns ||
		!Finite(scales.Float32s()) {
		return unit{}, false
	}
	p := newProduct(w.Data, columns, slices.Clone(scales.Float32s()), together())
	return unit{step{op: "product", x: x, product: p}, Quantised + name + Greatest}, true
}

// multiply adds a product with a matrix in float16.
func (r *headReader) multiply(x int, matrix, out string) bool {
	w, ok := r.casts[matrix]
	if !ok || len(w.Shape) != 2 || w.Shape[0] != r.head.columns[x] || w.Shape[1]%block != 0 || w.Shape[1] == 0 {
		return false
	}
	rows, columns := w.Shape[0], w.Shape[1]
	all, line, packed := w.Uint16s(), make([]float32, columns), make([]float32, rows*columns)
	for i := range rows {
		embedding.Matrix{N: rows, Dim: columns, F16: all}.Float32(line, i, i+1)
		for j := 0; j < columns; j += block {
			copy(packed[j*rows+i*block:], line[j:j+block])
		}
	}
	return Finite(packed) && r.step(step{op: "MatMul", x: x, matrix: packed, at: together()}, out, columns)
}

// newProduct packs a matrix of 8-bit numbers [rows, columns] and the scales of its columns.
func newProduct(numbers []byte, columns int, scales []float32, together int) *product {
	p, rows := &product{scales: scales}, len(numbers)/columns
	switch together {
	case four:
		p.packed = matrix.Pack(numbers, columns)
		p.shift = matrix.Shifts(p.packed, columns)
	case two:
		p.pairs = make([]int16, len(numbers))
		for i, b := range numbers {
			row, column := i/columns, i%columns
			p.pairs[column/width*rows*width+row/two*width*two+column%width*two+row%two] = int16(int8(b))
		}
	default:
		p.wide = make([]int16, len(numbers))
		for i, b := range numbers {
			p.wide[i%columns*rows+i/columns] = int16(int8(b))
		}
	}
	return p
}

// Dim is the number of a vector's columns.
func (h *Head) Dim() int { return h.columns[len(h.columns)-1] }

// Vectors writes the vectors [n, Dim] of sums [n, columns].
func (h *Head) Vectors(m *Memory, sums []float32, n int, out []float32) {
	last := len(h.columns) - 1
	m.tensors = slices.Grow(m.tensors[:0], last+1)[:last+1]
	m.quantised = -1
	for i := 1; i < last; i++ {
		if need := n * h.columns[i]; cap(m.tensors[i]) < need {
			m.tensors[i] = make([]float32, need)
		} else {
			m.tensors[i] = m.tensors[i][:need]
		}
	}
	m.tensors[0], m.tensors[last] = sums, out
	for _, s := range h.steps {
		x, to, columns := floats(m.tensors[s.x]), floats(m.tensors[s.out]), C.int64_t(h.columns[s.out])
		all := C.int64_t(n) * columns
		switch s.op {
		case "product":
			h.multiply(m, s, n)
		case "MatMul":
			rows, inner, matrix := C.int64_t(n), C.int64_t(h.columns[s.x]), floats(s.matrix)
			switch s.at {
			case four:
				C.head_multiply_avx512(x, rows, inner, matrix, columns, to)
			case two:
				C.head_multiply_avx2(x, rows, inner, matrix, columns, to)
			default:
				C.head_multiply(x, rows, inner, matrix, columns, to)
			}
		case "Relu":
			C.head_relu(x, all, to)
		case "Tanh":
			C.head_tanh(x, all, to)
		case "Add":
			C.head_add(x, floats(m.tensors[s.y]), all, to)
		case "LpNormalization":
			C.head_normalise(x, C.int64_t(n), columns, to)
		}
	}
	m.tensors[0], m.tensors[last] = nil, nil
}

// multiply runs a product; several of one tensor share its numbers.
func (h *Head) multiply(m *Memory, s step, n int) {
	k, columns := h.columns[s.x], h.columns[s.out]
	room := (n + matrix.SpareRows) * k
	m.numbers, m.greatest = slices.Grow(m.numbers[:0], room)[:room], slices.Grow(m.greatest[:0], n)[:n]
	numbers, greatest := (*C.uint8_t)(unsafe.SliceData(m.numbers)), floats(m.greatest)
	if m.quantised != s.x {
		C.head_quantise(floats(m.tensors[s.x]), C.int64_t(n), C.int64_t(k), numbers, greatest)
		m.quantised = s.x
	}
	p, rows, inner, outer := s.product, C.int64_t(n), C.int64_t(k), C.int64_t(columns)
	scales, out := floats(p.scales), floats(m.tensors[s.out])
	switch {
	case p.packed != nil:
		product := matrix.Product{Numbers: m.numbers, Step: k, N: n, K: k, Matrix: p.packed, Columns: columns, Shift: p.shift,
			Scales: p.scales, Greatest: m.greatest, Out: unsafe.SliceData(m.tensors[s.out]), Stride: columns}
		product.Compute()
	case p.pairs != nil:
		C.head_product_avx2(numbers, rows, inner, (*C.int16_t)(unsafe.SliceData(p.pairs)), scales, greatest, outer, out)
	default:
		C.head_product(numbers, rows, inner, (*C.int16_t)(unsafe.SliceData(p.wide)), scales, greatest, outer, out)
	}
}

// Finite reports whether no number is infinite or NaN.
func Finite(numbers []float32) bool {
	return !slices.ContainsFunc(numbers, func(x float32) bool { return x-x != 0 })
}

func floats(s []float32) *C.float { return (*C.float)(unsafe.SliceData(s)) }
