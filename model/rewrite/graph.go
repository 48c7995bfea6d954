package rewrite

import (
	"errors"
	"io"
	"slices"
	"strings"

	"bitextmine/encode/embedding"
	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/static"
	"bitextmine/train/export"
)

// microsoft is the domain of ONNX Runtime's own operators.
const microsoft = "com.microsoft"

// Names of constants that all products share. No model's names have the prefix.
const (
	prefix = static.Quantised
	zero   = prefix + "zero" // uint8 128: what 0 is
	one    = prefix + "one"
	full   = prefix + "full" // 127
	least  = prefix + "least"
)

// counts are the numbers of changed nodes.
type counts struct {
	Products, Convolutions, Tables int
}

// rewriter replaces a graph's products.
type rewriter struct {
	graph   *onnxgraph.Graph
	out     *export.Graph
	weights map[string]weight // float32 of two or three dimensions
	halves  map[string]string // initializers of float16, by the weights of float32 that a node makes of them
	users   map[string]int    // number of nodes that read a weight that is kept as it is
	written map[string]bool   // quantised weights and inputs that have been written
	packs   bool              // matrices are in the order in which encode/layers takes them
	counts
}

// weight are numbers that are read when they are needed.
type weight struct{ onnxgraph.Weight }

// values are n numbers from a place on.
func (w weight) values(from, n int) ([]float32, error) {
	if w.Type == onnxgraph.Float16 {
		data, err := w.Read(2*from, 2*n)
		var wide []float32
		for _, h := range (onnxgraph.Tensor{Data: data}).Uint16s() {
			wide = append(wide, embedding.Widen(h))
		}
		return wide, err
	}
	data, err := w.Read(4*from, 4*n)
	return onnxgraph.Tensor{Data: data}.Float32s(), err
}

func (w weight) all() ([]float32, error) {
	n := 1
	for _, d := range w.Shape {
		n *= d
	}
	return w.values(0, n)
}

// products writes to a file the graph of a model in 8 bits, and gives the file's size. Weights have one scale a column.
// A product's input has one scale a row, a token's vector, and a convolution's one a sentence, so that no sentence
// changes another's numbers. open gives the files beside the model's own. One weight at a time is in memory.
//
// A static encoder has its head in 8 bits, as it is all that there is to multiply, and its weights may be float16.
func products(model []byte, output, file string, open func(file string) (io.ReaderAt, error)) (int, counts, error) {
	g, err := onnxgraph.Parse(model)
	if err != nil {
		return 0, counts{}, err
	}
	r := &rewriter{graph: g, out: export.NewGraph(""), weights: map[string]weight{}, halves: map[string]string{},
		users: map[string]int{}, written: map[string]bool{}, packs: static.Find(g, output) == nil}
	kept := make([]onnxgraph.Weight, len(g.Initializers))
	for i, w := range g.Initializers {
		if kept[i], err = w.Weight(open); err != nil && !errors.Is(err, onnxgraph.ErrUnread) {
			return 0, counts{}, err
		}
		if t := kept[i]; err == nil && t.Type == onnxgraph.Float32 && (len(t.Shape) == 2 || len(t.Shape) == 3) &&
			t.Size >= 4*minNumbers {
			r.weights[w.Name] = weight{t}
		}
	}
	without, err := r.nodes()
	if err != nil || r.counts == (counts{}) {
		return 0, counts{}, err
	}
	for i, w := range g.Initializers {
		if t := kept[i]; !without[w.Name] && t.Size > 0 {
			r.out.RawTensor(t.Head, t.Size, export.Bytes{Write: func(w io.Writer) error {
				data, err := t.Read(0, t.Size)
				if err == nil {
					_, err = w.Write(data)
				}
				return err
			}})
		} else if !without[w.Name] {
			r.out.RawInitializer(w.Raw)
		}
	}
	before, rest := g.Rest()
	if _, ok := g.Opsets[microsoft]; !ok {
		before = onnxgraph.WithOpset(before, microsoft, 1)
	}
	size, err := r.out.WriteWithin(file, before, rest)
	return size, r.counts, err
}

// nodes writes all nodes, those that can be in 8 bits, and reports which initializers they do without.
func (r *rewriter) nodes() (without map[string]bool, err error) {
	g := r.graph
	head, err := headOf(g)
	if err != nil {
		return nil, err
	}
	if !r.packs {
		head = nil
		if err := r.widen(); err != nil {
			return nil, err
		}
	}
	changes := make([]func() error, len(g.Nodes))
	for i, n := range g.Nodes {
		if !head[i] {
			if changes[i], err = r.node(n); err != nil {
				return nil, err
			}
		}
		if changes[i] == nil {
			for _, name := range n.Inputs {
				r.users[name]++
			}
		} else if len(n.Inputs) > 2 { // the bias
			r.users[n.Inputs[2]]++
		}
	}
	for _, name := range g.Outputs {
		r.users[name]++
	}
	without = map[string]bool{}
	for name := range r.weights {
		without[name] = r.users[name] == 0
	}
	r.constants()
	for i, n := range g.Nodes {
		if len(n.Outputs) == 1 && changes[i] == nil {
			if half, ok := r.halves[n.Outputs[0]]; ok && without[n.Outputs[0]] {
				without[half] = true
				continue
			}
		}
		if changes[i] == nil {
			r.out.RawNode(n.Raw)
		} else if err := changes[i](); err != nil {
			return nil, err
		}
	}
	return without, nil
}

// widen treats float16 weights that a node widens as float32 weights.
func (r *rewriter) widen() error {
	for _, w := range r.graph.Initializers {
		t, err := w.Weight(nil)
		if err != nil || t.Type != onnxgraph.Float16 || len(t.Shape) != 2 || t.Size < 2*minNumbers {
			continue
		}
		i := slices.IndexFunc(r.graph.Nodes,
			func(n onnxgraph.Node) bool { return n.Op == "Cast" && slices.Equal(n.Inputs, []string{w.Name}) })
		if i < 0 || len(r.graph.Nodes[i].Outputs) != 1 {
			continue
		}
		a, err := r.graph.Nodes[i].Attributes()
		if err != nil {
			return err
		}
		if name := r.graph.Nodes[i].Outputs[0]; a["to"].First(0) == int(onnxgraph.Float32) && r.takers(w.Name) == 1 {
			r.weights[name], r.halves[name] = weight{t}, w.Name
		}
	}
	return nil
}

// takers is the number of nodes that take a tensor.
func (r *rewriter) takers(tensor string) (n int) {
	for _, node := range r.graph.Nodes {
		if slices.Contains(node.Inputs, tensor) {
			n++
		}
	}
	return n
}

// headOf are the nodes after a mean, a sum or a maximum over a sentence's tokens (axis 1). They take one row a
// sentence: 8 bits would win no time there, and lose as much as in all layers before.
func headOf(g *onnxgraph.Graph) (map[int]bool, error) {
	head := map[int]bool{}
	pooled := map[string]bool{} // tensors
	for i, n := range g.Nodes {
		head[i] = slices.ContainsFunc(n.Inputs, func(name string) bool { return pooled[name] })
		attributes, err := n.Attributes()
		if err != nil {
			return nil, err
		}
		if head[i] || strings.HasPrefix(n.Op, "Reduce") && slices.Equal(attributes["axes"].Ints, []int{1}) {
			for _, out := range n.Outputs {
				pooled[out] = true
			}
		}
	}
	return head, nil
}

// minNumbers is the size from which a weight is worth its scales.
const minNumbers = 256

// node returns what writes the replacement of a node, or nil to keep it.
func (r *rewriter) node(n onnxgraph.Node) (func() error, error) {
	if len(n.Inputs) < 2 || n.Subgraphs {
		return nil, nil
	}
	attributes, err := n.Attributes()
	if err != nil {
		return nil, err
	}
	table, isTable := r.weights[n.Inputs[0]]
	weight, ok := r.weights[n.Inputs[1]]
	switch {
	case n.Op == "Gather" && isTable && len(table.Shape) == 2 && table.Shape[0] >= minRows &&
		attributes["axis"].First(0) == 0:
		return func() error { return r.table(n, table) }, nil
	case !ok || isTable:
	case n.Op == "MatMul" && len(weight.Shape) == 2:
		return func() error { return r.product(n, weight, false) }, nil
	case n.Op == "Gemm" && len(weight.Shape) == 2 && plainGemm(attributes):
		return func() error { return r.product(n, weight, attributes["transB"].First(0) == 1) }, nil
	case n.Op == "Conv" && len(weight.Shape) == 3 && plainConv(attributes):
		return func() error { return r.convolution(n, weight, attributes["pads"].Ints) }, nil
	}
	return nil, nil
}

// minRows is the size from which a table is one of words.
const minRows = 32

// plainGemm is a product without factors and with a row that is added at most.
func plainGemm(attributes map[string]onnxgraph.Attribute) bool {
	for _, factor := range []string{"alpha", "beta"} {
		if a, ok := attributes[factor]; ok && a.Float != 1 {
			return false
		}
	}
	return attributes["transA"].First(0) == 0
}

// plainConv is a convolution over one axis without strides, gaps, groups or padding of its own accord.
func plainConv(attributes map[string]onnxgraph.Attribute) bool {
	_, auto := attributes["auto_pad"]
	pads := attributes["pads"].Ints
	return !auto && attributes["strides"].First(1) == 1 && attributes["dilations"].First(1) == 1 &&
		attributes["group"].First(1) == 1 && (pads == nil || len(pads) == 2)
}

// constants writes the constants that all products share.
func (r *rewriter) constants() {
	r.out.Initializer(zero, nil, []uint8{128})
	r.out.Initializer(one, nil, []float32{1})
	r.out.Initializer(full, nil, []float32{127})
	r.out.Initializer(least, nil, []float32{1e-30}) // a row of zeros has a scale, too
}
