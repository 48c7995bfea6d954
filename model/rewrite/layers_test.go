package rewrite

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/encode/layers"
	"bitextmine/encode/matrix"
	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
	"bitextmine/train/export"
)

// deep is a graph with all that the program computes itself between the words' vectors and the mean: products,
// convolutions of both kinds of padding, attention, gelu, normalisation, and tensors side by side.
func deep() []byte {
	g := export.NewGraph("deep")
	g.Input("ids", export.Int64, "batch", "tokens")
	g.Input("mask", export.Int64, "batch", "tokens")
	seed := uint64(20)
	weight := func(name string, shape ...int) string {
		n := 1
		for _, d := range shape {
			n *= d
		}
		seed++
		g.Initializer(name, shape, numbers(seed, n))
		return name
	}
	dense := func(x, out string, from, to int) {
		g.Node("MatMul", []string{x, weight(out+".w", from, to)}, []string{out + ".product"})
		g.Node("Add", []string{out + ".product", weight(out+".b", to)}, []string{out})
	}
	norm := func(x, out string, columns int) {
		g.Node("LayerNormalization", []string{x, weight(out+".g", columns), weight(out+".b", columns)}, []string{out},
			export.Attr{Name: "axis", Value: -1}, export.Attr{Name: "epsilon", Value: float32(1e-6)})
	}
	turn := export.Attr{Name: "perm", Value: []int64{0, 2, 1}}
	convolution := func(x, out string, tokens int, pads []int64) {
		g.Node("Transpose", []string{x}, []string{out + ".x"}, turn)
		g.Node("Conv", []string{out + ".x", weight(out+".w", 32, 32, tokens), weight(out+".b", 32)}, []string{out + ".c"}, export.Attr{Name: "pads", Value: pads})
		g.Node("Relu", []string{out + ".c"}, []string{out + ".r"})
		g.Node("Add", []string{out + ".r", out + ".x"}, []string{out + ".a"})
		g.Node("Transpose", []string{out + ".a"}, []string{out}, turn)
	}
	g.Initializer("one", nil, []float32{1})
	g.Initializer("half", nil, []float32{0.5})
	g.Initializer("root", nil, []float32{math.Sqrt2})
	g.Initializer("huge", nil, []float32{1e9})
	g.Initializer("axes", []int{2}, []int64{1, 2})
	g.Node("Cast", []string{"mask"}, []string{"mask.f"}, export.Attr{Name: "to", Value: 1})
	g.Node("Sub", []string{"mask.f", "one"}, []string{"mask.s"})
	g.Node("Mul", []string{"mask.s", "huge"}, []string{"mask.m"})
	g.Node("Unsqueeze", []string{"mask.m", "axes"}, []string{"mask.u"})

	g.Node("Gather", []string{weight("table", words, 32), "ids"}, []string{"rows"})
	dense("rows", "wide", 32, 64)
	norm("wide", "normal", 64)
	g.Initializer("sizes", []int{2}, []int64{32, 32})
	g.Node("Split", []string{"normal", "sizes"}, []string{"left", "right"}, export.Attr{Name: "axis", Value: 2})
	convolution("left", "three", 3, []int64{2, 0})
	convolution("right", "two", 2, []int64{0, 1})
	g.Node("Concat", []string{"rows", "three", "two", "three"}, []string{"beside"}, export.Attr{Name: "axis", Value: 2})

	g.Initializer("heads", []int{4}, []int64{0, 0, 2, 16})
	for _, part := range []string{"query", "key", "value"} {
		dense("beside", part, 128, 32)
		g.Node("Reshape", []string{part, "heads"}, []string{part + ".heads"})
		perm := []int64{0, 2, 1, 3}
		if part == "key" {
			perm = []int64{0, 2, 3, 1}
		}
		g.Node("Transpose", []string{part + ".heads"}, []string{part + ".apart"}, export.Attr{Name: "perm", Value: perm})
	}
	g.Initializer("scale", nil, []float32{0.25})
	g.Initializer("joined", []int{3}, []int64{0, 0, 32})
	g.Node("Mul", []string{"query.apart", "scale"}, []string{"query.scaled"})
	g.Node("MatMul", []string{"query.scaled", "key.apart"}, []string{"scores"})
	g.Node("Add", []string{"scores", "mask.u"}, []string{"masked"})
	g.Node("Softmax", []string{"masked"}, []string{"shares"}, export.Attr{Name: "axis", Value: -1})
	g.Node("MatMul", []string{"shares", "value.apart"}, []string{"attended"})
	g.Node("Transpose", []string{"attended"}, []string{"merged"}, export.Attr{Name: "perm", Value: []int64{0, 2, 1, 3}})
	g.Node("Reshape", []string{"merged", "joined"}, []string{"context"})
	dense("context", "projected", 32, 32)
	g.Node("Add", []string{"query", "projected"}, []string{"residual"})

	dense("residual", "inner", 32, 96)
	g.Node("Div", []string{"inner", "root"}, []string{"gelu.d"})
	g.Node("Erf", []string{"gelu.d"}, []string{"gelu.e"})
	g.Node("Add", []string{"gelu.e", "one"}, []string{"gelu.a"})
	g.Node("Mul", []string{"inner", "gelu.a"}, []string{"gelu.m"})
	g.Node("Mul", []string{"gelu.m", "half"}, []string{"gelu"})
	dense("gelu", "outer", 96, 32)
	g.Node("Relu", []string{"residual"}, []string{"positive"})
	g.Node("Add", []string{"positive", "outer"}, []string{"sum"})
	norm("sum", "states", 32)
	g.Node("ReduceMean", []string{"states"}, []string{"mean"}, export.Attr{Name: "axes", Value: []int64{1}}, export.Attr{Name: "keepdims", Value: 0})
	g.Node("MatMul", []string{"mean", weight("head", 32, 16)}, []string{"vectors"})
	g.Output("vectors", export.Float32, "batch", 16)
	data, err := g.Model()
	if err != nil {
		panic(err)
	}
	return data
}

// TestLayers: what the program computes itself is what ONNX Runtime makes of the same graph, and a vector depends on
// its sentence alone.
func TestLayers(t *testing.T) {
	dir, out := quantisedDeep(t)
	graph, err := os.ReadFile(filepath.Join(out, "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	g, err := onnxgraph.Parse(graph)
	if err != nil {
		t.Fatal(err)
	}
	if l := layers.Find(g, "ids", "mask", "vectors"); l == nil || l.From != "rows" || l.To != "mean" || !l.Pooled || l.Width != 32 {
		t.Fatalf("the layers are %+v, want those from the words to the mean", l)
	}
	if l := layers.Find(g, "ids", "", "vectors"); l != nil {
		t.Errorf("without a mask the layers are from %s to %s, though their attention takes one", l.From, l.To)
	}
	if l := layers.Find(g, "ids", "mask", "states"); l == nil || l.To != "states" || l.Pooled {
		t.Errorf("of tokens the layers are %+v", l)
	}
	all := sentences(words)
	independent(t, dir, out, all, 0.99)
	ours, theirs := vectors(t, out, all, 1024), whole(t, out, all)
	for i := 0; i < len(ours); i += 16 {
		// A number at the middle of two steps may be rounded to the other.
		if c := cosine(ours[i:i+16], theirs[i:i+16]); !(c >= 0.9998) {
			t.Errorf("sentence %d: the cosine to ONNX Runtime's vector is %v", i/16, c)
		}
	}
	if slices.Equal(ours, theirs) {
		t.Error("ONNX Runtime computed both")
	}
}

// quantisedDeep writes the graph's encoder, and in 8 bits.
func quantisedDeep(t *testing.T) (dir, out string) {
	t.Helper()
	if !matrix.Supported() {
		t.Skip("this processor has no VNNI")
	}
	dir = written(t, deep(), "tokens: {output: sum, dim: 32}\n")
	manifest := filepath.Join(dir, model.FileName)
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(manifest, []byte(strings.Replace(string(text), "{ids: ids}", "{ids: ids, mask: mask}", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	out = filepath.Join(t.TempDir(), "int8")
	if _, err := Quantise(t.Context(), QuantiseOptions{Model: dir, Out: out}); err != nil {
		t.Fatal(err)
	}
	return dir, out
}

// TestInnerLayer: the vectors of an inner tensor, which the graph does not declare, are those of the layers, bit for
// bit, and nearly those that ONNX Runtime gives.
func TestInnerLayer(t *testing.T) {
	_, out := quantisedDeep(t)
	m, err := model.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	ids := []int32{4, 5, 6, 7, 4}
	of := func(m model.Model) []float32 {
		e, err := encode.OpenLayer(&m, "states", encode.Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}()
		if e.Dim() != 32 {
			t.Errorf("vectors of %d numbers", e.Dim())
		}
		vectors, err := e.Vectors(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		return vectors
	}
	ours := of(*m)
	m.Quantised = 0
	theirs := of(*m)
	for i := 0; i < len(ours); i += 32 {
		if c := cosine(ours[i:i+32], theirs[i:i+32]); !(c >= 0.9998) {
			t.Errorf("token %d: the cosine to ONNX Runtime's vector is %v", i/32, c)
		}
	}
	if !slices.Equal(ours, states(t, out, ids)) {
		t.Error("the layers alone give other vectors")
	}
}

// states computes the tensor of a sentence by the layers, without an encoder.
func states(t *testing.T, dir string, ids []int32) []float32 {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	g, err := onnxgraph.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	l := layers.Find(g, "ids", "mask", "states")
	rows, vectors := make([]float32, len(ids)*l.Columns), make([]float32, len(ids)*l.Width)
	var wide []int64
	for _, id := range ids {
		wide = append(wide, int64(id))
	}
	if !l.Words.Look(wide, rows) {
		t.Fatal("the table lacks a row")
	}
	l.Run(&layers.Memory{}, rows, 1, len(ids), vectors)
	return vectors
}

func cosine(x, y []float32) float64 {
	return float64(embedding.Dot(x, y)) / math.Sqrt(float64(embedding.Dot(x, x))*float64(embedding.Dot(y, y)))
}

// whole are the vectors of a graph that ONNX Runtime computes.
func whole(t *testing.T, dir string, sentences [][]int32) []float32 {
	t.Helper()
	m, err := model.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	m.Quantised = 0
	e, err := encode.Open(m, encode.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	rows := make([]float32, len(sentences)*e.Dim())
	if err := e.EncodeIDs(t.Context(), sentences, rows); err != nil {
		t.Fatal(err)
	}
	return rows
}
