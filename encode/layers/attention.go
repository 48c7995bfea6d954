package layers

import (
	"slices"

	"bitextmine/encode/onnxgraph"
)

// attention are the nodes between three products and the one that takes what they attend to, as train/export writes
// them.
func attention(r *reader, n onnxgraph.Node, attributes map[string]onnxgraph.Attribute) (value, bool) {
	x, y := r.input(n, 0), r.input(n, 1)
	switch n.Op {
	case "Reshape":
		return heads(r, x, r.whole(n, 1))
	case "Transpose":
		perm := attributes["perm"].Ints
		for _, to := range []struct {
			from, to kind
			perm     []int
		}{{split, apart, []int{0, 2, 1, 3}}, {split, across, []int{0, 2, 3, 1}}, {joined, merged, []int{0, 2, 1, 3}}} {
			if x.kind == to.from && slices.Equal(perm, to.perm) {
				x.kind = to.to
				return x, true
			}
		}
	case "Mul", "Div":
		by, ok := r.number(n, 1)
		if n.Op == "Div" {
			by = 1 / by
		}
		x.scale *= by
		return x, ok && finite([]float32{x.scale}) && (x.kind == apart || x.kind == across || x.kind == scored)
	case "MatMul":
		if x.kind == apart && y.kind == across && x.heads == y.heads &&
			r.tensors[x.x].columns == r.tensors[y.x].columns {
			return value{kind: scored, x: x.x, k: y.x, heads: x.heads, scale: x.scale * y.scale}, true
		}
		if x.kind == shares && y.kind == apart && x.heads == y.heads &&
			r.tensors[x.x].columns == r.tensors[y.x].columns && y.scale == 1 {
			x.kind, x.v = joined, y.x
			return x, true
		}
	case "Add":
		return x, x.kind == scored && len(n.Inputs) == 2 && r.zero(n.Inputs[1])
	case "Softmax":
		axis := attributes["axis"].First(-1)
		x.kind = map[kind]kind{scored: shares}[x.kind]
		return x, x.kind == shares && (axis == -1 || axis == 3)
	}
	return value{}, false
}

// heads divides the columns of a tensor among heads, or brings those of heads together.
func heads(r *reader, x value, shape []int64) (value, bool) {
	if x.kind == 0 || len(shape) < 3 || shape[0] != 0 || shape[1] != 0 {
		return value{}, false
	}
	columns := int64(r.tensors[x.x].columns)
	switch {
	case len(shape) == 4 && x.kind == rows && !x.turned && shape[3] > 0 && shape[3]%lanes == 0 &&
		columns%shape[3] == 0 && shape[2] == columns/shape[3]:
		return value{kind: split, x: x.x, heads: int(shape[2]), scale: 1}, true
	case len(shape) == 3 && x.kind == merged && (shape[2] == columns || shape[2] == -1):
		s := step{op: attend, x: x.x, y: x.k, z: x.v, heads: x.heads, scale: x.scale}
		return value{kind: rows, x: r.step(s, int(columns))}, true
	}
	return value{}, false
}
