package traintest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"gopkg.in/yaml.v3"

	"bitextmine/distil/student"
	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/tokenizer"
	"bitextmine/train/export"
)

// Sizes of StaticGraph.
const (
	StaticDim   = 6 // values of a vector
	StaticWidth = 8 // columns of the table
)

// StaticGraph is the graph of a static encoder as mine distill writes it: a table of rows with so many bits a number,
// before the head of a teacher with two dense layers.
func StaticGraph(t testing.TB, rows, bits int) []byte {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	normal := func(n int, scale float64) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(r.NormFloat64() * scale)
		}
		return out
	}
	g := export.NewGraph("teacher")
	g.Input("features", export.Float32, "batch", StaticWidth)
	g.Initializer("w1", []int{StaticWidth, 200}, normal(StaticWidth*200, 0.4)) // large enough for float16
	g.Initializer("w2", []int{200, StaticDim}, normal(200*StaticDim, 0.2))
	g.Initializer("b2", []int{StaticDim}, normal(StaticDim, 0.4))
	g.Node("MatMul", []string{"features", "w1"}, []string{"a"})
	g.Node("Tanh", []string{"a"}, []string{"b"})
	g.Node("MatMul", []string{"b", "w2"}, []string{"c"})
	g.Node("Add", []string{"c", "b2"}, []string{"d"})
	g.Node("LpNormalization", []string{"d"}, []string{"sentence"}, export.Attr{Name: "axis", Value: -1},
		export.Attr{Name: "p", Value: 2})
	g.Output("sentence", export.Float32, "batch", StaticDim)
	raw, err := g.Model()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := onnxgraph.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	head, err := student.FindHead(parsed, "features", "sentence", StaticDim)
	if err != nil {
		t.Fatal(err)
	}
	s := &student.Student{Name: "static", Table: student.Quantise(normal(rows*StaticWidth, 1), StaticWidth, bits),
		Dim: StaticWidth, Power: 0.5, Head: head}
	graph, err := s.Graph()
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = graph.Model(); err != nil {
		t.Fatal(err)
	}
	return raw
}

// WriteStatic writes a static encoder with a SentencePiece vocabulary into a directory.
func WriteStatic(t testing.TB, dir, vocabulary string, bits int) {
	t.Helper()
	pieces, err := os.ReadFile(vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	Write(t, filepath.Join(dir, "spm.model"), string(pieces))
	m := model.Manifest{
		Name: "static", ONNX: "model.onnx", MaxTokens: 24, Output: "sentence", Pooling: model.None, Dim: StaticDim,
		Inputs:    model.Inputs{IDs: export.IDs},
		Tokenizer: model.Tokenizer{Kind: "sentencepiece", File: "spm.model", BOS: &model.Token{Piece: "<s>"}},
		Tokens:    model.TokenOutput{Output: student.TokensOutput, Dim: StaticWidth, Static: true},
		Licence:   "Apache-2.0", TrainedOn: []string{"nothing"},
	}
	v, err := tokenizer.OpenIn(dir, m.Tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	Write(t, filepath.Join(dir, m.ONNX), string(StaticGraph(t, v.Rows(), bits)))
	text, err := yaml.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	Write(t, filepath.Join(dir, model.FileName), string(text))
}
