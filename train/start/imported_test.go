package start

import (
	"strings"
	"testing"
	"testing/fstest"

	"bitextmine/encode/model"
	"bitextmine/train/export"
)

// letters is a graph of four words, as a manifest has it run, before its last nodes.
func letters(t *testing.T, last func(g *export.Graph)) (*imported, error) {
	t.Helper()
	g := export.NewGraph("letters")
	g.Input(export.IDs, export.Int64, "batch", "tokens")
	g.Initializer("table", []int{4, 2}, []float32{1, 2, 3, 4, 5, 6, 7, 8})
	g.Node("Gather", []string{"table", export.IDs}, []string{"rows"})
	last(g)
	g.Output(export.Tokens, export.Float32, "batch", "tokens", 2)
	graph, err := g.Model()
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.LoadFS(fstest.MapFS{
		model.FileName: {Data: []byte("name: letters\nonnx: model.onnx\ntokenizer: {kind: wordpiece, file: vocab.txt, bos: \"[CLS]\"}\nmax_tokens: 8\n" +
			"inputs: {ids: ids}\noutput: tokens\npooling: mean\ndim: 2\n")},
		"model.onnx": {Data: graph},
		"vocab.txt":  {Data: []byte("[UNK]\n[CLS]\na\nb\n")},
	}, model.FileName)
	if err != nil {
		t.Fatal(err)
	}
	i, _, err := readImported(m)
	return i, err
}

// TestGraphsThatCannotBeTrained: an operator, a weight or a table that is not known is named.
func TestGraphsThatCannotBeTrained(t *testing.T) {
	same := func(g *export.Graph) { g.Node("Identity", []string{"rows"}, []string{export.Tokens}) }
	if m, err := letters(t, same); err != nil || m.words != "table" || m.pooling != model.Mean {
		t.Fatalf("%+v, %v", m, err)
	}
	for name, c := range map[string]struct {
		says string
		last func(g *export.Graph)
	}{
		"an operator": {"its graph has the operator HardSwish, whose gradient is not known here", func(g *export.Graph) {
			g.Node("HardSwish", []string{"rows"}, []string{export.Tokens})
		}},
		"a weight of 16 bits": {"its weight scale is not of float32", func(g *export.Graph) {
			g.Initializer("scale", []int{2}, export.Half{0, 0})
			g.Node("Mul", []string{"rows", "scale"}, []string{export.Tokens})
		}},
		"two tables": {"its graph looks ids up in two tables, table and other", func(g *export.Graph) {
			g.Initializer("other", []int{4, 2}, make([]float32, 8))
			g.Node("Gather", []string{"other", export.IDs}, []string{"more"})
			g.Node("Add", []string{"rows", "more"}, []string{export.Tokens})
		}},
		"no table": {"its graph does not look the ids up in a table", func(g *export.Graph) {
			g.Node("Cast", []string{export.IDs}, []string{export.Tokens}, export.Attr{Name: "to", Value: 1})
		}},
	} {
		if _, err := letters(t, c.last); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
