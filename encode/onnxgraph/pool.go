package onnxgraph

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

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
	with := appendMessage(nil, graphNode, g.Nodes[last].Raw)
	with = appendMessage(with, graphNode, reduce)
	if constant != nil {
		with = appendMessage(with, graphInitializer, constant)
	}
	pooled, err := Parse(g.Replace(map[int][]byte{last: with}, nil))
	if err != nil {
		return nil, err
	}
	return pooled.Cut(Pooled), nil
}

// int64s is a TensorProto; without a shape it is a scalar.
func int64s(name string, shape []int, values ...int) []byte {
	const int64Type = 7
	var t, raw []byte
	for _, d := range shape {
		t = protowire.AppendVarint(protowire.AppendTag(t, tensorDims, protowire.VarintType), uint64(d))
	}
	t = protowire.AppendVarint(protowire.AppendTag(t, tensorType, protowire.VarintType), int64Type)
	t = appendMessage(t, tensorName, []byte(name))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return appendMessage(t, tensorRaw, raw)
}
