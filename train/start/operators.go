package start

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"
	g "github.com/gomlx/gomlx/core/graph"

	"bitextmine/train/layers"
)

// operators are ONNX's operators that can be trained: those that `mine model import` writes. Each gives its outputs to
// the building.
var operators map[string]func(r *building, o operation)

func init() { // the functions refer to each other through building
	operators = map[string]func(r *building, o operation){
		"Shape": shapeOf, "Range": rangeOf, "Gather": (*building).gather, "Unsqueeze": unsqueeze, "Split": split,
		"MatMul":  func(r *building, o operation) { r.nodes[o.out[0]] = r.product(o) },
		"Cast":    cast,
		"Softmax": func(r *building, o operation) { r.nodes[o.out[0]] = r.shares(r.node(o.in[0])) },
		"Reshape": reshape, "Transpose": transposed, "Concat": concatenate, "Slice": slice, "Where": where, "Pow": power,
		"LayerNormalization": layerNorm, "LpNormalization": one(func(x *g.Node, _ operation) *g.Node { return g.Div(x, norm(x, -1)) }),
	}
	for name, f := range map[string]func(x *g.Node) *g.Node{"Identity": func(x *g.Node) *g.Node { return x }, "Neg": g.Neg, "Cos": g.Cos, "Sin": g.Sin,
		"Erf": g.Erf, "Exp": g.Exp, "Tanh": g.Tanh, "Sigmoid": g.Sigmoid, "Sqrt": g.Sqrt, "Relu": layers.Rectify} {
		operators[name] = one(func(x *g.Node, _ operation) *g.Node { return f(x) })
	}
	for name, f := range map[string]func(x, y *g.Node) *g.Node{"Add": g.Add, "Sub": g.Sub, "Mul": g.Mul, "Div": g.Div,
		"Min": g.Min, "Max": g.Max, "And": g.LogicalAnd, "LessOrEqual": g.LessOrEqual, "GreaterOrEqual": g.GreaterOrEqual} {
		operators[name] = func(r *building, o operation) {
			r.nodes[o.out[0]] = f(matched(r.node(o.in[0]), r.node(o.in[1])))
		}
	}
	for name, f := range map[string]func(x *g.Node, axes ...int) *g.Node{"ReduceMean": mean, "ReduceMax": g.ReduceMax,
		"ReduceSum": g.ReduceSum, "ReduceL2": func(x *g.Node, axes ...int) *g.Node { return g.Sqrt(g.ReduceSum(g.Mul(x, x), axes...)) }} {
		operators[name] = func(r *building, o operation) { r.nodes[o.out[0]] = r.reduce(o, f) }
	}
}

// one is an operator on one tensor.
func one(f func(x *g.Node, o operation) *g.Node) func(r *building, o operation) {
	return func(r *building, o operation) { r.nodes[o.out[0]] = f(r.node(o.in[0]), o) }
}

// mean is the mean over axes. GoMLX's own divides in the type of the number of values.
func mean(x *g.Node, axes ...int) *g.Node {
	n := 1
	for _, a := range axes {
		n *= x.Shape().Dimensions[a]
	}
	return g.MulScalar(g.ReduceSum(x, axes...), 1/float64(n))
}

// norm is the length of the vectors along an axis, which stays.
func norm(x *g.Node, axis int) *g.Node {
	return g.Sqrt(g.ReduceAndKeep(g.Mul(x, x), g.ReduceSum, axis))
}

func shapeOf(r *building, o operation) {
	dims := []int{r.stack.N, r.stack.Length}
	if o.in[0] != r.inputs.IDs {
		dims = r.node(o.in[0]).Shape().Dimensions
	}
	c := counts{shape: []int{len(dims)}}
	for _, d := range dims {
		c.values = append(c.values, int64(d))
	}
	r.counts[o.out[0]] = c
}

func rangeOf(r *building, o operation) {
	var c counts
	for x, step := r.list(o, 0)[0], r.list(o, 2)[0]; x < r.list(o, 1)[0] && step > 0; x += step {
		c.values = append(c.values, x)
	}
	c.shape = []int{len(c.values)}
	r.counts[o.out[0]] = c
}

func unsqueeze(r *building, o operation) {
	c, isKnown := r.known(o.in[0])
	dims := c.shape
	if !isKnown {
		dims = r.node(o.in[0]).Shape().Dimensions
	}
	dims = slices.Clone(dims)
	rank := len(dims) + len(o.ints["axes"])
	if len(o.in) > 1 {
		rank += len(r.list(o, 1))
	}
	for _, axis := range slices.Sorted(slices.Values(r.axes(o, rank))) {
		dims = slices.Insert(dims, axis, 1)
	}
	if isKnown {
		r.counts[o.out[0]] = counts{c.values, dims}
		return
	}
	r.nodes[o.out[0]] = g.Reshape(r.node(o.in[0]), dims...)
}

// reshape: a size of 0 is that of the same axis.
func reshape(r *building, o operation) {
	x := r.node(o.in[0])
	var dims []int
	for i, d := range r.list(o, 1) {
		if d == 0 {
			d = int64(x.Shape().Dimensions[i])
		}
		dims = append(dims, int(d))
	}
	r.nodes[o.out[0]] = g.Reshape(x, dims...)
}

func transposed(r *building, o operation) {
	r.nodes[o.out[0]] = g.TransposeAllAxes(r.node(o.in[0]), o.ints["perm"]...)
}

func concatenate(r *building, o operation) {
	var all []*g.Node
	for _, name := range o.in {
		all = append(all, r.node(name))
	}
	r.nodes[o.out[0]] = g.Concatenate(all, from(o.whole("axis", 0), all[0].Rank()))
}

// split divides the last axis.
func split(r *building, o operation) {
	x := r.node(o.in[0])
	if from(o.whole("axis", 0), x.Rank()) != x.Rank()-1 || len(o.in) < 2 {
		panic(fmt.Errorf("the operator Split divides another axis than the last, or into parts without a size"))
	}
	at := 0
	for i, width := range r.list(o, 1) {
		r.nodes[o.out[i]] = layers.Columns(x, at, at+int(width))
		at += int(width)
	}
}

// slice takes the first rows of a table, or the first columns.
func slice(r *building, o operation) {
	x := r.node(o.in[0])
	begin, end, axis := int(r.list(o, 1)[0]), int(r.list(o, 2)[0]), 0
	if len(o.in) > 3 {
		axis = from(int(r.list(o, 3)[0]), x.Rank())
	}
	if x.Rank() != 2 || len(o.in) > 4 || begin < 0 || end < begin {
		panic(fmt.Errorf("the operator Slice takes another part of %s than rows or columns in a row", o.in[0]))
	}
	end = min(end, x.Shape().Dimensions[axis])
	if axis == 0 {
		r.nodes[o.out[0]] = layers.Rows(x, begin, end, 1)
		return
	}
	r.nodes[o.out[0]] = layers.Columns(x, begin, end)
}

func where(r *building, o operation) {
	r.nodes[o.out[0]] = g.Where(r.node(o.in[0]), r.node(o.in[1]), r.node(o.in[2]))
}

// power is a square.
func power(r *building, o operation) {
	if c := r.constants[o.in[1]]; c == nil || len(c.Data) != 1 || c.Data[0] != 2 {
		panic(fmt.Errorf("the operator Pow has another exponent than 2"))
	}
	x := r.node(o.in[0])
	r.nodes[o.out[0]] = g.Mul(x, x)
}

func layerNorm(r *building, o operation) {
	x := r.node(o.in[0])
	y := g.Mul(layers.Standardise(x, o.epsilon), raised(r.node(o.in[1]), x.Rank()))
	if len(o.in) > 2 {
		y = g.Add(y, raised(r.node(o.in[2]), x.Rank()))
	}
	r.nodes[o.out[0]] = y
}

// cast gives numbers the type that ONNX numbers so; all fractions are of the embedded tokens' type.
func cast(r *building, o operation) {
	to, ok := map[int]dtypes.DType{6: dtypes.Int32, 7: dtypes.Int64, 9: dtypes.Bool}[o.whole("to", 0)]
	if !ok {
		to = r.embedded.DType()
	}
	r.nodes[o.out[0]] = g.ConvertDType(r.node(o.in[0]), to)
}
