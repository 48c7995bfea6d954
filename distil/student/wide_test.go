package student

import (
	"strings"
	"testing"

	"bitextmine/encode/onnxgraph"
)

// TestForeignProducts: a product in 8 bits that has another form is refused by name, and no operator is trusted to have
// inputs.
func TestForeignProducts(t *testing.T) {
	h := &Head{From: "from", To: "to", Nodes: []onnxgraph.Node{
		onnxgraph.NewNode("Constant", nil, "c"), onnxgraph.NewNode("MatMulIntegerToFloat", []string{"from"}, "u"),
		onnxgraph.NewNode("Mul", []string{"u", "c"}, "to"),
	}}
	if _, err := h.Widened(); err == nil || !strings.Contains(err.Error(), "a product in 8 bits, u,") {
		t.Errorf("%v", err)
	}
	h.Nodes = []onnxgraph.Node{onnxgraph.NewNode("Constant", nil, "to")}
	if wide, err := h.Widened(); err != nil || wide != h {
		t.Errorf("a head without products: %v, %v", wide, err)
	}
	if _, err := h.Network(); err == nil || !strings.Contains(err.Error(), "Constant") {
		t.Errorf("%v", err)
	}
}
