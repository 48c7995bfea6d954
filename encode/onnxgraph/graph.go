// Package onnxgraph reads which tensors of an ONNX model are made of which, as far as that is needed to cut a graph:
// what a tensor needs, and which tensors all of it passes through. Weights are neither copied nor looked at.
package onnxgraph

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
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
	Inputs       []string // without those that only give an initializer's type
	Outputs      []string
	Opsets       map[string]int // version by domain; "" is ONNX's own
	Functions    bool           // the model defines operators of its own

	model, graph []field
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

// field is one field of a message: its whole encoding and, if it is a string or a message, its content.
type field struct {
	number  protowire.Number
	raw     []byte
	content []byte
	value   uint64
}

// fields splits a message.
func fields(message []byte) ([]field, error) {
	var all []field
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		f := field{number: number}
		var size int
		switch kind {
		case protowire.BytesType:
			f.content, size = protowire.ConsumeBytes(message[n:])
		case protowire.VarintType:
			f.value, size = protowire.ConsumeVarint(message[n:])
		default:
			size = protowire.ConsumeFieldValue(number, kind, message[n:])
		}
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		f.raw, message = message[:n+size], message[n+size:]
		all = append(all, f)
	}
	return all, nil
}

// Parse reads a ModelProto.
func Parse(model []byte) (*Graph, error) {
	g := &Graph{Opsets: map[string]int{}}
	var err error
	if g.model, err = fields(model); err != nil {
		return nil, fmt.Errorf("not an ONNX model: %w", err)
	}
	for _, f := range g.model {
		switch f.number {
		case modelGraph:
			part, err := fields(f.content)
			if err != nil {
				return nil, fmt.Errorf("not an ONNX graph: %w", err)
			}
			g.graph = append(g.graph, part...)
		case modelOpset:
			err = g.opset(f.content)
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
	all, err := fields(message)
	if err != nil {
		return fmt.Errorf("not an ONNX model: %w", err)
	}
	domain, version := "", 0
	for _, f := range all {
		switch f.number {
		case 1:
			domain = string(f.content)
		case 2:
			version = int(f.value)
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
		switch f.number {
		case graphNode:
			var n Node
			n, err = parseNode(f.content)
			g.Nodes = append(g.Nodes, n)
		case graphInitializer:
			name, err = nameOf(f.content, 8)
			constant[name] = true
			g.Initializers = append(g.Initializers, Initializer{name, f.content})
		case graphInput:
			name, err = nameOf(f.content, 1)
			inputs = append(inputs, name)
		case graphOutput:
			name, err = nameOf(f.content, 1)
			g.Outputs = append(g.Outputs, name)
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

// nameOf is a message's string field.
func nameOf(message []byte, number protowire.Number) (string, error) {
	all, err := fields(message)
	for _, f := range all {
		if f.number == number {
			return string(f.content), nil
		}
	}
	return "", err
}

func parseNode(message []byte) (Node, error) {
	n := Node{Raw: message}
	all, err := fields(message)
	for _, f := range all {
		switch f.number {
		case 1:
			n.Inputs = append(n.Inputs, string(f.content))
		case 2:
			n.Outputs = append(n.Outputs, string(f.content))
		case 4:
			n.Op = string(f.content)
		case 5:
			if err := n.attribute(f.content); err != nil {
				return n, err
			}
		}
	}
	return n, err
}

// attribute adds to a node's inputs what a subgraph in an attribute takes, as far as names tell: its own tensors' names
// are taken for inputs, too, and match nothing outside.
func (n *Node) attribute(message []byte) error {
	all, err := fields(message)
	if err != nil {
		return err
	}
	const graph, graphs = 6, 11
	for _, f := range all {
		if f.number != graph && f.number != graphs {
			continue
		}
		n.Subgraphs = true
		parts, err := fields(f.content)
		if err != nil {
			return err
		}
		for _, part := range parts {
			switch part.number {
			case graphNode:
				inner, err := parseNode(part.content)
				if err != nil {
					return err
				}
				n.Inputs = append(n.Inputs, inner.Inputs...)
			case graphOutput: // a branch may give back a tensor from outside
				name, err := nameOf(part.content, 1)
				if err != nil {
					return err
				}
				n.Inputs = append(n.Inputs, name)
			}
		}
	}
	return nil
}

// producers gives the node that makes a tensor.
func (g *Graph) producers() map[string]int {
	by := map[string]int{}
	for i, n := range g.Nodes {
		for _, out := range n.Outputs {
			if out != "" {
				by[out] = i
			}
		}
	}
	return by
}

// Has says whether a node makes a tensor.
func (g *Graph) Has(tensor string) bool {
	_, ok := g.producers()[tensor]
	return ok
}

// Between lists, in the graph's order, the nodes that tensor `to` needs and that do not only serve to make `from` (a
// name of no tensor: all that `to` needs), and the names of the tensors that they take.
func (g *Graph) Between(from, to string) (nodes []int, takes map[string]bool) {
	by := g.producers()
	needed := make([]bool, len(g.Nodes))
	takes = map[string]bool{}
	pending := []string{to}
	for len(pending) > 0 {
		name := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		takes[name] = true
		i, made := by[name]
		if name == from || !made || needed[i] {
			continue
		}
		needed[i] = true
		pending = append(pending, g.Nodes[i].Inputs...)
	}
	for i, is := range needed {
		if is {
			nodes = append(nodes, i)
		}
	}
	return nodes, takes
}

// Waists lists the tensors that everything which tensor `to` takes from the graph's inputs passes through, the nearest
// to the inputs first; the last is `to`. (They are its dominators, if each node is reached from its inputs: T. Lengauer
// and R. Tarjan 1979; on a graph in order, each node's nearest one is the common one of its inputs.)
func (g *Graph) Waists(to string) []string {
	const none = -2 // does not depend on the inputs
	const source = -1
	above := make([]int, len(g.Nodes)) // the nearest waist of a node: a node, source or none
	depth := make([]int, len(g.Nodes))
	made := map[string]int{}
	for _, name := range g.Inputs {
		made[name] = source
	}
	meet := func(a, b int) int {
		for a != b {
			if a == source || b != source && depth[b] > depth[a] {
				a, b = b, a
			}
			a = above[a]
		}
		return a
	}
	for i, n := range g.Nodes {
		above[i] = none
		for _, name := range n.Inputs {
			if of, ok := made[name]; ok {
				if above[i] == none {
					above[i] = of
				} else {
					above[i] = meet(above[i], of)
				}
			}
		}
		if above[i] == none {
			continue
		}
		if above[i] != source {
			depth[i] = depth[above[i]] + 1
		} else {
			depth[i] = 1
		}
		for _, out := range n.Outputs {
			made[out] = i
		}
	}
	at, ok := made[to]
	if !ok {
		return nil
	}
	waists := []string{to}
	for at != source && above[at] != source {
		at = above[at]
		if len(g.Nodes[at].Outputs) == 1 {
			waists = append([]string{g.Nodes[at].Outputs[0]}, waists...)
		}
	}
	return waists
}

// Cut is the model with only what tensor `to` needs, and `to` as an output that is float32; a graph that declares `to`
// keeps its declaration.
func (g *Graph) Cut(to string) []byte { return g.cut("", 0, to) }

// CutAfter is Cut with tensor `from`, float32 [batch, columns], as the only input.
func (g *Graph) CutAfter(from string, columns int, to string) []byte { return g.cut(from, columns, to) }

func (g *Graph) cut(from string, columns int, to string) []byte {
	nodes, takes := g.Between(from, to)
	keep := map[int]bool{}
	for _, i := range nodes {
		keep[i] = true
	}
	var graph []byte
	node, initializer, output, declared := 0, 0, 0, false
	whole := from == ""
	for _, f := range g.graph {
		kept := true
		switch f.number {
		case graphNode:
			kept = keep[node]
			node++
		case graphInitializer:
			kept = takes[g.Initializers[initializer].Name]
			initializer++
		case graphInput:
			kept = whole
		case graphOutput:
			kept = g.Outputs[output] == to
			declared = declared || kept
			output++
		}
		if kept {
			graph = append(graph, f.raw...)
		}
	}
	if !whole {
		graph = appendMessage(graph, graphInput, floatValue(from, columns))
	}
	if !declared {
		graph = appendMessage(graph, graphOutput, floatValue(to, 0))
	}
	var model []byte
	for _, f := range g.model {
		if f.number != modelGraph {
			model = append(model, f.raw...)
		}
	}
	return appendMessage(model, modelGraph, graph)
}

func appendMessage(b []byte, number protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), message)
}

// floatValue is a ValueInfoProto of a float32 tensor, [batch, columns], or of any shape if columns is 0.
func floatValue(name string, columns int) []byte {
	const float32Type = 1
	tensor := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), float32Type)
	if columns > 0 {
		width := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(columns))
		tensor = appendMessage(tensor, 2, appendMessage(appendMessage(nil, 1, nil), 1, width))
	}
	info := appendMessage(nil, 1, []byte(name))
	return appendMessage(info, 2, appendMessage(nil, 1, tensor))
}
