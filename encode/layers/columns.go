package layers

import (
	"slices"

	"bitextmine/encode/onnxgraph"
)

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
		return together(r, n, attributes["axis"].First(0))
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

// together has the columns of several tensors side by side. A tensor that has a buffer of its own is from now on made
// in its place; any other is moved there.
func together(r *reader, n onnxgraph.Node, axis int) (value, bool) {
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
			r.steps = append(r.steps, step{op: move, x: x, y: none, z: none,
				out: r.view(tensor{buffer: to, offset: offset, columns: from.columns})})
		}
		offset += from.columns
	}
	r.since[whole] = len(r.steps) - 1
	return value{kind: rows, x: whole}, true
}
