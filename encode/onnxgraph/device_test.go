package onnxgraph

import (
	"errors"
	"slices"
	"testing"

	"bitextmine/internal/protofield"
)

// tokens is a graph of tokens' vectors, with a product of two tensors, one of which is used twice.
var tokens = model([]string{"states"},
	op("Cast", "ids", "wide"),
	op("Gather", "w1", "wide", "rows"),
	op("MatMul", "rows", "w2", "query"),
	op("MatMul", "rows", "query", "scores"),
	op("Add", "scores", "rows", "states"))

func parsed(t *testing.T, model []byte, err error) *Graph {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	g, err := Parse(model)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestHalfProducts: operands are rounded once each, before the first product, and what follows takes the names that it
// took before.
func TestHalfProducts(t *testing.T) {
	data, err := HalfProducts(parsed(t, tokens, nil))
	g := parsed(t, data, err)
	var got []string
	for _, n := range g.Nodes {
		got = append(got, n.Op+" "+n.Outputs[0])
	}
	if want := []string{
		"Cast wide", "Gather rows", "Cast rows in float16", "Cast w2 in float16", "MatMul query in float16", "Cast query",
		"MatMul scores in float16", "Cast scores", "Add states",
	}; !slices.Equal(got, want) {
		t.Errorf("the nodes are %q, want %q", got, want)
	}
	for i, kind := range map[int]Type{2: Float16, 5: Float32} {
		if a, err := g.Nodes[i].Attributes(); err != nil || a["to"].First(0) != int(kind) {
			t.Errorf("%s is rounded to %v, %v", g.Nodes[i].Outputs[0], a, err)
		}
	}
	half := protofield.AppendVarint(nil, tensorType, Float16)
	half = protofield.AppendBytes(protofield.AppendBytes(half, tensorName, "w3"), tensorRaw, "")
	whole := parsed(t, tokens, nil)
	with := parsed(t, whole.Replace(map[int][]byte{4: protofield.AppendBytes(protofield.AppendBytes(nil, graphNode, whole.Nodes[4].Raw), graphInitializer, half)}, nil), nil)
	if _, err := HalfProducts(with); !errors.Is(err, ErrHalf) {
		t.Errorf("a graph in float16 gives %v", err)
	}
}

// TestPool: the pooled tensor is the only output, and the axis of tokens is an input from version 18 of the operators.
func TestPool(t *testing.T) {
	for how, op := range map[Reduction]string{FirstToken: "Gather", MeanOfTokens: "ReduceMean", MaxOfTokens: "ReduceMax"} {
		data, err := Pool(parsed(t, tokens, nil), "states", how)
		g := parsed(t, data, err)
		last := g.Nodes[len(g.Nodes)-1]
		if last.Op != op || len(last.Inputs) != 2 || !slices.Equal(g.Outputs, []string{Pooled}) || len(g.Initializers) != 3 {
			t.Errorf("%v: the last node is %s of %q, the outputs %q, with %d weights", how, last.Op, last.Inputs, g.Outputs, len(g.Initializers))
		}
	}
	older := parsed(t, tokens, nil)
	older.Opsets[""] = 17
	data, err := Pool(older, "states", MeanOfTokens)
	g := parsed(t, data, err)
	last := g.Nodes[len(g.Nodes)-1]
	a, err := last.Attributes()
	if err != nil || len(last.Inputs) != 1 || a["axes"].First(0) != 1 || len(g.Initializers) != 2 {
		t.Errorf("before version 18 the last node is %s of %q with %v, %v", last.Op, last.Inputs, a, err)
	}
}

func TestRows(t *testing.T) {
	g := parsed(t, tokens, nil)
	if got := Rows(g, "ids"); got != 0 {
		t.Errorf("a table without a shape has %d rows", got)
	}
	g.Initializers[0].Raw = int64s("w1", []int{7, 3})
	if got := Rows(g, "ids"); got != 7 {
		t.Errorf("the table has %d rows, want 7", got)
	}
	if got := Rows(g, "mask"); got != 0 {
		t.Errorf("an input that nothing is looked up by has %d rows", got)
	}
}
