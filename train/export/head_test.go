package export_test

import (
	"bytes"
	"testing"

	"bitextmine/train/export"
)

// TestHeadHasTheSameBytes: an encoder's digest is of its graph.
func TestHeadHasTheSameBytes(t *testing.T) {
	model := func() []byte {
		g := export.NewGraph("head")
		for domain, version := range map[string]int{"": 17, "ai.onnx.ml": 3, "com.microsoft": 1} {
			g.Opset(domain, version)
		}
		g.Input("tokens", export.Float32, "batch", "tokens", 2)
		g.Head("tokens", export.Head{Poolings: []string{"mean"}, Dim: 1,
			Dense: []export.Dense{{Weight: []float32{1, 2, 3, 4}, In: 2, Out: 2, Activation: "GELU"}}}, 2, 17)
		m, err := g.Model()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	first := model()
	for range 20 {
		if !bytes.Equal(model(), first) {
			t.Fatal("a head has other bytes when it is written again")
		}
	}
}
