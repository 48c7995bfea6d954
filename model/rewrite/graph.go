package rewrite

import (
	"encoding/binary"
	"math"
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
	weights map[string]onnxgraph.Tensor // float32 of two or three dimensions
	halves  map[string]string           // initializers of float16, by the weights of float32 that a node makes of them
	users   map[string]int              // how many nodes take a weight that is kept as it is
	written map[string]bool             // quantised weights and inputs that have been written
	begun   bool
	counts
}

// products gives the graph of a model in 8 bits. Weights have one scale a column. A product's input has one scale a
// row, a token's vector, and a convolution's one a sentence, so that no sentence changes another's numbers.
//
// A static encoder has its head in 8 bits, as it is all that there is to multiply, and its weights may be float16.
func products(model []byte, output string) ([]byte, counts, error) {
	g, err := onnxgraph.Parse(model)
	if err != nil {
		return nil, counts{}, err
	}
	r := &rewriter{graph: g, weights: map[string]onnxgraph.Tensor{}, halves: map[string]string{},
		users: map[string]int{}, written: map[string]bool{}}
	for _, w := range g.Initializers {
		if t, err := w.Tensor(); err == nil && t.Type == onnxgraph.Float32 &&
			(len(t.Shape) == 2 || len(t.Shape) == 3) && len(t.Data) >= 4*minNumbers {
			r.weights[w.Name] = t
		}
	}
	replaced := map[int][]byte{}
	head, err := headOf(g)
	if err != nil {
		return nil, counts{}, err
	}
	if static.Find(g, output) != nil {
		head = nil
		if err := r.widen(); err != nil {
			return nil, counts{}, err
		}
	}
	for i, n := range g.Nodes {
		var with []byte
		if !head[i] {
			if with, err = r.node(n); err != nil {
				return nil, counts{}, err
			}
		}
		if with != nil {
			replaced[i] = with
			continue
		}
		for _, name := range n.Inputs {
			r.users[name]++
		}
	}
	for _, name := range g.Outputs {
		r.users[name]++
	}
	without := map[string]bool{}
	for name := range r.weights {
		without[name] = r.users[name] == 0
	}
	for i, n := range g.Nodes {
		if len(n.Outputs) != 1 {
			continue
		}
		if half, ok := r.halves[n.Outputs[0]]; ok && without[n.Outputs[0]] {
			replaced[i], without[half] = []byte{}, true
		}
	}
	out := g.Replace(replaced, without)
	if _, ok := g.Opsets[microsoft]; !ok {
		out = onnxgraph.WithOpset(out, microsoft, 1)
	}
	return out, r.counts, nil
}

// widen treats float16 weights that a node widens as float32 weights.
func (r *rewriter) widen() error {
	for _, w := range r.graph.Initializers {
		t, err := w.Tensor()
		if err != nil || t.Type != onnxgraph.Float16 || len(t.Shape) != 2 || len(t.Data) < 2*minNumbers {
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
			wide := make([]byte, 0, 2*len(t.Data))
			for _, h := range t.Uint16s() {
				wide = binary.LittleEndian.AppendUint32(wide, math.Float32bits(embedding.Widen(h)))
			}
			r.weights[name], r.halves[name] = onnxgraph.Tensor{Shape: t.Shape, Type: onnxgraph.Float32, Data: wide},
				w.Name
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

// node returns the replacement of a node, or nil to keep it.
func (r *rewriter) node(n onnxgraph.Node) ([]byte, error) {
	if len(n.Inputs) < 2 || n.Subgraphs {
		return nil, nil
	}
	attributes, err := n.Attributes()
	if err != nil {
		return nil, err
	}
	table, isTable := r.weights[n.Inputs[0]]
	weight, ok := r.weights[n.Inputs[1]]
	_, constant := r.weights[n.Inputs[0]]
	switch {
	case n.Op == "Gather" && isTable && len(table.Shape) == 2 && table.Shape[0] >= minRows &&
		attributes["axis"].First(0) == 0:
		return r.table(n, table), nil
	case !ok || constant:
	case n.Op == "MatMul" && len(weight.Shape) == 2:
		return r.product(n, weight, false), nil
	case n.Op == "Gemm" && len(weight.Shape) == 2 && plainGemm(attributes):
		return r.product(n, weight, attributes["transB"].First(0) == 1), nil
	case n.Op == "Conv" && len(weight.Shape) == 3 && plainConv(attributes):
		return r.convolution(n, weight, attributes["pads"].Ints), nil
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

// builder starts the nodes in place of one; the first also brings the constants that all share.
func (r *rewriter) builder() *export.Graph {
	b := export.NewGraph("")
	if !r.begun {
		r.begun = true
		b.Initializer(zero, nil, []uint8{128})
		b.Initializer(one, nil, []float32{1})
		b.Initializer(full, nil, []float32{127})
		b.Initializer(least, nil, []float32{1e-30}) // a row of zeros has a scale, too
	}
	return b
}

// quantised adds to b the numbers of tensor x as uint8, 128 for 0, with one scale for everything along the axes:
// x is about (numbers - 128) * greatest / 127.
func (r *rewriter) quantised(b *export.Graph, x string, axes ...int64) (numbers, greatest string) {
	p := prefix + x
	numbers, greatest = p+static.Numbers, p+static.Greatest
	if len(axes) > 1 {
		numbers, greatest = p+".sentence.numbers", p+".sentence.greatest"
	}
	if r.written[numbers] {
		return numbers, greatest
	}
	r.written[numbers] = true
	own := func(part string) string { return numbers + "." + part }
	r.reduce(b, "ReduceMax", x, own("high"), axes)
	r.reduce(b, "ReduceMin", x, own("low"), axes)
	b.Node("Neg", []string{own("low")}, []string{own("deep")})
	b.Node("Max", []string{own("high"), own("deep"), least}, []string{greatest})
	b.Node("Div", []string{full, greatest}, []string{own("factor")})
	b.Node("Mul", []string{x, own("factor")}, []string{own("scaled")})
	b.Node("QuantizeLinear", []string{own("scaled"), one, zero}, []string{numbers})
	return numbers, greatest
}

// reduce takes axes as an attribute before version 18 of ONNX's operators, and as an input since.
func (r *rewriter) reduce(b *export.Graph, op, x, out string, axes []int64) {
	if r.graph.Opsets[""] < 18 {
		b.Node(op, []string{x}, []string{out}, export.Attr{Name: "axes", Value: axes},
			export.Attr{Name: "keepdims", Value: 1})
		return
	}
	b.Initializer(out+".axes", []int{len(axes)}, axes)
	b.Node(op, []string{x, out + ".axes"}, []string{out}, export.Attr{Name: "keepdims", Value: 1})
}

// matrix adds a weight [rows, columns] as int8 with one scale a column, which has the 1/127 of its inputs in it.
func (r *rewriter) matrix(b *export.Graph, name string, values []float32, columns int) (numbers, scales string) {
	numbers, scales = prefix+name+".weight", prefix+name+".scales"
	if r.written[numbers] {
		return numbers, scales
	}
	r.written[numbers] = true
	greatest := make([]float32, columns)
	for i, x := range values {
		greatest[i%columns] = max(greatest[i%columns], float32(math.Abs(float64(x))))
	}
	whole, all := make([]int8, len(values)), make([]float32, columns)
	for i, x := range values {
		if g := greatest[i%columns]; g > 0 {
			whole[i] = int8(math.RoundToEven(float64(x) / float64(g) * 127))
		}
	}
	for k, g := range greatest {
		all[k] = g / 127 / 127
	}
	b.Initializer(numbers, []int{len(values) / columns, columns}, whole)
	b.Initializer(scales, []int{columns}, all)
	return numbers, scales
}

// multiply adds the product of quantised numbers and a matrix.
func multiply(b *export.Graph, numbers, greatest, weight, scales, bias, out string) {
	b.Node(microsoft+":MatMulIntegerToFloat", []string{numbers, weight, one, scales, zero},
		[]string{prefix + out + ".units"})
	product := out
	if bias != "" {
		product = prefix + out + ".product"
	}
	b.Node("Mul", []string{prefix + out + ".units", greatest}, []string{product})
	if bias != "" {
		b.Node("Add", []string{product, bias}, []string{out})
	}
}

// product stands for a MatMul or a Gemm.
func (r *rewriter) product(n onnxgraph.Node, w onnxgraph.Tensor, turned bool) []byte {
	b := r.builder()
	name, values, columns := n.Inputs[1], w.Float32s(), w.Shape[1]
	if turned {
		name, values, columns = name+".turned", transposed(values, w.Shape[1]), w.Shape[0]
	}
	numbers, greatest := r.quantised(b, n.Inputs[0], -1)
	weight, scales := r.matrix(b, name, values, columns)
	bias := ""
	if len(n.Inputs) > 2 {
		bias = n.Inputs[2]
		r.users[bias]++
	}
	multiply(b, numbers, greatest, weight, scales, bias, n.Outputs[0])
	r.Products++
	return export.Fields(b)
}

// transposed is a matrix of so many columns.
func transposed(values []float32, columns int) []float32 {
	rows := len(values) / columns
	out := make([]float32, len(values))
	for i, x := range values {
		out[i%columns*rows+i/columns] = x
	}
	return out
}

// table stands for a Gather of rows of words: one scale a row.
func (r *rewriter) table(n onnxgraph.Node, t onnxgraph.Tensor) []byte {
	b := r.builder()
	name, ids, out := prefix+n.Inputs[0], n.Inputs[1], n.Outputs[0]
	if !r.written[name] {
		r.written[name] = true
		columns := t.Shape[1]
		whole, scales := make([]int8, 0, t.Shape[0]*columns), make([]float32, 0, t.Shape[0])
		for row := range slices.Chunk(t.Float32s(), columns) {
			greatest := 0.0
			for _, x := range row {
				greatest = max(greatest, math.Abs(float64(x)))
			}
			for _, x := range row {
				whole = append(whole, int8(math.RoundToEven(float64(x)*127/max(greatest, math.SmallestNonzeroFloat32))))
			}
			scales = append(scales, float32(greatest/127))
		}
		b.Initializer(name+".rows", t.Shape, whole)
		b.Initializer(name+".scales", []int{t.Shape[0], 1}, scales)
	}
	b.Node("Gather", []string{name + ".rows", ids}, []string{prefix + out + ".bytes"})
	b.Node("Cast", []string{prefix + out + ".bytes"}, []string{prefix + out + ".floats"},
		export.Attr{Name: "to", Value: int(export.Float32)})
	b.Node("Gather", []string{name + ".scales", ids}, []string{prefix + out + ".scales"})
	b.Node("Mul", []string{prefix + out + ".floats", prefix + out + ".scales"}, []string{out})
	r.Tables++
	return export.Fields(b)
}
