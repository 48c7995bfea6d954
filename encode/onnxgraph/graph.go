// Package onnxgraph reads which tensors of an ONNX model are made of which, as far as that is needed to cut a graph:
// what a tensor needs, and which tensors all of it passes through. Weights are neither copied nor looked at.
package onnxgraph

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"bitextmine/internal/protofield"
)

// Node is an operator.
type Node struct {
	Op              string
	Inputs, Outputs []string // Inputs hold what subgraphs of the node take from outside, too
	Subgraphs       bool     // an If, a Loop or a Scan
	Raw             []byte   // NodeProto
}

// Initializer is a constant tensor.
type Initializer struct {
	Name string
	Raw  []byte // TensorProto
}

// Graph is a model's main graph. Its slices point into the model.
type Graph struct {
	Nodes        []Node
	Initializers []Initializer
	Inputs       []string // inputs, except those that only declare an initializer's type
	Outputs      []string
	Shapes       map[string][]int // shapes of the inputs and outputs that declare one; -1: any size
	Types        map[string]Type  // types of the inputs and outputs
	Opsets       map[string]int   // version by domain; "" is ONNX's own
	Functions    bool             // the model defines operators of its own

	model, graph []protofield.Field
}

// Field numbers of onnx.proto.
const (
	modelGraph     = 7
	modelOpset     = 8
	modelFunctions = 25

	graphNode        = 1
	graphInitializer = 5
	graphInput       = 11
	graphOutput      = 12
)

// Parse reads a ModelProto.
func Parse(model []byte) (*Graph, error) {
	g := &Graph{Opsets: map[string]int{}, Shapes: map[string][]int{}, Types: map[string]Type{}}
	var err error
	if g.model, err = protofield.Split(model); err != nil {
		return nil, fmt.Errorf("not an ONNX model: %w", err)
	}
	for _, f := range g.model {
		switch f.Number {
		case modelGraph:
			part, err := protofield.Split(f.Content)
			if err != nil {
				return nil, fmt.Errorf("not an ONNX graph: %w", err)
			}
			g.graph = append(g.graph, part...)
		case modelOpset:
			err = g.opset(f.Content)
		case modelFunctions:
			g.Functions = true
		}
		if err != nil {
			return nil, err
		}
	}
	if g.graph == nil {
		return nil, errors.New("not an ONNX model: it has no graph")
	}
	return g, g.read()
}

func (g *Graph) opset(message []byte) error {
	all, err := protofield.Split(message)
	if err != nil {
		return fmt.Errorf("not an ONNX model: %w", err)
	}
	domain, version := "", 0
	for _, f := range all {
		switch f.Number {
		case 1:
			domain = string(f.Content)
		case 2:
			version = int(f.Value)
		}
	}
	g.Opsets[domain] = version
	return nil
}

func (g *Graph) read() error {
	var inputs []string
	constant := map[string]bool{}
	for _, f := range g.graph {
		var err error
		var name string
		switch f.Number {
		case graphNode:
			var n Node
			n, err = parseNode(f.Content)
			g.Nodes = append(g.Nodes, n)
		case graphInitializer:
			name, err = nameOf(f.Content, 8)
			constant[name] = true
			g.Initializers = append(g.Initializers, Initializer{name, f.Content})
		case graphInput:
			name, err = nameOf(f.Content, 1)
			inputs = append(inputs, name)
			g.declared(name, f.Content)
		case graphOutput:
			name, err = nameOf(f.Content, 1)
			g.Outputs = append(g.Outputs, name)
			g.declared(name, f.Content)
		}
		if err != nil {
			return fmt.Errorf("not an ONNX graph: %w", err)
		}
	}
	for _, name := range inputs {
		if !constant[name] {
			g.Inputs = append(g.Inputs, name)
		}
	}
	return nil
}

// declared reads the type and the shape that a ValueInfoProto declares for a tensor.
func (g *Graph) declared(tensor string, value []byte) {
	for _, number := range []protowire.Number{2, 1} { // type, tensor_type
		value = fieldOf(value, number).Content
	}
	g.Types[tensor] = Type(fieldOf(value, 1).Value)
	shape := fieldOf(value, 2)
	dims, err := protofield.Split(shape.Content)
	if shape.Number == 0 || err != nil {
		return
	}
	sizes := make([]int, len(dims))
	for i, d := range dims {
		sizes[i] = -1
		if size := fieldOf(d.Content, 1); size.Number != 0 {
			sizes[i] = int(size.Value)
		}
	}
	g.Shapes[tensor] = sizes
}

// fieldOf is a message's first field of a number; the zero value if it has none.
func fieldOf(message []byte, number protowire.Number) protofield.Field {
	all, err := protofield.Split(message)
	i := slices.IndexFunc(all, func(f protofield.Field) bool { return f.Number == number })
	if err != nil || i < 0 {
		return protofield.Field{}
	}
	return all[i]
}

// withoutGraph are a model's other fields.
func withoutGraph(model []protofield.Field) (others []byte) {
	for _, f := range model {
		if f.Number != modelGraph {
			others = append(others, f.Raw...)
		}
	}
	return others
}

// Rest are the fields of the model without its graph, and those of the graph without its nodes and initializers.
func (g *Graph) Rest() (model, graph []byte) {
	for _, f := range g.graph {
		if f.Number != graphNode && f.Number != graphInitializer {
			graph = append(graph, f.Raw...)
		}
	}
	return withoutGraph(g.model), graph
}

// nameOf is a message's string field.
func nameOf(message []byte, number protowire.Number) (string, error) {
	all, err := protofield.Split(message)
	for _, f := range all {
		if f.Number == number {
			return string(f.Content), nil
		}
	}
	return "", err
}

func parseNode(message []byte) (Node, error) {
	n := Node{Raw: message}
	all, err := protofield.Split(message)
	for _, f := range all {
		switch f.Number {
		case 1:
			n.Inputs = append(n.Inputs, string(f.Content))
		case 2:
			n.Outputs = append(n.Outputs, string(f.Content))
		case 4:
			n.Op = string(f.Content)
		case 5:
			if err := n.attribute(f.Content); err != nil {
				return n, err
			}
		}
	}
	return n, err
}

// attribute adds to a node's inputs what a subgraph in an attribute takes, as far as names tell: its own tensors' names
// are taken for inputs, too, and match nothing outside.
func (n *Node) attribute(message []byte) error {
	all, err := protofield.Split(message)
	if err != nil {
		return err
	}
	for _, f := range all {
		if f.Number != attributeGraph && f.Number != attributeGraphs {
			continue
		}
		n.Subgraphs = true
		parts, err := protofield.Split(f.Content)
		if err != nil {
			return err
		}
		for _, part := range parts {
			switch part.Number {
			case graphNode:
				inner, err := parseNode(part.Content)
				if err != nil {
					return err
				}
				n.Inputs = append(n.Inputs, inner.Inputs...)
			case graphOutput: // a branch may give back a tensor from outside
				name, err := nameOf(part.Content, 1)
				if err != nil {
					return err
				}
				n.Inputs = append(n.Inputs, name)
			}
		}
	}
	return nil
}
