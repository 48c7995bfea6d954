package onnxgraph

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"

	"bitextmine/internal/protofield"
)

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
				around = appendMessage(around, graphNode, cast(name, name+suffix, Float16))
			}
		}
		product, err := n.renamed(suffix)
		if err != nil {
			return nil, err
		}
		around = appendMessage(around, graphNode, product)
		nodes[i] = appendMessage(around, graphNode, cast(n.Outputs[0]+suffix, n.Outputs[0], Float32))
		rounded[n.Outputs[0]] = true // the other product reads the result rounded here, before it continues in float32
	}
	return g.Replace(nodes, nil), nil
}

// renamed is the node with a suffix to the names of its inputs and outputs.
func (n Node) renamed(suffix string) ([]byte, error) {
	all, err := protofield.Split(n.Raw)
	var out []byte
	for _, f := range all {
		if (f.Number == nodeInput || f.Number == nodeOutput) && len(f.Content) > 0 {
			out = appendMessage(out, f.Number, append([]byte(nil), string(f.Content)+suffix...))
		} else {
			out = append(out, f.Raw...)
		}
	}
	return out, err
}

// Field numbers of NodeProto and AttributeProto.
const (
	nodeInput     = 1
	nodeOutput    = 2
	nodeOp        = 4
	nodeAttribute = 5

	attributeName = 1
	attributeInt  = 3
	attributeInts = 8
	attributeType = 20
)

// operator is a NodeProto.
func operator(op string, inputs []string, output string, attributes ...[]byte) []byte {
	var n []byte
	for _, name := range inputs {
		n = appendMessage(n, nodeInput, []byte(name))
	}
	n = appendMessage(n, nodeOutput, []byte(output))
	n = appendMessage(n, nodeOp, []byte(op))
	for _, a := range attributes {
		n = appendMessage(n, nodeAttribute, a)
	}
	return n
}

// whole is an attribute of one whole number.
func whole(name string, value int) []byte {
	const kind = 2 // INT
	a := appendMessage(nil, attributeName, []byte(name))
	a = protowire.AppendVarint(protowire.AppendTag(a, attributeInt, protowire.VarintType), uint64(value))
	return protowire.AppendVarint(protowire.AppendTag(a, attributeType, protowire.VarintType), kind)
}

// wholes is an attribute that is a list of one whole number.
func wholes(name string, value int) []byte {
	const kind = 7 // INTS
	a := appendMessage(nil, attributeName, []byte(name))
	a = protowire.AppendVarint(protowire.AppendTag(a, attributeInts, protowire.VarintType), uint64(value))
	return protowire.AppendVarint(protowire.AppendTag(a, attributeType, protowire.VarintType), kind)
}

func cast(from, to string, kind Type) []byte {
	return operator("Cast", []string{from}, to, whole("to", int(kind)))
}
