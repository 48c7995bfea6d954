package start

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	g "github.com/gomlx/gomlx/core/graph"

	"bitextmine/encode/model"
	"bitextmine/train/encoder"
	"bitextmine/train/layers"
)

// operation is a node of an imported encoder's graph.
type operation struct {
	name    string // name of the operator
	in, out []string
	ints    map[string][]int // attributes that are whole numbers, one or several
	epsilon float64
}

// whole attribute, or another number where there is none.
func (o operation) whole(name string, otherwise int) int {
	if all := o.ints[name]; len(all) > 0 {
		return all[0]
	}
	return otherwise
}

// building builds an imported encoder's graph in GoMLX. The graph is of ONNX's operators, but without padding: nothing
// is padded in mining. A batch in training is, so that the places where tokens meet see the mask: attention's softmax
// and the poolings.
type building struct {
	*imported
	stack            *layers.Stack
	embedded         *g.Node // [n, length, width]
	lengths, present *g.Node // [n] int32; [n, length], 1 or 0
	nodes            map[string]*g.Node
	counts           map[string]counts
}

// counts are whole numbers that the shapes of a batch determine, as a tensor.
type counts struct {
	values []int64
	shape  []int
}

// read builds the graph. params are the inner weights.
func (m *imported) read(s encoder.Settings, params map[string]*g.Node, embedded, lengths *g.Node, _ *layers.Dropout) encoder.Encoded {
	n, length := embedded.Shape().Dimensions[0], embedded.Shape().Dimensions[1]
	mask := layers.Present(lengths, length)
	r := &building{imported: m, embedded: embedded, lengths: lengths, present: g.ConvertDType(mask, embedded.DType()),
		stack: &layers.Stack{Shape: layers.Shape{Precision: s.Precision, LoRA: s.LoRA}, Params: params, N: n, Length: length},
		nodes: map[string]*g.Node{}, counts: map[string]counts{}}
	for name, w := range params {
		r.nodes[name] = w
	}
	places := g.Iota(embedded.Graph(), shapes.Make(dtypes.Int64, n, length), 1)
	r.nodes[m.inputs.Mask], r.nodes[m.inputs.Positions] = g.ConvertDType(mask, dtypes.Int64), places
	r.nodes[m.inputs.TokenTypes] = g.ZerosLike(places)
	for _, o := range m.operations {
		operators[o.name](r, o)
	}
	e := encoder.Encoded{Vectors: r.node(m.output), Tokens: r.node(m.tokens), Mask: mask}
	if m.pooling != model.None {
		s.Pooling = encoder.Pooling(m.pooling)
		e.Vectors = s.Pool(e.Vectors, r.present)
	}
	return e
}

// node is a tensor by its name in the graph.
func (r *building) node(name string) *g.Node {
	if x := r.nodes[name]; x != nil {
		return x
	}
	to := r.embedded.Graph()
	var x *g.Node
	if c, ok := r.known(name); ok {
		x = g.Reshape(g.Const(to, c.values), c.shape...)
	} else if c, ok := r.constants[name]; ok {
		x = g.ConvertDType(g.Reshape(g.Const(to, c.Data), c.Shape...), r.embedded.DType())
	} else {
		panic(fmt.Errorf("the graph takes %s, which nothing in it gives", name))
	}
	r.nodes[name] = x
	return x
}

// known gives whole numbers that are known while the graph is built.
func (r *building) known(name string) (counts, bool) {
	if c, ok := r.counts[name]; ok {
		return c, true
	}
	c, ok := r.wholes[name]
	return c, ok
}

// list is known for numbers that must be; how many there are is what the operator needs.
func (r *building) list(o operation, i int) []int64 {
	c, ok := r.known(o.in[i])
	if !ok {
		panic(fmt.Errorf("the operator %s takes %s, which is computed", o.name, o.in[i]))
	}
	return c.values
}

// axes of an operator, which are an attribute or its second input, counted from the first of so many.
func (r *building) axes(o operation, rank int) []int {
	axes := slices.Clone(o.ints["axes"])
	if len(o.in) > 1 {
		for _, a := range r.list(o, 1) {
			axes = append(axes, int(a))
		}
	}
	for i, a := range axes {
		axes[i] = from(a, rank)
	}
	return axes
}

// from counts an axis from the first one.
func from(axis, rank int) int {
	if axis < 0 {
		return axis + rank
	}
	return axis
}

// ofTokens reports whether x is [n, length, ...] and only some of length is there, which the graph itself does not see.
func (r *building) ofTokens(x *g.Node) bool {
	dims := x.Shape().Dimensions
	return r.inputs.Mask == "" && len(dims) == 3 && dims[0] == r.stack.N && dims[1] == r.stack.Length
}

// matched gives both tensors as many axes, as ONNX's operators on two tensors see them.
func matched(x, y *g.Node) (*g.Node, *g.Node) {
	rank := max(x.Rank(), y.Rank())
	return raised(x, rank), raised(y, rank)
}

func raised(x *g.Node, rank int) *g.Node {
	if x.Rank() == rank || x.Rank() == 0 {
		return x
	}
	return g.Reshape(x, slices.Concat(slices.Repeat([]int{1}, rank-x.Rank()), x.Shape().Dimensions)...)
}

// product is ONNX's MatMul. A matrix of weights has its adapter.
func (r *building) product(o operation) *g.Node {
	x, y := r.node(o.in[0]), r.node(o.in[1])
	if r.stack.Params[o.in[1]] == nil || y.Rank() != 2 {
		return r.batched(x, y)
	}
	dims := x.Shape().Dimensions
	last := len(dims) - 1
	rows := r.stack.AdaptedProduct(layers.Adapted(o.in[1]), g.Reshape(x, -1, dims[last]), y, 1)
	return g.Reshape(rows, append(slices.Clone(dims[:last]), y.Shape().Dimensions[1])...)
}

// batched is x·y over their last two axes. Where y has one matrix for several of x, their rows are put below each
// other: queries that share a head of keys and values.
func (r *building) batched(x, y *g.Node) *g.Node {
	last := x.Rank() - 1
	batch := make([]int, last-1)
	for i := range batch {
		batch[i] = i
	}
	dims := x.Shape().Dimensions
	if last < 3 || dims[last-2] == y.Shape().Dimensions[last-2] {
		return r.stack.Product(x, last, y, last-1, batch)
	}
	shared := slices.Concat(dims[:last-2], []int{dims[last-2] * dims[last-1], dims[last]})
	one := slices.Concat(y.Shape().Dimensions[:last-2], y.Shape().Dimensions[last-1:])
	z := r.stack.Product(g.Reshape(x, shared...), last-1, g.Reshape(y, one...), last-2, batch[:last-2])
	return g.Reshape(z, slices.Concat(dims[:last], []int{y.Shape().Dimensions[last]})...)
}

// shares is a softmax over the last axis. In attention [n, ..., length, length] it gives padding no share.
func (r *building) shares(x *g.Node) *g.Node {
	dims := x.Shape().Dimensions
	rank := len(dims)
	if r.inputs.Mask == "" && rank > 3 && dims[0] == r.stack.N && dims[rank-1] == r.stack.Length {
		shape := slices.Repeat([]int{1}, rank)
		shape[0], shape[rank-1] = r.stack.N, r.stack.Length
		x = g.Add(x, g.Reshape(layers.Absent(r.present), shape...))
	}
	return layers.Softmax(x)
}

// reduce writes a reduction. Over the tokens it leaves out padding.
func (r *building) reduce(o operation, of func(x *g.Node, axes ...int) *g.Node) *g.Node {
	x := r.node(o.in[0])
	axes := r.axes(o, x.Rank())
	if r.ofTokens(x) && slices.Equal(axes, []int{1}) {
		pooling, ok := map[string]encoder.Pooling{"ReduceMean": encoder.Mean, "ReduceMax": encoder.Max}[o.name]
		if ok {
			y := encoder.Settings{Pooling: pooling}.Pool(x, r.present)
			if o.whole("keepdims", 1) == 1 {
				y = g.Reshape(y, y.Shape().Dimensions[0], 1, y.Shape().Dimensions[1])
			}
			return y
		}
	}
	if o.whole("keepdims", 1) == 1 {
		return g.ReduceAndKeep(x, of, axes...)
	}
	return of(x, axes...)
}

// gather writes what is looked up: the words, a batch's size, one token of each sentence, or rows of a table.
func (r *building) gather(o operation) {
	axis := o.whole("axis", 0)
	at, isKnown := r.known(o.in[1])
	switch data, ok := r.known(o.in[0]); {
	case o.in[0] == r.words:
		r.nodes[o.out[0]] = r.embedded
	case ok && isKnown && axis == 0:
		picked := counts{shape: at.shape}
		for _, i := range at.values {
			picked.values = append(picked.values, data.values[from(int(i), len(data.values))])
		}
		r.counts[o.out[0]] = picked
	case isKnown && len(at.values) == 1 && len(at.shape) == 0 && axis == 1 && r.node(o.in[0]).Rank() == 3:
		r.nodes[o.out[0]] = r.token(r.node(o.in[0]), int(at.values[0]))
	default:
		places := r.node(o.in[1])
		if axis != 0 {
			panic(fmt.Errorf("the operator Gather takes rows of the axis %d of %s", axis, o.in[0]))
		}
		r.nodes[o.out[0]] = g.Gather(r.node(o.in[0]), g.Reshape(places, append(slices.Clone(places.Shape().Dimensions), 1)...))
	}
}

// token is one token of each sentence of x [n, length, width]; negative places are counted from its end.
func (r *building) token(x *g.Node, place int) *g.Node {
	n, length := r.stack.N, r.stack.Length
	rows := g.Reshape(x, n*length, x.Shape().Dimensions[2])
	if place >= 0 {
		return layers.Rows(rows, place, n*length, length)
	}
	ends := g.ConvertDType(r.lengths, dtypes.Int64)
	if r.inputs.Mask != "" { // the graph takes the last place of the batch
		ends = g.AddScalar(g.ZerosLike(ends), length)
	}
	starts := g.MulScalar(g.Iota(x.Graph(), shapes.Make(dtypes.Int64, n), 0), length)
	return g.Gather(rows, g.Reshape(g.AddScalar(g.Add(starts, ends), place), n, 1))
}
