package layers

import (
	"math"

	"bitextmine/encode/onnxgraph"
)

// gated are the nodes of dense layers with gates: activations by sigmoid and tanh, and products of two tensors.
func gated(r *reader, n onnxgraph.Node, _ map[string]onnxgraph.Attribute) (value, bool) {
	x, y := r.input(n, 0), r.input(n, 1)
	if !r.packs || x.kind == 0 || x.turned {
		return value{}, false
	}
	by, constant := r.number(n, 1)
	switch n.Op {
	case "Sigmoid":
		return value{kind: sigmoid, x: x.x}, x.kind == rows
	case "Tanh":
		return value{kind: bend, x: x.x, after: tanhOfProduct}, x.kind == tanhArgument
	case "Add":
		return value{kind: sumOfCube, x: x.x}, x.kind == rows && y.kind == smallCube && x.x == y.x
	case "Mul":
		switch {
		case x.kind == rows && len(n.Inputs) == 2 && n.Inputs[0] == n.Inputs[1]:
			return value{kind: square, x: x.x}, true
		case x.kind == square && y.kind == rows && x.x == y.x:
			return value{kind: cube, x: x.x}, true
		case x.kind == cube && constant && near(by, 0.044715):
			return value{kind: smallCube, x: x.x}, true
		case x.kind == sumOfCube && constant && near(by, math.Sqrt(2/math.Pi)):
			return value{kind: tanhArgument, x: x.x}, true
		case x.kind == rows && y.kind == sigmoid && x.x == y.x:
			x.shared = x.shared || r.users[n.Inputs[0]] > 2
			return r.activated("", x, siluOfProduct), true
		case x.kind == rows && y.kind == rows && r.tensors[x.x].columns == r.tensors[y.x].columns && !y.turned:
			return r.residual(n.Inputs, x, y, true), true
		}
	}
	return value{}, false
}

// rooted are the nodes of normalisation by the root mean square, of rows or of each head's columns.
func rooted(r *reader, n onnxgraph.Node, attributes map[string]onnxgraph.Attribute) (value, bool) {
	x, y := r.input(n, 0), r.input(n, 1)
	if !r.packs || x.kind == 0 || x.turned {
		return value{}, false
	}
	by, constant := r.number(n, 1)
	switch {
	case n.Op == "Pow" && (x.kind == rows || x.kind == split):
		return value{kind: square, x: x.x, heads: x.heads}, constant && by == 2
	case n.Op == "ReduceMean" && x.kind == square:
		axes := attributes["axes"].Ints
		return value{kind: meanSquare, x: x.x, heads: x.heads}, len(axes) == 1 && axes[0] == -1 &&
			attributes["keepdims"].First(1) == 1
	case n.Op == "Add" && x.kind == meanSquare:
		x.epsilon += by
		return x, constant && by >= 0
	case n.Op == "Sqrt" && x.kind == meanSquare:
		x.kind = root
		return x, true
	case n.Op == "Div" && y.kind == root:
		y.kind = unscaled
		return y, x.x == y.x && x.heads == y.heads && (x.kind == rows || x.kind == split)
	case n.Op == "Mul" && x.kind == unscaled:
		columns := r.tensors[x.x].columns
		s := step{op: rescale, x: x.x, y: none, z: none, heads: max(1, x.heads), epsilon: x.epsilon}
		if s.first = r.row(n, 1, columns/s.heads); s.first == nil {
			return value{}, false
		}
		out := value{kind: rows, x: r.step(s, columns)}
		if x.heads > 0 {
			out.kind, out.heads, out.scale = split, x.heads, 1
		}
		return out, true
	}
	return value{}, false
}

// rotated are the nodes of rotary positions between the two halves of each head's columns and their sum.
func rotated(r *reader, n onnxgraph.Node, attributes map[string]onnxgraph.Attribute) (value, bool) {
	x, y := r.input(n, 0), r.input(n, 1)
	if !r.packs || x.kind == 0 {
		return value{}, false
	}
	switch {
	case n.Op == "Neg" && x.kind == secondHalf:
		x.kind = negated
		return x, true
	case n.Op == "Concat" && x.kind == negated && y.kind == firstHalf && x.x == y.x && len(n.Inputs) == 2:
		x.kind = swapped
		return x, attributes["axis"].First(0) == -1
	case n.Op == "Mul" && (x.kind == apart || x.kind == swapped) && len(n.Inputs) == 2:
		function, to := "Cos", cosines
		if x.kind == swapped {
			function, to = "Sin", sines
		}
		var of string
		x.rotary, of = r.rotation(n.Inputs[1], r.tensors[x.x].columns/x.heads)
		x.kind = to
		return x, x.rotary != nil && of == function
	case n.Op == "Add" && x.kind == cosines && y.kind == sines && x.x == y.x && x.rotary.equal(y.rotary):
		columns := r.tensors[x.x].columns
		s := step{op: rotate, x: x.x, y: none, z: none, heads: x.heads, rotary: x.rotary}
		x.kind, x.x, x.rotary = apart, r.step(s, columns), nil
		return x, true
	}
	return value{}, false
}

// halved has each head's columns in two halves.
func halved(r *reader, n onnxgraph.Node, axis int) bool {
	x := r.input(n, 0)
	if !r.packs || x.kind != apart || x.scale != 1 || axis != -1 || len(n.Outputs) != 2 {
		return false
	}
	half := r.tensors[x.x].columns / x.heads / 2
	if sizes := r.whole(n, 1); half%lanes != 0 || len(sizes) != 2 || sizes[0] != int64(half) || sizes[1] != int64(half) {
		return false
	}
	for i, out := range n.Outputs {
		x.kind = []kind{firstHalf, secondHalf}[i]
		r.values[out] = x
	}
	return true
}
