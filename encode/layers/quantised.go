package layers

import (
	"math"
	"slices"
	"strings"
	"unsafe"

	"bitextmine/encode/matrix"
	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/static"
)

// quantised are the nodes that `mine model quantise` writes for a product or a convolution.
func quantised(r *reader, n onnxgraph.Node, attributes map[string]onnxgraph.Attribute) (value, bool) {
	x, out := r.input(n, 0), n.Outputs[0]
	if n.Op == "Mul" && x.kind == unit { // the rows' scales are the product's last factor
		if len(n.Inputs) != 2 || n.Inputs[1] != x.scales {
			return value{}, false
		}
		return value{kind: rows, x: r.step(*x.unit, x.unit.product.columns)}, true
	}
	if n.Op == "MatMulIntegerToFloat" {
		return multiplied(r, n, x)
	}
	if !strings.HasPrefix(out, static.Quantised) {
		return value{}, false
	}
	switch n.Op {
	case "ReduceMax", "ReduceMin":
		return value{kind: scaffold}, x.kind == rows
	case "Neg", "Max":
		return value{kind: scaffold}, x.kind == scaffold
	case "Div", "Mul":
		return value{kind: scaffold}, r.input(n, 1).kind == scaffold
	case "QuantizeLinear":
		return ofNumbers(r, out)
	}
	return windowed(r, n, x, attributes)
}

// ofNumbers looks up an 8-bit tensor by name.
func ofNumbers(r *reader, name string) (value, bool) {
	of, ok := strings.CutSuffix(strings.TrimPrefix(name, static.Quantised), static.Numbers)
	v := value{kind: numbers, scales: static.Quantised + of + static.Greatest}
	of, v.sentence = strings.CutSuffix(of, sentence)
	x := r.values[of]
	v.x, v.turned = x.x, x.turned
	return v, ok && x.kind == rows && x.turned == v.sentence
}

// windowed are the nodes between the numbers of a convolution and its product.
func windowed(r *reader, n onnxgraph.Node, x value, attributes map[string]onnxgraph.Attribute) (value, bool) {
	switch {
	case n.Op == "Transpose" && x.kind == numbers && slices.Equal(attributes["perm"].Ints, turn):
		x.turned = !x.turned
		return x, true
	case n.Op == "Pad" && x.kind == numbers && !x.turned:
		pads := r.whole(n, 1)
		if len(pads) != 6 || pads[0] != 0 || pads[2] != 0 || pads[3] != 0 || pads[5] != 0 ||
			min(pads[1], pads[4]) < 0 || max(pads[1], pads[4]) > maxWidth || pads[1]+pads[4] == 0 {
			return value{}, false
		}
		x.kind, x.before, x.width = padded, int(pads[1]), int(pads[1]+pads[4])+1
		return x, true
	case n.Op == "Slice" && x.kind == padded:
		from, to := r.whole(n, 1), r.whole(n, 2)
		if len(from) != 1 || len(to) != 1 || !slices.Equal(r.whole(n, 3), []int64{1}) {
			return value{}, false
		}
		x.kind, x.place = window, int(from[0])
		end := from[0] - int64(x.width) + 1
		return x, to[0] == end || end == 0 && to[0] >= math.MaxInt32
	case n.Op == "Concat" && x.kind == window && attributes["axis"].First(0) == 2 && len(n.Inputs) == x.width:
		for i := range n.Inputs {
			if w := r.input(n, i); w.kind != window || w.place != i || w.x != x.x || w.scales != x.scales ||
				w.before != x.before || w.width != x.width {
				return value{}, false
			}
		}
		x.kind = windows
		return x, true
	}
	return value{}, false
}

// maxWidth bounds a convolution's tokens.
const maxWidth = 64

// turn is the order of axes that makes [batch, columns, tokens] of [batch, tokens, columns].
var turn = []int{0, 2, 1}

// multiplied reads the inputs of a MatMulIntegerToFloat: a product of x.
func multiplied(r *reader, n onnxgraph.Node, x value) (value, bool) {
	if len(n.Inputs) != 5 || x.kind != windows && (x.kind != numbers || x.sentence) {
		return value{}, false
	}
	p, scales := r.matrix(n.Inputs[1]), r.constants[n.Inputs[3]]
	if p == nil || scales.Type != onnxgraph.Float32 {
		return value{}, false
	}
	p.width, p.before, p.scales = max(1, x.width), x.before, scales.Float32s()
	if p.k != p.width*r.tensors[x.x].columns || p.columns == 0 || p.columns%(2*lanes) != 0 ||
		len(p.scales) != p.columns || !static.Finite(p.scales) {
		return value{}, false
	}
	p.shift = matrix.Shifts(p.matrix, p.columns)
	v := value{kind: unit, scales: x.scales, unit: &step{op: multiply, x: x.x, y: none, z: none, product: p}}
	return v, true
}

// matrix reads a product's matrix: [k, columns], or in the order of matrix.Product with the nodes that turn it to that.
func (s *source) matrix(name string) *product {
	if w := s.constants[name]; w.Type == onnxgraph.Int8 && len(w.Shape) == 2 && w.Shape[0]%lanes == 0 &&
		w.Shape[1]%(2*lanes) == 0 {
		p := &product{k: w.Shape[0], columns: w.Shape[1]}
		p.matrix = matrix.Pack(w.Data, p.columns)
		return p
	}
	w, ok := s.packed(name)
	if !ok {
		return nil
	}
	return &product{k: w.Shape[1] * matrix.Together, columns: w.Shape[0] * lanes,
		matrix: unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(w.Data))), len(w.Data))}
}

// packed is the constant [columns/16, k/4, 16, 4] that a matrix is made of; false: it is none.
func (s *source) packed(name string) (onnxgraph.Tensor, bool) {
	shaped := s.made[name]
	if shaped.Op != "Reshape" || len(shaped.Inputs) != 2 {
		return onnxgraph.Tensor{}, false
	}
	turned := s.made[shaped.Inputs[0]]
	if turned.Op != "Transpose" || len(turned.Inputs) != 1 {
		return onnxgraph.Tensor{}, false
	}
	attributes, err := turned.Attributes()
	w := s.constants[turned.Inputs[0]]
	return w, err == nil && slices.Equal(attributes["perm"].Ints, static.Unpack) && w.Type == onnxgraph.Int8 &&
		len(w.Shape) == 4 && w.Shape[2] == lanes && w.Shape[3] == matrix.Together && w.Shape[1]*matrix.Together%lanes == 0 &&
		slices.Equal(s.whole(shaped, 1), []int64{int64(w.Shape[1] * matrix.Together), int64(w.Shape[0] * lanes)})
}
