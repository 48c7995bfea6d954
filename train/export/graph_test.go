package export_test

import (
	"slices"
	"testing"

	"bitextmine/train/export"
	"bitextmine/train/traintest"
)

func attr(name string, value any) export.Attr { return export.Attr{Name: name, Value: value} }

func TestGraphRuns(t *testing.T) {
	g := export.NewGraph("letters")
	g.Input("ids", export.Int64, "batch", "tokens")
	g.Initializer("table", []int{6, 2}, []int8{0, 0, 1, 1, 10, 0, 0, 10, -5, 5, 7, -7})
	g.Initializer("half", nil, export.Half{0x3800})
	g.Initializer("axes", []int{1}, []int64{1})
	g.Initializer("shift", []int{2}, []float32{0.25, -0.25})
	g.Node("Gather", []string{"table", "ids"}, []string{"bytes"}, attr("axis", 0))
	g.Node("Cast", []string{"bytes"}, []string{"rows"}, attr("to", int(export.Float32)))
	g.Node("ReduceSum", []string{"rows", "axes"}, []string{"sum"}, attr("keepdims", 0))
	g.Node("Cast", []string{"half"}, []string{"scale"}, attr("to", int(export.Float32)))
	g.Node("Mul", []string{"sum", "scale"}, []string{"scaled"})
	g.Node("Add", []string{"scaled", "shift"}, []string{"shifted"})
	g.Node("LeakyRelu", []string{"shifted"}, []string{"leaky"}, attr("alpha", float32(0.5)))
	g.Node("Transpose", []string{"leaky"}, []string{"turned"}, attr("perm", []int64{1, 0}))
	g.Node("Transpose", []string{"turned"}, []string{"vectors"}, attr("perm", []int64{1, 0}))
	g.Output("vectors", export.Float32, "batch", 2)
	e := traintest.Letters(t, g, "inputs: {ids: ids}\noutput: vectors\npooling: none\nnormalise: false\ndim: 2\n")
	got := make([]float32, 4)
	if err := e.Encode(t.Context(), "en", []string{"a b", "d"}, got); err != nil {
		t.Fatal(err)
	}
	// [CLS] a b: (11, 11) / 2 + (0.25, -0.25). [CLS] d: (8, -6) / 2 + (0.25, -0.25), the negative halved.
	if want := []float32{5.75, 5.25, 4.25, -1.625}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
