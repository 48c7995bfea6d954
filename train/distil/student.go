package distil

import (
	"math"

	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/static"
	"bitextmine/internal/badinput"
	"bitextmine/train/export"
)

// student is what is exported: features(s) = scale(s) * (sum of the rows of s's pieces) * basis, then the teacher's
// head.
type student struct {
	name  string
	table *table
	basis []float32 // [table.dim, dim], or nil: the table's columns are the features'
	dim   int       // of the features
	power float64   // scale(s) = 1 / tokens^power
	head  *head
}

// Names of tensors of a student's graph. The head's keep theirs, so these must be no name of any teacher's.
const (
	own          = static.Prefix
	tokensOutput = own + "tokens" // [batch, tokens, table's columns]: the pieces' rows
)

// graph is the student's ONNX graph.
func (s *student) graph() (*export.Graph, error) {
	if s.head.opset < minOpset {
		return nil, badinput.Errorf("the teacher's graph is of ONNX opset %d, and a student needs %d or newer: convert the teacher (onnx.version_converter)", s.head.opset, minOpset)
	}
	g := export.NewGraph(s.name)
	g.Opset("", s.head.opset)
	for domain, version := range s.head.domains {
		g.Opset(domain, version)
	}
	g.Input(export.IDs, export.Int64, "batch", "tokens")
	s.sum(g)
	s.tokens(g)
	features := static.Sums
	g.Initializer(own+"one", nil, []int64{1})
	g.Initializer(own+"power", nil, []float32{float32(-s.power)})
	node(g, "Shape", "shape", export.IDs)
	node(g, "Gather", "count", own+"shape", own+"one")
	cast(g, "count", "count_f")
	node(g, "Pow", "scale", own+"count_f", own+"power")
	node(g, "Mul", "scaled", own+"sum", own+"scale")
	if s.basis != nil {
		g.Initializer(own+"basis", []int{s.table.dim, s.dim}, s.basis)
		node(g, "MatMul", "turned", own+"scaled", own+"basis")
		features = own + "turned"
	}
	g.Node("Identity", []string{features}, []string{s.head.from})
	if err := s.head.add(g); err != nil {
		return nil, err
	}
	g.Output(s.head.to, export.Float32, "batch", s.head.dim)
	return g, nil
}

// minOpset is the first with axes as inputs of Squeeze and ReduceSum.
const minOpset = 13

func node(g *export.Graph, op, out string, inputs ...string) {
	g.Node(op, inputs, []string{own + out})
}

func cast(g *export.Graph, from, to string) {
	g.Node("Cast", []string{own + from}, []string{own + to}, export.Attr{Name: "to", Value: int(export.Float32)})
}

// sum adds the nodes of a sentence's sum of rows. A product of the scales [1, tokens] with the numbers [tokens,
// columns] scales and adds at once. Of two numbers in a byte only the low one is cut out: the byte's sum less that of
// the low one is 16 times that of the high one.
func (s *student) sum(g *export.Graph) {
	t := s.table
	g.Initializer(own+"table", []int{t.rows, t.dim * t.bits / 8}, t.numbers)
	g.Initializer(own+"scales", []int{t.rows, 1}, export.Half(narrowed(t.scales)))
	g.Initializer(own+"zeros", []int{t.dim}, t.zeros())
	g.Initializer(own+"axis_1", []int{1}, []int64{1})
	node(g, "Gather", "bytes", own+"table", export.IDs)
	node(g, "Gather", "half_scales", own+"scales", export.IDs)
	cast(g, "half_scales", "row_scales") // [batch, tokens, 1]
	g.Node("Transpose", []string{own + "row_scales"}, []string{own + "factors"}, export.Attr{Name: "perm", Value: []int64{0, 2, 1}})
	s.scaledSum(g, "bytes", "numbers")
	all := own + "numbers_sum"
	if t.bits == 4 {
		g.Initializer(own+"sixteenth", nil, []float32{1.0 / 16})
		if s.head.opset >= 18 {
			g.Initializer(own+"fifteen", nil, []int8{15})
			node(g, "BitwiseAnd", "low_bytes", own+"bytes", own+"fifteen")
		} else {
			g.Initializer(own+"sixteen", nil, []int8{16})
			node(g, "Mod", "low_bytes", own+"bytes", own+"sixteen")
		}
		s.scaledSum(g, "low_bytes", "low")
		node(g, "Sub", "high_sum_16", own+"numbers_sum", own+"low_sum")
		node(g, "Mul", "high_sum", own+"high_sum_16", own+"sixteenth")
		g.Node("Concat", []string{own + "low_sum", own + "high_sum"}, []string{own + "both_sum"}, export.Attr{Name: "axis", Value: 1})
		all = own + "both_sum"
	}
	// [batch, 1]
	g.Node("ReduceSum", []string{own + "row_scales", own + "axis_1"}, []string{own + "scale_sum"}, export.Attr{Name: "keepdims", Value: 0})
	node(g, "Mul", "shift", own+"scale_sum", own+"zeros")
	node(g, "Sub", "sum", all, own+"shift")
}

// scaledSum adds NAME_sum [batch, columns], the sum over tokens of the scaled numbers of a tensor of bytes, and NAME,
// the numbers.
func (s *student) scaledSum(g *export.Graph, bytes, name string) {
	cast(g, bytes, name)
	node(g, "MatMul", name+"_sum_3", own+"factors", own+name)
	node(g, "Squeeze", name+"_sum", own+name+"_sum_3", own+"axis_1")
}

// tokens adds the nodes of the pieces' rows, for the features of a scorer. No sentence's vector needs them.
func (s *student) tokens(g *export.Graph) {
	numbers := own + "numbers"
	if s.table.bits == 4 {
		node(g, "Sub", "high_16", own+"numbers", own+"low")
		node(g, "Mul", "high", own+"high_16", own+"sixteenth")
		g.Node("Concat", []string{own + "low", own + "high"}, []string{own + "both"}, export.Attr{Name: "axis", Value: 2})
		numbers = own + "both"
	}
	node(g, "Sub", "centred", numbers, own+"zeros")
	g.Node("Mul", []string{own + "centred", own + "row_scales"}, []string{tokensOutput})
}

// sums are the numbers that the graph must give for sentences of the student's ids as static.Sums: [len(sentences),
// columns of the table].
func (s *student) sums(sentences [][]int32) []float32 {
	out := make([]float32, 0, len(sentences)*s.table.dim)
	row := make([]float32, s.table.dim)
	for _, ids := range sentences {
		sum := make([]float64, s.table.dim)
		for _, id := range ids {
			s.table.row(int(id), row)
			for k, x := range row {
				sum[k] += float64(x)
			}
		}
		scale := math.Pow(float64(len(ids)), -s.power)
		for _, x := range sum {
			out = append(out, float32(x*scale))
		}
	}
	return out
}

// turned are the features of sums, before the head: [sentences, dim].
func (s *student) turned(sums []float32) []float32 {
	if s.basis == nil {
		return sums
	}
	return product(sums, s.table.dim, s.basis, s.dim)
}

// head is the teacher's own way from its features to the sentence vector.
type head struct {
	from, to string // tensors
	dim      int    // of the sentence vector
	opset    int
	domains  map[string]int // other operator sets
	nodes    []onnxgraph.Node
	weights  []onnxgraph.Initializer
	spans    map[string]span // of the inputs of products, if those are to be in 8 bits
}

// findHead cuts the head out of the teacher's graph.
func findHead(g *onnxgraph.Graph, from, to string, dim int) *head {
	h := &head{from: from, to: to, dim: dim, opset: g.Opsets[""], domains: map[string]int{}}
	for domain, version := range g.Opsets {
		if domain != "" && domain != "ai.onnx" {
			h.domains[domain] = version
		}
	}
	nodes, takes := g.Between(from, to)
	for _, i := range nodes {
		h.nodes = append(h.nodes, g.Nodes[i])
	}
	for _, w := range g.Initializers {
		if takes[w.Name] {
			h.weights = append(h.weights, w)
		}
	}
	return h
}

// add appends the head to a student's graph. Large float32 weights become float16, which ONNX Runtime widens again when
// it loads them.
func (h *head) add(g *export.Graph) error {
	whole := map[string]bool{} // weights that products in 8 bits take
	if h.spans != nil {
		for i := range h.nodes {
			if _, weight, ok := h.product(i); ok {
				whole[weight] = true
			}
		}
		for i, n := range h.nodes { // but not those that something else takes, too
			_, _, ok := h.product(i)
			for _, name := range n.Inputs {
				whole[name] = whole[name] && ok
			}
		}
	}
	done := map[string]bool{}
	for _, w := range h.weights {
		if whole[w.Name] {
			continue
		}
		shape, values, ok := float32Weights(w)
		if !ok || len(values) < 1024 {
			g.RawInitializer(w.Raw)
			continue
		}
		g.Initializer(w.Name+".half", shape, export.Half(narrowed(values)))
		g.Node("Cast", []string{w.Name + ".half"}, []string{w.Name}, export.Attr{Name: "to", Value: int(export.Float32)})
	}
	for i, n := range h.nodes {
		if _, weight, ok := h.product(i); ok && whole[weight] {
			h.addProduct(g, i, done)
			continue
		}
		if n.Subgraphs {
			return badinput.Errorf("the teacher's head has the operator %s, which holds a graph of its own: name a later tensor with --features", n.Op)
		}
		g.RawNode(n.Raw)
	}
	return nil
}

// float32Weights reads a float32 tensor with raw data.
func float32Weights(w onnxgraph.Initializer) (shape []int, values []float32, ok bool) {
	t, err := w.Tensor()
	if err != nil || t.Type != onnxgraph.Float32 {
		return nil, nil, false
	}
	return t.Shape, t.Float32s(), true
}
