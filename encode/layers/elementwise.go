package layers

import (
	"math"
	"slices"

	"bitextmine/encode/onnxgraph"
)

// elementwise are sums, activations, normalisation and the mean.
func elementwise(r *reader, n onnxgraph.Node, attributes map[string]onnxgraph.Attribute) (value, bool) {
	x := r.input(n, 0)
	switch n.Op {
	case "Add":
		return sum(r, n)
	case "Relu":
		if x.kind != rows {
			return value{}, false
		}
		return r.activated(n.Inputs[0], x, reluOfProduct), true
	case "Div":
		by, ok := r.number(n, 1)
		return value{kind: argument, x: x.x}, ok && x.kind == rows && near(by, math.Sqrt2)
	case "Erf":
		return value{kind: bend, x: x.x, after: geluOfProduct}, x.kind == argument
	case "Mul":
		y := r.input(n, 1)
		if x.kind == rows && y.kind == bendOne && x.x == y.x {
			// Both factors take x, so no other node does where the tensor has two users; tanh takes it five times.
			users := map[activation]int{geluOfProduct: 2, tanhOfProduct: 5}[y.after]
			return value{kind: double, x: x.x, turned: x.turned, after: y.after,
				shared: x.shared || r.users[n.Inputs[0]] > users}, true
		}
		if half, ok := r.number(n, 1); ok && half == 0.5 && x.kind == double {
			return r.activated("", x, x.after), true
		}
	case "LayerNormalization":
		if x.kind != rows || x.turned {
			return value{}, false
		}
		columns := r.tensors[x.x].columns
		s := step{op: normalise, x: x.x, y: none, z: none, first: r.row(n, 1, columns), other: r.row(n, 2, columns),
			epsilon: 1e-5}
		if r.packs && len(n.Inputs) == 2 {
			s.other = make([]float32, columns)
		}
		if e, ok := attributes["epsilon"]; ok {
			s.epsilon = e.Float
		}
		if axis := attributes["axis"].First(-1); s.first == nil || s.other == nil || axis != -1 && axis != 2 {
			return value{}, false
		}
		return value{kind: rows, x: r.step(s, columns)}, true
	case "ReduceMean":
		axes := attributes["axes"].Ints
		for _, axis := range r.whole(n, 1) {
			axes = append(axes, int(axis))
		}
		if x.kind != rows || x.turned || !slices.Equal(axes, []int{1}) || attributes["keepdims"].First(1) != 0 {
			return value{}, false
		}
		return value{kind: pooled, x: r.step(step{op: mean, x: x.x, y: none, z: none}, r.tensors[x.x].columns)}, true
	}
	return value{}, false
}

func near(x float32, y float64) bool { return math.Abs(float64(x)-y) < 1e-5*math.Abs(y) }

// sum is x + y, or x and a row, or the 1 of a gelu.
func sum(r *reader, n onnxgraph.Node) (value, bool) {
	x, y := r.input(n, 0), r.input(n, 1)
	names := n.Inputs
	if x.kind != rows && y.kind == rows { // x is a row, if anything
		x, y, names = y, x, []string{names[1], names[0]}
	}
	if one, ok := r.number(n, 1); ok && one == 1 && x.kind == bend {
		x.kind = bendOne
		return x, true
	}
	if x.kind != rows {
		return value{}, false
	}
	columns := r.tensors[x.x].columns
	if y.kind == rows {
		if x.turned != y.turned || r.tensors[y.x].columns != columns {
			return value{}, false
		}
		return r.residual(names, x, y, false), true
	}
	row := r.row(onnxgraph.Node{Inputs: names}, 1, columns)
	if y.kind != 0 || row == nil || x.turned {
		return value{}, false
	}
	if s := r.open(names[0], x); s != nil && s.op == multiply && s.product.bias == nil && s.after == plainProduct {
		s.product.bias = row
		return value{kind: rows, x: x.x}, true
	}
	return value{kind: rows, x: r.step(step{op: apply, x: x.x, y: none, z: none, first: row}, columns)}, true
}

// residual adds y to the product or the activation that x is, or x to y, or both in a step of its own; or multiplies
// them.
func (r *reader) residual(names []string, x, y value, times bool) value {
	for range 2 {
		if s := r.open(names[0], x); s != nil && x.x != y.x && r.since[y.x] < r.since[x.x] {
			s.y, s.times = y.x, times
			return value{kind: rows, x: x.x, turned: x.turned}
		}
		x, y, names = y, x, []string{names[1], names[0]}
	}
	return value{kind: rows, x: r.step(step{op: apply, x: x.x, y: y.x, z: none, times: times}, r.tensors[x.x].columns),
		turned: x.turned}
}

// activated is a function of x, as a part of the product that makes x if nothing else takes that.
func (r *reader) activated(name string, x value, after activation) value {
	if s := r.open(name, x); s != nil && s.op == multiply && s.after == plainProduct {
		s.after = after
		return value{kind: rows, x: x.x, turned: x.turned}
	}
	return value{kind: rows, x: r.step(step{op: apply, x: x.x, y: none, z: none, after: after}, r.tensors[x.x].columns),
		turned: x.turned}
}

// open is the product or, where matrices are packed, the activation that makes x, if more may be done to it: nothing
// but the node that asks takes x. A name of "" has no other users.
func (r *reader) open(name string, x value) *step {
	i := r.since[x.x]
	if i < 0 || r.steps[i].out != x.x || r.steps[i].y != none || x.shared || name != "" && r.users[name] != 1 {
		return nil
	}
	if s := &r.steps[i]; s.op == multiply || r.packs && s.op == apply && s.first == nil {
		return s
	}
	return nil
}

// shaped are the nodes that bring columns into another order, most of them without moving any.
func shaped(r *reader, n onnxgraph.Node, attributes map[string]onnxgraph.Attribute) (value, bool) {
	x := r.input(n, 0)
	if x.kind != rows {
		return value{}, false
	}
	x.shared = x.shared || r.users[n.Inputs[0]] > 1
	switch n.Op {
	case "Identity":
		return x, true
	case "Transpose":
		x.turned = !x.turned
		return x, slices.Equal(attributes["perm"].Ints, turn)
	case "Concat":
		return beside(r, n, attributes["axis"].First(0))
	}
	return value{}, false
}

// divided has the columns of a tensor divided among several, which lie where they are.
func divided(r *reader, n onnxgraph.Node, axis int) bool {
	x := r.input(n, 0)
	if x.kind != rows || x.turned || axis != 2 && axis != -1 {
		return false
	}
	whole, sizes := r.tensors[x.x], r.whole(n, 1)
	if sizes == nil {
		if whole.columns%len(n.Outputs) != 0 {
			return false
		}
		sizes = slices.Repeat([]int64{int64(whole.columns / len(n.Outputs))}, len(n.Outputs))
	}
	var sum int64
	for _, size := range sizes {
		if size <= 0 || size > int64(whole.columns) || size%lanes != 0 {
			return false
		}
		sum += size
	}
	if sum != int64(whole.columns) || len(sizes) != len(n.Outputs) {
		return false
	}
	for i, out := range n.Outputs {
		part := r.view(tensor{buffer: whole.buffer, offset: whole.offset, columns: int(sizes[i])})
		r.values[out] = value{kind: rows, x: part, shared: true}
		whole.offset += int(sizes[i])
	}
	return true
}

// beside has the columns of several tensors side by side. A tensor that has a buffer of its own is from now on made
// in its place; any other is moved there.
func beside(r *reader, n onnxgraph.Node, axis int) (value, bool) {
	columns := 0
	for i := range n.Inputs {
		x := r.input(n, i)
		if x.kind != rows || x.turned || axis != 2 && axis != -1 {
			return value{}, false
		}
		columns += r.tensors[x.x].columns
	}
	whole := r.tensor(columns)
	to, offset := r.tensors[whole].buffer, 0
	for i := range n.Inputs {
		x := r.input(n, i).x
		from := r.tensors[x]
		if from.buffer != 0 && from.columns == r.buffers[from.buffer].columns {
			for k, t := range r.tensors {
				if t.buffer == from.buffer {
					r.tensors[k].buffer, r.tensors[k].offset = to, offset+t.offset
				}
			}
		} else {
			r.steps = append(r.steps, step{op: apply, x: x, y: none, z: none,
				out: r.view(tensor{buffer: to, offset: offset, columns: from.columns})})
		}
		offset += from.columns
	}
	r.since[whole] = len(r.steps) - 1
	return value{kind: rows, x: whole}, true
}
