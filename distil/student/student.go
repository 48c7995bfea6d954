// Package student is the encoder that a distillation writes: a table of subword vectors in 4 or 8 bits, whose sums
// stand for a tensor of the teacher's graph, and the rest of the teacher's graph after it.
package student

import (
	"math"
	"strings"

	"bitextmine/distil/fit"
	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/static"
	"bitextmine/internal/badinput"
	"bitextmine/train/export"
)

// Student is an encoder as it is exported: features(s) = scale(s) * (sum of the rows of s's pieces) * basis, then the
// teacher's head.
type Student struct {
	Name  string
	Table *Table
	Basis []float32 // [Table.Dim, Dim and Beside.Columns], or nil: the table's columns are the features'
	Dim   int       // the features' columns
	Power float64   // scale(s) = 1 / tokens^Power
	Head  *Head
	// Beside stands for another encoder, and needs a basis; nil: the vector is the head's.
	Beside *Beside
}

// Names of tensors of a student's graph. The head's keep theirs, unless the teacher is a student itself.
const (
	own = static.Prefix
	// theirs is the prefix of a head's names that would otherwise begin like a student's own, or with theirs.
	theirs = "teacher."
	// TokensOutput holds the pieces' rows: [batch, tokens, table's columns].
	TokensOutput = own + "tokens"
)

// Graph is the student's ONNX graph.
func (s *Student) Graph() (*export.Graph, error) {
	if s.Head.Opset < minOpset {
		return nil, badinput.Errorf("the teacher's graph is of ONNX opset %d, and a student needs %d or newer: convert the teacher (onnx.version_converter)",
			s.Head.Opset, minOpset)
	}
	g := export.NewGraph(s.Name)
	g.Opset("", s.Head.Opset)
	for domain, version := range s.Head.domains {
		g.Opset(domain, version)
	}
	g.Input(export.IDs, export.Int64, "batch", "tokens")
	s.sum(g)
	s.tokens(g)
	features := static.Sums
	g.Initializer(own+"one", nil, []int64{1})
	g.Initializer(own+"power", nil, []float32{float32(-s.Power)})
	node(g, "Shape", "shape", export.IDs)
	node(g, "Gather", "count", own+"shape", own+"one")
	cast(g, "count", "count_f")
	node(g, "Pow", "scale", own+"count_f", own+"power")
	node(g, "Mul", "scaled", own+"sum", own+"scale")
	g.Output(s.Output(), export.Float32, "batch", s.VectorDim())
	if s.Beside != nil {
		return g, s.addBoth(g)
	}
	if s.Basis != nil {
		g.Initializer(own+"basis", []int{s.Table.Dim, s.Dim}, s.Basis)
		node(g, "MatMul", "turned", own+"scaled", own+"basis")
		features = own + "turned"
	}
	g.Node("Identity", []string{features}, []string{s.Head.From})
	return g, s.Head.add(g)
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
// columns] scales and adds at once. Only the low number of a byte is cut out: the byte's sum less that of the low one
// is 16 times that of the high one.
func (s *Student) sum(g *export.Graph) {
	t := s.Table
	g.Initializer(own+"table", []int{t.rows, t.Dim * t.bits / 8}, t.numbers)
	g.Initializer(own+"scales", []int{t.rows, 1}, export.Half(narrowed(t.scales)))
	g.Initializer(own+"zeros", []int{t.Dim}, t.zeros())
	g.Initializer(own+"axis_1", []int{1}, []int64{1})
	node(g, "Gather", "bytes", own+"table", export.IDs)
	node(g, "Gather", "half_scales", own+"scales", export.IDs)
	cast(g, "half_scales", "row_scales") // [batch, tokens, 1]
	g.Node("Transpose", []string{own + "row_scales"}, []string{own + "factors"},
		export.Attr{Name: "perm", Value: []int64{0, 2, 1}})
	s.scaledSum(g, "bytes", "numbers")
	all := own + "numbers_sum"
	if t.bits == 4 {
		g.Initializer(own+"sixteenth", nil, []float32{1.0 / 16})
		if s.Head.Opset >= 18 {
			g.Initializer(own+"fifteen", nil, []int8{15})
			node(g, "BitwiseAnd", "low_bytes", own+"bytes", own+"fifteen")
		} else {
			g.Initializer(own+"sixteen", nil, []int8{16})
			node(g, "Mod", "low_bytes", own+"bytes", own+"sixteen")
		}
		s.scaledSum(g, "low_bytes", "low")
		node(g, "Sub", "high_sum_16", own+"numbers_sum", own+"low_sum")
		node(g, "Mul", "high_sum", own+"high_sum_16", own+"sixteenth")
		g.Node("Concat", []string{own + "low_sum", own + "high_sum"}, []string{own + "both_sum"},
			export.Attr{Name: "axis", Value: 1})
		all = own + "both_sum"
	}
	// [batch, 1]
	g.Node("ReduceSum", []string{own + "row_scales", own + "axis_1"}, []string{own + "scale_sum"},
		export.Attr{Name: "keepdims", Value: 0})
	node(g, "Mul", "shift", own+"scale_sum", own+"zeros")
	node(g, "Sub", "sum", all, own+"shift")
}

// scaledSum adds NAME_sum [batch, columns], the sum over tokens of the scaled numbers of a tensor of bytes, and NAME,
// the numbers.
func (s *Student) scaledSum(g *export.Graph, bytes, name string) {
	cast(g, bytes, name)
	node(g, "MatMul", name+"_sum_3", own+"factors", own+name)
	node(g, "Squeeze", name+"_sum", own+name+"_sum_3", own+"axis_1")
}

// tokens adds the nodes of the pieces' rows, which only the features of a scorer need.
func (s *Student) tokens(g *export.Graph) {
	numbers := own + "numbers"
	if s.Table.bits == 4 {
		node(g, "Sub", "high_16", own+"numbers", own+"low")
		node(g, "Mul", "high", own+"high_16", own+"sixteenth")
		g.Node("Concat", []string{own + "low", own + "high"}, []string{own + "both"},
			export.Attr{Name: "axis", Value: 2})
		numbers = own + "both"
	}
	node(g, "Sub", "centred", numbers, own+"zeros")
	g.Node("Mul", []string{own + "centred", own + "row_scales"}, []string{TokensOutput})
}

// Sums are the numbers that the graph must give for sentences of the student's ids as static.Sums: [len(sentences),
// columns of the table].
func (s *Student) Sums(sentences [][]int32) []float32 {
	out := make([]float32, 0, len(sentences)*s.Table.Dim)
	row := make([]float32, s.Table.Dim)
	for _, ids := range sentences {
		sum := make([]float64, s.Table.Dim)
		for _, id := range ids {
			s.Table.row(int(id), row)
			for k, x := range row {
				sum[k] += float64(x)
			}
		}
		scale := math.Pow(float64(len(ids)), -s.Power)
		for _, x := range sum {
			out = append(out, float32(x*scale))
		}
	}
	return out
}

// Turned returns a tensor of the graph that is linear in the sums, and its rows [sentences, columns]: the features,
// before the head, or with Beside the other encoder's sums.
func (s *Student) Turned(sums []float32) (tensor string, rows []float32, columns int) {
	switch {
	case s.Beside != nil:
		_, beside := s.split()
		return besideSums, fit.Product(sums, s.Table.Dim, widened(narrowed(beside)), s.Beside.Columns), s.Beside.Columns
	case s.Basis == nil:
		return s.Head.From, sums, s.Dim
	}
	return s.Head.From, fit.Product(sums, s.Table.Dim, s.Basis, s.Dim), s.Dim
}

// Head is the part of the teacher's graph from its features to the sentence vector.
type Head struct {
	From, To string // tensors
	Dim      int    // the sentence vector's columns
	Opset    int
	domains  map[string]int // other operator sets
	Nodes    []onnxgraph.Node
	Weights  []onnxgraph.Initializer
}

// FindHead cuts the head out of the teacher's graph. No tensor of the head has a name of a student's own.
func FindHead(g *onnxgraph.Graph, from, to string, dim int) (*Head, error) {
	h := &Head{From: headName(from), To: headName(to), Dim: dim, Opset: g.Opsets[""], domains: map[string]int{}}
	for domain, version := range g.Opsets {
		if domain != "" && domain != "ai.onnx" {
			h.domains[domain] = version
		}
	}
	nodes, takes := g.Between(from, to)
	cast, err := h.widen(g, nodes)
	if err != nil {
		return nil, err
	}
	for _, i := range nodes {
		n := g.Nodes[i]
		if n.Op == "Cast" && cast[n.Inputs[0]] {
			continue
		}
		if n, err = n.Renamed(headName); err != nil {
			return nil, err
		}
		h.Nodes = append(h.Nodes, n)
	}
	for _, w := range g.Initializers {
		if !takes[w.Name] || cast[w.Name] {
			continue
		}
		w, err := w.Renamed(headName)
		if err != nil {
			return nil, err
		}
		h.Weights = append(h.Weights, w)
	}
	return h, nil
}

// widen makes float32 weights of those that the graph has as float16 and casts, as students do. It returns the names of
// the float16 ones.
func (h *Head) widen(g *onnxgraph.Graph, nodes []int) (map[string]bool, error) {
	narrow := map[string]onnxgraph.Tensor{}
	for _, w := range g.Initializers {
		if t, err := w.Tensor(); err == nil && t.Type == onnxgraph.Float16 {
			narrow[w.Name] = t
		}
	}
	cast := map[string]bool{}
	for _, i := range nodes {
		n := g.Nodes[i]
		t, ok := narrow[n.Inputs[0]]
		if n.Op != "Cast" || !ok {
			continue
		}
		attributes, err := n.Attributes()
		if err != nil {
			return nil, err
		}
		if attributes["to"].First(0) == int(onnxgraph.Float32) {
			cast[n.Inputs[0]] = true
			h.Weights = append(h.Weights, onnxgraph.NewFloat32(headName(n.Outputs[0]), t.Shape, widened(t.Uint16s())))
		}
	}
	return cast, nil
}

// headName is the name of a teacher's tensor in its student. It is unique.
func headName(name string) string {
	if strings.HasPrefix(name, own) || strings.HasPrefix(name, theirs) {
		return theirs + name
	}
	return name
}

// add appends the head to a student's graph. Large float32 weights become float16, which ONNX Runtime widens again when
// it loads them.
func (h *Head) add(g *export.Graph) error {
	for _, w := range h.Weights {
		shape, values, ok := Float32Weights(w)
		if !ok || len(values) < 1024 {
			g.RawInitializer(w.Raw)
			continue
		}
		g.Initializer(w.Name+".half", shape, export.Half(narrowed(values)))
		g.Node("Cast", []string{w.Name + ".half"}, []string{w.Name},
			export.Attr{Name: "to", Value: int(export.Float32)})
	}
	for _, n := range h.Nodes {
		if n.Subgraphs {
			return badinput.Errorf("the teacher's head has the operator %s, which holds a graph of its own: name a later tensor with --features", n.Op)
		}
		g.RawNode(n.Raw)
	}
	return nil
}

// Float32Weights reads a float32 tensor with raw data.
func Float32Weights(w onnxgraph.Initializer) (shape []int, values []float32, ok bool) {
	t, err := w.Tensor()
	if err != nil || t.Type != onnxgraph.Float32 {
		return nil, nil, false
	}
	return t.Shape, t.Float32s(), true
}
