package export

import (
	"slices"
	"testing"
	"testing/fstest"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/train/traintest"
)

// open opens a graph whose words are the letters a to d: ids 2 to 5 after the unknown word 0 and [CLS] 1.
func open(t *testing.T, g *Graph, manifest string) *encode.Encoder {
	t.Helper()
	graph, err := g.Model([2]string{"licence", "none"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.LoadFS(fstest.MapFS{
		model.FileName: {Data: []byte("name: letters\nonnx: model.onnx\ntokenizer: {kind: wordpiece, file: vocab.txt, bos: \"[CLS]\"}\nmax_tokens: 8\n" + manifest)},
		"model.onnx":   {Data: graph},
		"vocab.txt":    {Data: []byte("[UNK]\n[CLS]\na\nb\nc\nd\n")},
	}, model.FileName)
	if err != nil {
		t.Fatal(err)
	}
	return traintest.OpenModel(t, m)
}

func TestGraphRuns(t *testing.T) {
	g := NewGraph("letters")
	g.Input("ids", Int64, "batch", "tokens")
	g.Initializer("table", []int{6, 2}, []int8{0, 0, 1, 1, 10, 0, 0, 10, -5, 5, 7, -7})
	g.Initializer("half", nil, Half{0x3800})
	g.Initializer("axes", []int{1}, []int64{1})
	g.Initializer("shift", []int{2}, []float32{0.25, -0.25})
	g.Node("Gather", []string{"table", "ids"}, []string{"bytes"}, Attr{"axis", 0})
	g.Node("Cast", []string{"bytes"}, []string{"rows"}, Attr{"to", int(Float32)})
	g.Node("ReduceSum", []string{"rows", "axes"}, []string{"sum"}, Attr{"keepdims", 0})
	g.Node("Cast", []string{"half"}, []string{"scale"}, Attr{"to", int(Float32)})
	g.Node("Mul", []string{"sum", "scale"}, []string{"scaled"})
	g.Node("Add", []string{"scaled", "shift"}, []string{"shifted"})
	g.Node("LeakyRelu", []string{"shifted"}, []string{"leaky"}, Attr{"alpha", float32(0.5)})
	g.Node("Transpose", []string{"leaky"}, []string{"turned"}, Attr{"perm", []int64{1, 0}})
	g.Node("Transpose", []string{"turned"}, []string{"vectors"}, Attr{"perm", []int64{1, 0}})
	g.Output("vectors", Float32, "batch", 2)
	e := open(t, g, "inputs: {ids: ids}\noutput: vectors\npooling: none\nnormalise: false\ndim: 2\n")
	got := make([]float32, 4)
	if err := e.Encode(t.Context(), "en", []string{"a b", "d"}, got); err != nil {
		t.Fatal(err)
	}
	// [CLS] a b: (11, 11) / 2 + (0.25, -0.25). [CLS] d: (8, -6) / 2 + (0.25, -0.25), the negative halved.
	if want := []float32{5.75, 5.25, 4.25, -1.625}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
