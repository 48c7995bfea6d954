package onnxgraph

import (
	"slices"

	"bitextmine/internal/protofield"
)

// Unsigned is the model with 8-bit matrices that have no sign: every number of a matrix that a MatMulIntegerToFloat
// takes is 128 more, and that is its zero point. The input's must be a uint8 of 128 that all share. Nil: the graph has
// no such product, or all have zero points.
//
// ONNX Runtime multiplies numbers without a sign by numbers with one on x86-64. Where the CPU has no instruction for
// it, sums of two products are cut to 16 bits, as its documentation on quantisation says; products of two numbers
// without a sign are exact everywhere.
func (g *Graph) Unsigned() []byte {
	by, initializers := g.producers(), map[string]Initializer{}
	for _, w := range g.Initializers {
		initializers[w.Name] = w
	}
	without, nodes := map[string]bool{}, map[int][]byte{}
	for i, n := range g.Nodes {
		if n.Op != "MatMulIntegerToFloat" || len(n.Inputs) != 5 {
			continue
		}
		name := n.Inputs[1]
		for range 2 { // a matrix may be packed
			at, made := by[name]
			if of := g.Nodes[at]; made && len(of.Inputs) > 0 && (of.Op == "Transpose" || of.Op == "Reshape") {
				name = of.Inputs[0]
			}
		}
		t, err := initializers[name].Tensor()
		zero, otherErr := initializers[n.Inputs[4]].Tensor()
		if err != nil || t.Type != Int8 || otherErr != nil || zero.Type != Uint8 || !slices.Equal(zero.Data, []byte{128}) {
			continue
		}
		nodes[i] = protofield.AppendBytes(nil, graphNode, protofield.AppendBytes(slices.Clip(n.Raw), nodeInput, n.Inputs[4]))
		if !without[name] {
			without[name] = true
			nodes[i] = protofield.AppendBytes(nodes[i], graphInitializer, unsigned(initializers[name].Raw))
		}
	}
	if len(nodes) == 0 {
		return nil
	}
	return g.Replace(nodes, without)
}

// unsigned is a TensorProto of int8 with 128 added to each number.
func unsigned(message []byte) []byte {
	all, _ := protofield.Split(message) // Tensor has read it
	out := make([]byte, 0, len(message))
	for _, f := range all {
		switch f.Number {
		case tensorType:
			out = protofield.AppendVarint(out, tensorType, Uint8)
		case tensorRaw:
			from := len(out) + len(f.Raw) - len(f.Content)
			out = append(out, f.Raw...)
			for i := range out[from:] {
				out[from+i] ^= 0x80
			}
		default:
			out = append(out, f.Raw...)
		}
	}
	return out
}
