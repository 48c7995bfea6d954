package onnxgraph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"bitextmine/internal/protofield"
)

// Replace is the model with other fields of its GraphProto, nodes and initializers, in place of some nodes (by their
// place in Nodes), and without some initializers.
func (g *Graph) Replace(nodes map[int][]byte, without map[string]bool) []byte {
	var graph []byte
	node, initializer := 0, 0
	for _, f := range g.graph {
		content := f.Raw
		switch f.Number {
		case graphNode:
			if other, ok := nodes[node]; ok {
				content = other
			}
			node++
		case graphInitializer:
			if without[g.Initializers[initializer].Name] {
				content = nil
			}
			initializer++
		}
		graph = append(graph, content...)
	}
	return protofield.AppendBytes(withoutGraph(g.model), modelGraph, graph)
}

// WithOpset is a model that uses a set of operators, too.
func WithOpset(model []byte, domain string, version int) []byte {
	return protofield.AppendBytes(model, modelOpset, protofield.AppendVarint(protofield.AppendBytes(nil, 1, domain), 2, version))
}

// Renamed is the node with other names of the tensors that it takes and gives, but for those in graphs of its own.
func (n Node) Renamed(name func(string) string) (Node, error) {
	raw, err := renamed(n.Raw, name, nodeInput, nodeOutput)
	if err != nil {
		return n, err
	}
	return parseNode(raw)
}

// Renamed is the tensor by another name.
func (w Initializer) Renamed(name func(string) string) (Initializer, error) {
	if name(w.Name) == w.Name { // share the tensor's data
		return w, nil
	}
	raw, err := renamed(w.Raw, name, tensorName)
	return Initializer{name(w.Name), raw}, err
}

// renamed gives a message with other strings in some fields. An input that is left out has no name and keeps none.
func renamed(message []byte, name func(string) string, fields ...protowire.Number) ([]byte, error) {
	all, err := protofield.Split(message)
	if err != nil {
		return nil, err
	}
	var out []byte
	for _, f := range all {
		if slices.Contains(fields, f.Number) && len(f.Content) > 0 {
			out = protofield.AppendBytes(out, f.Number, name(string(f.Content)))
			continue
		}
		out = append(out, f.Raw...)
	}
	return out, nil
}

// Attribute is the numbers of a node's attribute: Float, or Ints, one or several. An attribute of another kind has
// none.
type Attribute struct {
	Float float32
	Ints  []int
}

// First is the first whole number, or another one where there is none.
func (a Attribute) First(otherwise int) int {
	if len(a.Ints) == 0 {
		return otherwise
	}
	return a.Ints[0]
}

// Attributes are a node's attributes by name.
func (n Node) Attributes() (map[string]Attribute, error) {
	const attributeFloat = 2
	all := map[string]Attribute{}
	err := each(n.Raw, func(number protowire.Number, content []byte) error {
		if number != nodeAttribute {
			return nil
		}
		fields, err := protofield.Split(content)
		if err != nil {
			return err
		}
		var name string
		var a Attribute
		for _, f := range fields {
			switch {
			case f.Number == attributeName:
				name = string(f.Content)
			case f.Number == attributeFloat:
				a.Float = math.Float32frombits(uint32(f.Value))
			case f.Number == attributeInt || f.Number == attributeInts && f.Content == nil:
				a.Ints = append(a.Ints, int(f.Value))
			case f.Number == attributeInts:
				for rest := f.Content; len(rest) > 0; {
					v, size := protowire.ConsumeVarint(rest)
					if size < 0 {
						return fmt.Errorf("attribute %s: %w", name, protowire.ParseError(size))
					}
					a.Ints, rest = append(a.Ints, int(v)), rest[size:]
				}
			}
		}
		all[name] = a
		return nil
	})
	return all, err
}

// Rows is the number of rows of the table that an input of ids is looked up in; 0: there is none that says.
func Rows(g *Graph, ids string) int {
	tables := map[string]int{}
	for _, w := range g.Initializers {
		if t, _ := w.Tensor(); len(t.Shape) == 2 { // its shape is there even if its numbers are elsewhere
			tables[w.Name] = t.Shape[0]
		}
	}
	names := map[string]bool{ids: true}
	rows := 0
	for _, n := range g.Nodes {
		switch {
		case n.Op == "Cast" && len(n.Inputs) == 1 && names[n.Inputs[0]]:
			names[n.Outputs[0]] = true
		case n.Op == "Gather" && len(n.Inputs) == 2 && names[n.Inputs[1]] && tables[n.Inputs[0]] > 0:
			if of := tables[n.Inputs[0]]; rows == 0 || of < rows {
				rows = of
			}
		}
	}
	return rows
}

// Reduction is how the vectors of a sentence's tokens become one.
type Reduction int

// The reductions.
const (
	FirstToken Reduction = iota
	MeanOfTokens
	MaxOfTokens
)

// Pooled is the name of the tensor that Pool adds.
const Pooled = "mine.pooled"

// Pool is the model with one output, Pooled [batch, dim]: the reduction of tensor `of` [batch, tokens, dim].
func Pool(g *Graph, of string, how Reduction) ([]byte, error) {
	const place = "mine.place" // the first token, or [1]: the axis of the tokens
	const reducedByInput = 18  // the version of the operators from which axes are an input
	var reduce, constant []byte
	switch op := map[Reduction]string{MeanOfTokens: "ReduceMean", MaxOfTokens: "ReduceMax"}[how]; {
	case how == FirstToken:
		constant = int64s(place, nil, 0)
		reduce = operator("Gather", []string{of, place}, Pooled, whole("axis", 1))
	case max(g.Opsets[""], g.Opsets["ai.onnx"]) < reducedByInput:
		reduce = operator(op, []string{of}, Pooled, wholes("axes", 1), whole("keepdims", 0))
	default:
		constant = int64s(place, []int{1}, 1)
		reduce = operator(op, []string{of, place}, Pooled, whole("keepdims", 0))
	}
	last := len(g.Nodes) - 1
	with := protofield.AppendBytes(nil, graphNode, g.Nodes[last].Raw)
	with = protofield.AppendBytes(with, graphNode, reduce)
	if constant != nil {
		with = protofield.AppendBytes(with, graphInitializer, constant)
	}
	pooled, err := Parse(g.Replace(map[int][]byte{last: with}, nil))
	if err != nil {
		return nil, err
	}
	return pooled.Cut(Pooled), nil
}

// int64s is a TensorProto; without a shape it is a scalar.
func int64s(name string, shape []int, values ...int) []byte {
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return tensor(name, shape, Int64, raw)
}

// ErrHalf is a graph that computes in float16 already.
var ErrHalf = errors.New("the graph has float16 numbers of its own")

// HalfProducts is the model with its matrix products in float16: their operands are rounded to it, and so are their
// results, which go on in float32. Everything else, where sums and exponentials would leave float16's range, stays as
// it is. ONNX Runtime rounds weights once, when it loads the model.
func HalfProducts(g *Graph) ([]byte, error) {
	for _, w := range g.Initializers {
		if t, _ := w.Tensor(); t.Type == Float16 { // its type is there even if its numbers are elsewhere
			return nil, ErrHalf
		}
	}
	const suffix = " in float16"
	rounded := map[string]bool{}
	nodes := map[int][]byte{}
	for i, n := range g.Nodes {
		if n.Op != "MatMul" && n.Op != "Gemm" {
			continue
		}
		var around []byte
		for _, name := range n.Inputs {
			if name != "" && !rounded[name] {
				rounded[name] = true
				around = protofield.AppendBytes(around, graphNode, cast(name, name+suffix, Float16))
			}
		}
		product, err := renamed(n.Raw, func(name string) string { return name + suffix }, nodeInput, nodeOutput)
		if err != nil {
			return nil, err
		}
		around = protofield.AppendBytes(around, graphNode, product)
		nodes[i] = protofield.AppendBytes(around, graphNode, cast(n.Outputs[0]+suffix, n.Outputs[0], Float32))
		rounded[n.Outputs[0]] = true // the other product reads the result rounded here, before it continues in float32
	}
	return g.Replace(nodes, nil), nil
}

// Field numbers of NodeProto and AttributeProto.
const (
	nodeInput     = 1
	nodeOutput    = 2
	nodeOp        = 4
	nodeAttribute = 5

	attributeName   = 1
	attributeInt    = 3
	attributeGraph  = 6
	attributeInts   = 8
	attributeGraphs = 11
	attributeType   = 20
)

// NewNode is a node without attributes.
func NewNode(op string, inputs []string, output string) Node {
	return Node{Op: op, Inputs: inputs, Outputs: []string{output}, Raw: operator(op, inputs, output)}
}

// operator is a NodeProto.
func operator(op string, inputs []string, output string, attributes ...[]byte) []byte {
	var n []byte
	for _, name := range inputs {
		n = protofield.AppendBytes(n, nodeInput, name)
	}
	n = protofield.AppendBytes(n, nodeOutput, output)
	n = protofield.AppendBytes(n, nodeOp, op)
	for _, a := range attributes {
		n = protofield.AppendBytes(n, nodeAttribute, a)
	}
	return n
}

// whole is an attribute of one whole number.
func whole(name string, value int) []byte {
	const kind = 2 // INT
	a := protofield.AppendVarint(protofield.AppendBytes(nil, attributeName, name), attributeInt, value)
	return protofield.AppendVarint(a, attributeType, kind)
}

// wholes is an attribute that is a list of one whole number.
func wholes(name string, value int) []byte {
	const kind = 7 // INTS
	a := protofield.AppendVarint(protofield.AppendBytes(nil, attributeName, name), attributeInts, value)
	return protofield.AppendVarint(a, attributeType, kind)
}

func cast(from, to string, kind Type) []byte {
	return operator("Cast", []string{from}, to, whole("to", int(kind)))
}
