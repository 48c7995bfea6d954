package onnxgraph

import (
	"slices"

	"bitextmine/internal/protofield"
)

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
	return g.waists(g.Inputs, to, func(Node) bool { return false })
}

// Layers lists the tensors of tokens between an input of ids and tensor `to`, nearest to the ids first: results of a
// normalisation, or in a graph without an operator for that of an addition, that everything which `to` knows of the
// ids passes through, but for their shape.
func (g *Graph) Layers(ids, to string) []string {
	by := g.producers()
	for i, ok := by[to]; ok && g.Nodes[i].Op == "Identity"; i, ok = by[to] {
		to = g.Nodes[i].Inputs[0]
	}
	waists := g.waists([]string{ids}, to, func(n Node) bool { return n.Op == "Shape" })
	for _, ops := range [][]string{{"LayerNormalization", "SimplifiedLayerNormalization"}, {"Add"}} {
		layers := slices.DeleteFunc(slices.Clone(waists),
			func(name string) bool { return !slices.Contains(ops, g.Nodes[by[name]].Op) })
		if len(layers) > 1 {
			return layers
		}
	}
	return nil
}

// waists is Waists for some inputs, without what some nodes pass on.
func (g *Graph) waists(inputs []string, to string, cut func(Node) bool) []string {
	const none = -2 // does not depend on the inputs
	const source = -1
	above := make([]int, len(g.Nodes)) // the nearest waist of a node: a node, source or none
	depth := make([]int, len(g.Nodes))
	made := map[string]int{}
	for _, name := range inputs {
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
		if above[i] == none || cut(n) {
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
func (g *Graph) Cut(to string) []byte { return g.cut("", nil, to, func(string) bool { return true }) }

// CutAfter is Cut with tensor `from`, float32 [batch, columns], as the only input.
func (g *Graph) CutAfter(from string, columns int, to string) []byte {
	return g.cut(from, []int{-1, columns}, to, func(string) bool { return false })
}

// Part is Cut with those of the graph's inputs alone that `to` needs, and after them tensor `from`, float32 of any
// shape, as an input; "" gives no tensor. It also gives the inputs' names.
func (g *Graph) Part(from, to string) (model []byte, inputs []string) {
	_, takes := g.Between(from, to)
	for _, name := range g.Inputs {
		if takes[name] {
			inputs = append(inputs, name)
		}
	}
	model = g.cut(from, nil, to, func(name string) bool { return takes[name] })
	if from != "" {
		inputs = append(inputs, from)
	}
	return model, inputs
}

func (g *Graph) cut(from string, shape []int, to string, input func(name string) bool) []byte {
	nodes, takes := g.Between(from, to)
	keep := map[int]bool{}
	for _, i := range nodes {
		keep[i] = true
	}
	var graph []byte
	node, initializer, output, declared := 0, 0, 0, false
	for _, f := range g.graph {
		kept := true
		switch f.Number {
		case graphNode:
			kept = keep[node]
			node++
		case graphInitializer:
			kept = takes[g.Initializers[initializer].Name]
			initializer++
		case graphInput:
			name, err := nameOf(f.Content, 1)
			kept = err == nil && input(name)
		case graphOutput:
			kept = g.Outputs[output] == to
			declared = declared || kept
			output++
		}
		if kept {
			graph = append(graph, f.Raw...)
		}
	}
	if from != "" {
		graph = protofield.AppendBytes(graph, graphInput, valueInfo(from, Float32, shape))
	}
	if !declared {
		graph = protofield.AppendBytes(graph, graphOutput, valueInfo(to, Float32, nil))
	}
	return protofield.AppendBytes(withoutGraph(g.model), modelGraph, graph)
}

// valueInfo is a ValueInfoProto of a tensor; without a shape it is of any, and a size of -1 is any.
func valueInfo(name string, kind Type, shape []int) []byte {
	tensor := protofield.AppendVarint(nil, 1, kind)
	if shape != nil {
		var dims []byte
		for _, size := range shape {
			var dim []byte
			if size >= 0 {
				dim = protofield.AppendVarint(nil, 1, size)
			}
			dims = protofield.AppendBytes(dims, 1, dim)
		}
		tensor = protofield.AppendBytes(tensor, 2, dims)
	}
	info := protofield.AppendBytes(nil, 1, name)
	return protofield.AppendBytes(info, 2, protofield.AppendBytes(nil, 1, tensor))
}
