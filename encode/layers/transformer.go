package layers

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"bitextmine/encode/onnxgraph"
)

// Transformer is an encoder of the BERT family in float32, in the parts that kernels for GPUs compute: the sums of
// words' and places' embeddings, normalised, and blocks of attention and two dense layers, each followed by the
// normalisation of its sum with what it took. The vector of a sentence is the mean of its tokens' or the first of them.
type Transformer struct {
	Width  int  // numbers of a token
	Inner  int  // numbers between the dense layers
	Heads  int  // heads of attention
	Pooled bool // the graph has the pooling
	First  bool // it takes the first token, otherwise the mean

	Words, Places onnxgraph.Weight // tables [., Width]; a sentence has at most as many tokens as there are places
	Embedded      Norm
	Blocks        []Block
}

// Norm is a layer normalisation.
type Norm struct {
	Scale, Shift []float32
	Epsilon      float32
}

// Dense is a product with a matrix [K, Columns] in float32, and a bias that may be nil.
type Dense struct {
	Matrix     onnxgraph.Weight
	Bias       []float32
	K, Columns int
}

// Block is a layer of the encoder. The scale is the one of attention scores, and a GELU follows In.
type Block struct {
	Query, Key, Value, Out, In, Back Dense
	Scale                            float32
	After, Last                      Norm
}

func (p *product) dense() Dense { return Dense{p.weight, p.bias, p.k, p.columns} }

func (s step) norm() Norm { return Norm{s.first, s.other, s.epsilon} }

// ErrOther is an encoder that is no Transformer, or a GPU that computes none; errors say what is different.
var ErrOther = errors.New("the program's own kernels do not compute it")

func other(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOther, fmt.Sprintf(format, args...))
}

// ReadTransformer reads the graph of an encoder, for its output. open gives the files beside the graph's that have
// weights, and must do so until the last use. An error that is ErrOther says that the graph has another form.
func ReadTransformer(g *onnxgraph.Graph, open func(file string) (io.ReaderAt, error), ids, output string) (*Transformer, error) {
	r := newReader("", output)
	r.packs, r.matrices = true, map[string]onnxgraph.Weight{}
	nodes, takes := g.Between("", output)
	for _, w := range g.Initializers {
		if takes[w.Name] {
			if err := r.weight(w, open); err != nil {
				return nil, err
			}
		}
	}
	r.note(g, nodes)
	t := &Transformer{}
	if !r.embeddings(g, nodes, ids, t) {
		return nil, other("it does not begin with a normalised sum of words and places, as BERT does")
	}
	if !r.layers(g, nodes, output) || r.To != output {
		return nil, other("its layers have operators that those of BERT do not have")
	}
	if t.Pooled = r.Pooled; t.Pooled {
		last := r.steps[len(r.steps)-1]
		t.First = last.op == first
		r.steps = r.steps[:len(r.steps)-1]
	}
	return t, t.of(r)
}

// weight notes a constant: a table or matrix of float32 is read when it is needed.
func (r *reader) weight(w onnxgraph.Initializer, open func(file string) (io.ReaderAt, error)) error {
	weight, err := w.Weight(open)
	if err != nil {
		return err
	}
	if weight.Type == onnxgraph.Float32 && len(weight.Shape) == 2 {
		r.matrices[w.Name] = weight
		return nil
	}
	data, err := weight.Read(0, weight.Size)
	r.constants[w.Name] = onnxgraph.Tensor{Shape: weight.Shape, Type: weight.Type, Data: data}
	return err
}

// embeddings finds the sum of words and places, which the layers take.
func (r *reader) embeddings(g *onnxgraph.Graph, nodes []int, ids string, t *Transformer) bool {
	for _, i := range nodes {
		n := g.Nodes[i]
		if n.Op != "LayerNormalization" {
			continue
		}
		sum := r.maker(n, 0)
		look, places := r.maker(sum, 0), r.maker(sum, 1)
		if sum.Op != "Add" || look.Op != "Gather" || len(look.Inputs) != 2 || look.Inputs[1] != ids ||
			places.Op != "Slice" || len(places.Inputs) != 3 || !slices.Equal(r.whole(places, 1), []int64{0}) {
			return false
		}
		end := r.maker(places, 2)
		count := r.maker(end, 0)
		if shape := r.maker(count, 0); end.Op != "Unsqueeze" || count.Op != "Gather" || shape.Op != "Shape" ||
			!slices.Equal(r.whole(count, 1), []int64{1}) || shape.Inputs[0] != ids {
			return false
		}
		var ok, also bool
		t.Words, ok = r.matrices[look.Inputs[0]]
		t.Places, also = r.matrices[places.Inputs[0]]
		if !ok || !also || t.Words.Shape[1] != t.Places.Shape[1] {
			return false
		}
		t.Width = t.Words.Shape[1]
		r.From, r.Columns = n.Inputs[0], t.Width
		r.values[r.From] = value{kind: rows, x: r.tensor(t.Width)}
		return true
	}
	return false
}

// floating are the products of a graph that was not quantised, and the choice of a sentence's first token.
func floating(r *reader, n onnxgraph.Node, attributes map[string]onnxgraph.Attribute) (value, bool) {
	x := r.input(n, 0)
	if r.matrices == nil || x.kind != rows || x.turned || len(n.Inputs) != 2 {
		return value{}, false
	}
	columns := r.tensors[x.x].columns
	switch n.Op {
	case "MatMul":
		w, ok := r.matrices[n.Inputs[1]]
		if !ok || w.Shape[0] != columns {
			return value{}, false
		}
		p := &product{k: columns, columns: w.Shape[1], weight: w, width: 1}
		return value{kind: rows, x: r.step(step{op: multiply, x: x.x, y: none, z: none, product: p}, p.columns)}, true
	case "Gather":
		if attributes["axis"].First(0) != 1 || !slices.Equal(r.whole(n, 1), []int64{0}) {
			return value{}, false
		}
		return value{kind: pooled, x: r.step(step{op: first, x: x.x, y: none, z: none}, columns)}, true
	}
	return value{}, false
}

// of makes blocks of steps.
func (t *Transformer) of(r *reader) error {
	s := r.steps
	if len(s) == 0 || s[0].op != normalise || s[0].x != 0 {
		return other("it does not begin with a normalised sum of words and places, as BERT does")
	}
	t.Embedded = s[0].norm()
	const each = 9 // steps of a block
	x := s[0].out
	for s = s[1:]; len(s) > 0; s = s[each:] {
		b, ok := Block{}, false
		if len(s) >= each {
			b, ok = t.block(s[:each], x)
		}
		if !ok {
			return other("layer %d is not that of BERT", len(t.Blocks)+1)
		}
		t.Blocks, x = append(t.Blocks, b), s[each-1].out
	}
	switch width, size := t.Width, t.Width/max(1, t.Heads); {
	case len(t.Blocks) == 0:
		return other("it has no layers")
	case width%128 != 0 || width > 1024 || t.Inner%128 != 0 || size != 32 && size != 64:
		return other("it has %d numbers a token, %d within a layer, and heads of %d; they need multiples of 128, up to 1,024 a token, "+
			"and heads of 32 or 64", width, t.Inner, size)
	}
	return nil
}

// block reads a block of steps that takes x: products of queries, keys and values, attention, its product, and so on.
func (t *Transformer) block(s []step, x int) (b Block, ok bool) {
	parts := map[int]*product{}
	for i := range 3 {
		if !plain(s[i], multiply, x, none) {
			return b, false
		}
		parts[s[i].out] = s[i].product
	}
	heads := s[3].heads
	query, key, value := parts[s[3].x], parts[s[3].y], parts[s[3].z]
	if s[3].op != attend || len(parts) != 3 || query == nil || key == nil || value == nil || query == key ||
		key == value || query == value || s[3].shared != heads || s[3].sight != (sight{-1, -1}) {
		return b, false
	}
	gelu := s[6]
	gelu.after = plainProduct
	if !plain(s[4], multiply, s[3].out, x) || !plain(s[5], normalise, s[4].out, none) || s[6].after != geluOfProduct ||
		!plain(gelu, multiply, s[5].out, none) || !plain(s[7], multiply, s[6].out, s[5].out) ||
		!plain(s[8], normalise, s[7].out, none) {
		return b, false
	}
	b = Block{query.dense(), key.dense(), value.dense(), s[4].product.dense(), s[6].product.dense(), s[7].product.dense(),
		s[3].scale, s[5].norm(), s[8].norm()}
	if t.Heads == 0 {
		t.Heads, t.Inner = heads, b.In.Columns
	}
	for _, p := range []Dense{b.Query, b.Key, b.Value, b.Out} {
		if p.K != t.Width || p.Columns != t.Width {
			return b, false
		}
	}
	return b, heads == t.Heads && b.In.Columns == t.Inner && b.Back.Columns == t.Width
}

// plain says whether a step is of a kind and takes these tensors, without anything after it.
func plain(s step, op operation, x, y int) bool {
	return s.op == op && s.x == x && s.y == y && !s.times && s.after == plainProduct
}
