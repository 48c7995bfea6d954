package layers

import (
	"slices"

	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/static"
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
		}{{split, apart, []int{0, 2, 1, 3}}, {split, across, []int{0, 2, 3, 1}}, {joined, merged, []int{0, 2, 1, 3}},
			{grouped, apart, []int{0, 2, 3, 1, 4}}, {apart, across, []int{0, 1, 3, 2}}, {joined, merged, []int{0, 3, 1, 2, 4}}} {
			if x.kind == to.from && slices.Equal(perm, to.perm) && (x.groups > 0) == (len(perm) == 5) {
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
		return x, ok && static.Finite([]float32{x.scale}) && (x.kind == apart || x.kind == across || x.kind == scored)
	case "Unsqueeze":
		ok := r.packs && (x.kind == apart || x.kind == across) && x.groups == 0 && !x.lifted
		x.lifted = true
		return x, ok && slices.Equal(r.whole(n, 1), []int64{2})
	case "MatMul":
		if x.kind == apart && y.kind == across && r.fits(x, y) {
			return value{kind: scored, x: x.x, k: y.x, heads: x.heads, groups: x.groups, scale: x.scale * y.scale,
				sight: sight{-1, -1}}, true
		}
		if x.kind == shares && y.kind == apart && r.fits(x, y) && y.scale == 1 {
			x.kind, x.v = joined, y.x
			return x, true
		}
	case "Add":
		if x.kind != scored || len(n.Inputs) != 2 {
			return value{}, false
		}
		in, ok := r.source.window(n.Inputs[1])
		if ok && r.packs && x.sight == (sight{-1, -1}) {
			x.sight = in
			return x, true
		}
		return x, r.zero(n.Inputs[1])
	case "Softmax":
		axis := attributes["axis"].First(-1)
		x.kind = map[kind]kind{scored: shares}[x.kind]
		return x, x.kind == shares && (axis == -1 || axis == 3)
	}
	return value{}, false
}

// fits says whether queries x attend with keys or values y: each head has its own, or each group of heads.
func (r *reader) fits(x, y value) bool {
	others := x.heads
	if x.groups > 0 {
		others = x.groups
	}
	return y.heads == others && y.lifted == (x.groups > 0) && y.groups == 0 &&
		r.tensors[x.x].columns/x.heads == r.tensors[y.x].columns/y.heads
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
	case len(shape) == 5 && x.kind == split && r.packs && shape[2] > 0 && shape[3] > 0 &&
		shape[2]*shape[3] == int64(x.heads) && shape[4] == columns/int64(x.heads):
		x.kind, x.groups = grouped, int(shape[2])
		return x, true
	case len(shape) == 3 && x.kind == merged && (shape[2] == columns || shape[2] == -1):
		s := step{op: attend, x: x.x, y: x.k, z: x.v, heads: x.heads, shared: x.heads, scale: x.scale, sight: x.sight}
		if x.groups > 0 {
			s.shared = x.groups
		}
		return value{kind: rows, x: r.step(s, int(columns))}, true
	}
	return value{}, false
}
