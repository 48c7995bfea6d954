package student

import (
	"math"

	"bitextmine/distil/fit"
	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/static"
	"bitextmine/train/export"
)

// Beside are the columns of a student's basis after those of the teacher's features: their sum, at length 1, stands for
// another encoder's vector. The student's vector is made of both: the axes of sqrt(1-Share) times the one that the
// teacher's head gives, and sqrt(Share) times this one.
type Beside struct {
	Columns int
	Share   float64   // share of the square of a vector's length
	Axes    []float32 // [dim, vectors of both], or nil: the student's vector is both, one after the other
}

// Names of tensors.
const (
	besideSums = own + "beside_sum"
	// BesideOutput approximates the other encoder's vector: [batch, Beside.Columns].
	BesideOutput = own + "beside"
	vectorOutput = own + "vector"
)

// Output is the tensor of the student's vectors.
func (s *Student) Output() string {
	if s.Beside == nil {
		return s.Head.To
	}
	return vectorOutput
}

// VectorDim is the number of a vector's columns.
func (s *Student) VectorDim() int {
	switch {
	case s.Beside == nil:
		return s.Head.Dim
	case s.Beside.Axes == nil:
		return s.Head.Dim + s.Beside.Columns
	}
	return len(s.Beside.Axes) / (s.Head.Dim + s.Beside.Columns)
}

// split returns the two parts of the basis: for the teacher's features [columns of the table, Dim], and for the other
// encoder's sums [columns of the table, Beside.Columns].
func (s *Student) split() (features, beside []float32) {
	wide := s.Dim + s.Beside.Columns
	for i := 0; i < len(s.Basis); i += wide {
		features = append(features, s.Basis[i:i+s.Dim]...)
		beside = append(beside, s.Basis[i+s.Dim:i+wide]...)
	}
	return features, beside
}

// addBoth adds the head and the other encoder's part to a graph that has the sums.
func (s *Student) addBoth(g *export.Graph) error {
	features, beside := s.split()
	head, ok := s.Head.after(features, s.Dim)
	if !ok {
		half(g, own+"basis", []int{s.Table.Dim, s.Dim}, features)
		g.Node("MatMul", []string{static.Sums, own + "basis"}, []string{s.Head.From})
	}
	if err := head.add(g); err != nil {
		return err
	}
	half(g, own+"beside_basis", []int{s.Table.Dim, s.Beside.Columns}, beside)
	g.Node("MatMul", []string{static.Sums, own + "beside_basis"}, []string{besideSums})
	unit(g, besideSums, BesideOutput)
	unit(g, s.Head.To, own+"taught")
	teacher, other := s.turns()
	dim := s.VectorDim()
	half(g, own+"turn", []int{s.Head.Dim, dim}, teacher)
	half(g, own+"beside_turn", []int{s.Beside.Columns, dim}, other)
	node(g, "MatMul", "taught_turned", own+"taught", own+"turn")
	node(g, "MatMul", "beside_turned", BesideOutput, own+"beside_turn")
	node(g, "Add", "mixed", own+"taught_turned", own+"beside_turned")
	unit(g, own+"mixed", vectorOutput)
	return nil
}

// turns are the matrices that the two vectors are multiplied by.
func (s *Student) turns() (teacher, beside []float32) {
	b, dim := s.Beside, s.VectorDim()
	wide := s.Head.Dim + b.Columns
	for i := range wide {
		share := 1 - b.Share
		if i >= s.Head.Dim {
			share = b.Share
		}
		row := make([]float32, dim)
		for k := range row {
			switch {
			case b.Axes != nil:
				row[k] = b.Axes[k*wide+i]
			case k == i:
				row[k] = 1
			}
			row[k] *= float32(math.Sqrt(share))
		}
		if i < s.Head.Dim {
			teacher = append(teacher, row...)
		} else {
			beside = append(beside, row...)
		}
	}
	return teacher, beside
}

// unit adds a tensor's rows at length 1.
func unit(g *export.Graph, from, to string) {
	g.Node("LpNormalization", []string{from}, []string{to}, export.Attr{Name: "axis", Value: 1},
		export.Attr{Name: "p", Value: 2})
}

// half adds a matrix in float16.
func half(g *export.Graph, name string, shape []int, values []float32) {
	g.Initializer(name+".half", shape, export.Half(narrowed(values)))
	g.Node("Cast", []string{name + ".half"}, []string{name}, export.Attr{Name: "to", Value: int(export.Float32)})
}

// after is the head for the sums of the table's columns instead of features = sums * basis [columns, dim]. It exists if
// the head only multiplies the features by matrices, which are then multiplied by the basis in advance.
func (h *Head) after(basis []float32, dim int) (*Head, bool) {
	out := *h
	out.Nodes, out.Weights = nil, nil
	taken := map[string]bool{} // matrices of the features
	for i, n := range h.Nodes {
		_, weight, ok := h.product(i)
		for at, name := range n.Inputs {
			if name == h.From && (!ok || at != 0) {
				return h, false
			}
		}
		if ok && n.Inputs[0] == h.From {
			taken[weight] = true
		}
	}
	if len(taken) == 0 {
		return h, false
	}
	name := func(name string) string {
		switch {
		case name == h.From:
			return static.Sums
		case taken[name]:
			return own + "turned." + name
		}
		return name
	}
	for _, n := range h.Nodes {
		if n.Inputs[0] == h.From {
			var err error
			if n, err = n.Renamed(name); err != nil {
				return h, false
			}
		}
		out.Nodes = append(out.Nodes, n)
	}
	for _, w := range h.Weights {
		if taken[w.Name] {
			shape, values, _ := Float32Weights(w)
			turned := fit.Product(basis, dim, values, shape[1])
			out.Weights = append(out.Weights,
				onnxgraph.NewFloat32(name(w.Name), []int{len(basis) / dim, shape[1]}, turned))
		}
		out.Weights = append(out.Weights, w)
	}
	return &out, true
}

// product returns the factors of node i if it multiplies a tensor by a float32 matrix of the head.
func (h *Head) product(i int) (input, weight string, ok bool) {
	n := h.Nodes[i]
	if n.Op != "MatMul" {
		return "", "", false
	}
	for _, w := range h.Weights {
		if w.Name == n.Inputs[1] {
			shape, _, float := Float32Weights(w)
			return n.Inputs[0], w.Name, float && len(shape) == 2
		}
	}
	return "", "", false
}
