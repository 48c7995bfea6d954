package rewrite

import (
	"errors"
	"io"
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

// constants are those that all products share.
func (r *rewriter) constants() {
	r.out.Initializer(zero, nil, []uint8{128})
	r.out.Initializer(one, nil, []float32{1})
	r.out.Initializer(full, nil, []float32{127})
	r.out.Initializer(least, nil, []float32{1e-30}) // a row of zeros has a scale, too
}

// quantised adds the numbers of tensor x as uint8, 128 for 0, with one scale for everything along the axes:
// x is about (numbers - 128) * greatest / 127.
func (r *rewriter) quantised(x string, axes ...int64) (numbers, greatest string) {
	p := prefix + x
	numbers, greatest = p+static.Numbers, p+static.Greatest
	if len(axes) > 1 {
		numbers, greatest = p+".sentence.numbers", p+".sentence.greatest"
	}
	if r.written[numbers] {
		return numbers, greatest
	}
	r.written[numbers] = true
	b, own := r.out, func(part string) string { return numbers + "." + part }
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

// matrix adds a weight [rows, columns] as int8 with one scale a column, which has the 1/127 of its inputs in it. read
// gives its numbers.
func (r *rewriter) matrix(name string, read func() ([]float32, error), rows, columns int) (numbers, scales string, err error) {
	numbers, scales = prefix+name+".weight", prefix+name+static.Scales
	if r.written[numbers] {
		return numbers, scales, nil
	}
	r.written[numbers] = true
	values, err := read()
	if err != nil {
		return "", "", err
	}
	greatest, all := make([]float32, columns), make([]float32, columns)
	for row := range slices.Chunk(values, columns) {
		for k, x := range row {
			greatest[k] = max(greatest[k], float32(math.Abs(float64(x))))
		}
	}
	for k, g := range greatest {
		all[k] = g / 127 / 127
	}
	const lanes, together = 16, 4
	shape, place := []int{rows, columns}, func(row, column int) int { return row*columns + column }
	stored := numbers
	if r.packs && rows%lanes == 0 && columns%(2*lanes) == 0 {
		shape, stored = []int{columns / lanes, rows / together, lanes, together}, numbers+".packed"
		place = func(row, column int) int {
			return column/lanes*rows*lanes + row/together*lanes*together + column%lanes*together + row%together
		}
		r.out.Node("Transpose", []string{stored}, []string{numbers + ".turned"}, export.Attr{Name: "perm", Value: []int64{int64(static.Unpack[0]), int64(static.Unpack[1]), int64(static.Unpack[2]), int64(static.Unpack[3])}})
		r.out.Initializer(numbers+".shape", []int{2}, []int64{int64(rows), int64(columns)})
		r.out.Node("Reshape", []string{numbers + ".turned", numbers + ".shape"}, []string{numbers})
	}
	r.out.Initializer(scales, []int{columns}, all)
	r.out.Initializer(stored, shape, export.Bytes{Type: export.Int8, Write: func(w io.Writer) error {
		values, err := read()
		if err != nil {
			return err
		}
		whole := make([]byte, len(values))
		for i := range rows {
			for k, g := range greatest {
				if g > 0 {
					whole[place(i, k)] = byte(int8(math.RoundToEven(float64(values[i*columns+k]) / float64(g) * 127)))
				}
			}
		}
		_, err = w.Write(whole)
		return err
	}})
	return numbers, scales, nil
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
func (r *rewriter) product(n onnxgraph.Node, w weight, turned bool) error {
	name, read, rows, columns := n.Inputs[1], w.all, w.Shape[0], w.Shape[1]
	if turned {
		name, rows, columns = name+".turned", columns, rows
		read = func() ([]float32, error) {
			values, err := w.all()
			if err != nil {
				return nil, err
			}
			return export.Transposed(values, w.Shape[0], w.Shape[1]), nil
		}
	}
	numbers, greatest := r.quantised(n.Inputs[0], -1)
	weight, scales, err := r.matrix(name, read, rows, columns)
	multiply(r.out, numbers, greatest, weight, scales, biasOf(n), n.Outputs[0])
	r.Products++
	return err
}

// biasOf is the third input; "" if there is none.
func biasOf(n onnxgraph.Node) string {
	if len(n.Inputs) > 2 {
		return n.Inputs[2]
	}
	return ""
}

// table stands for a Gather of rows of words: one scale a row.
func (r *rewriter) table(n onnxgraph.Node, t weight) error {
	b, name, ids, out := r.out, prefix+n.Inputs[0], n.Inputs[1], n.Outputs[0]
	if !r.written[name] {
		r.written[name] = true
		var scales []float32
		err := t.rows(func(row []float32) {
			scales = append(scales, greatestOf(row)/127)
		})
		if err != nil {
			return err
		}
		b.Initializer(name+static.Scales, []int{t.Shape[0], 1}, scales)
		b.Initializer(name+static.Rows, t.Shape, export.Bytes{Type: export.Int8, Write: func(w io.Writer) error {
			whole := make([]byte, t.Shape[1])
			var failed error
			err := t.rows(func(row []float32) {
				greatest := float64(greatestOf(row))
				for k, x := range row {
					whole[k] = byte(int8(math.RoundToEven(float64(x) * 127 / max(greatest, math.SmallestNonzeroFloat32))))
				}
				if _, err := w.Write(whole); err != nil {
					failed = err
				}
			})
			return errors.Join(err, failed)
		}})
	}
	b.Node("Gather", []string{name + static.Rows, ids}, []string{prefix + out + static.Bytes})
	b.Node("Cast", []string{prefix + out + static.Bytes}, []string{prefix + out + static.Floats},
		export.Attr{Name: "to", Value: int(export.Float32)})
	b.Node("Gather", []string{name + static.Scales, ids}, []string{prefix + out + static.Scales})
	b.Node("Mul", []string{prefix + out + static.Floats, prefix + out + static.Scales}, []string{out})
	r.Tables++
	return nil
}

// rows calls f with each row of a table, some of which are in memory at once.
func (w weight) rows(f func(row []float32)) error {
	const numbersAtOnce = 1 << 20
	columns := w.Shape[1]
	each := max(1, numbersAtOnce/columns)
	for from := 0; from < w.Shape[0]; from += each {
		values, err := w.values(from*columns, min(each, w.Shape[0]-from)*columns)
		if err != nil {
			return err
		}
		for row := range slices.Chunk(values, columns) {
			f(row)
		}
	}
	return nil
}

func greatestOf(row []float32) (greatest float32) {
	for _, x := range row {
		greatest = max(greatest, float32(math.Abs(float64(x))))
	}
	return greatest
}
