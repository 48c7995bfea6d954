package rewrite

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/fixtures"
	"bitextmine/model/importer"
	"bitextmine/train/export"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

const words, width = 64, 16

// numbers are n random ones.
func numbers(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	all := make([]float32, n)
	for i := range all {
		all[i] = float32(r.NormFloat64()) / 4
	}
	return all
}

// small is a graph with everything that is quantised: a table, a convolution, a MatMul, a Gemm with a turned weight,
// and a layer after the mean, which is left.
func small(opset int) []byte {
	data, err := smallGraph(opset).Model()
	if err != nil {
		panic(err)
	}
	return data
}

func smallGraph(opset int) *export.Graph {
	g := export.NewGraph("small")
	if opset != export.Opset {
		g.Opset("", opset)
	}
	g.Input("ids", export.Int64, "batch", "tokens")
	table := numbers(1, words*width)
	clear(table[5*width : 6*width]) // a word of zeros
	g.Initializer("table", []int{words, width}, table)
	g.Node("Gather", []string{"table", "ids"}, []string{"rows"})
	turn := export.Attr{Name: "perm", Value: []int64{0, 2, 1}}
	g.Node("Transpose", []string{"rows"}, []string{"channels"}, turn)
	g.Initializer("kernel", []int{24, width, 3}, numbers(2, 24*width*3))
	g.Initializer("kernel_bias", []int{24}, numbers(3, 24))
	g.Node("Conv", []string{"channels", "kernel", "kernel_bias"}, []string{"convolved"}, export.Attr{Name: "pads", Value: []int64{2, 0}})
	g.Node("Relu", []string{"convolved"}, []string{"positive"})
	g.Node("Transpose", []string{"positive"}, []string{"tokens"}, turn)
	g.Initializer("weight", []int{24, 32}, numbers(4, 24*32))
	g.Node("MatMul", []string{"tokens", "weight"}, []string{"wide"})
	g.Initializer("flat", []int{2}, []int64{-1, 32})
	g.Node("Reshape", []string{"wide", "flat"}, []string{"lines"})
	g.Initializer("turned", []int{24, 32}, numbers(5, 24*32))
	g.Initializer("bias", []int{24}, numbers(6, 24))
	g.Node("Gemm", []string{"lines", "turned", "bias"}, []string{"narrow"}, export.Attr{Name: "transB", Value: 1}, export.Attr{Name: "alpha", Value: float32(1)})
	g.Node("Shape", []string{"tokens"}, []string{"shape"})
	g.Node("Reshape", []string{"narrow", "shape"}, []string{"states"})
	if opset < 18 {
		g.Node("ReduceMean", []string{"states"}, []string{"mean"}, export.Attr{Name: "axes", Value: []int64{1}}, export.Attr{Name: "keepdims", Value: 0})
	} else {
		g.Initializer("axes", []int{1}, []int64{1})
		g.Node("ReduceMean", []string{"states", "axes"}, []string{"mean"}, export.Attr{Name: "keepdims", Value: 0})
	}
	g.Initializer("head", []int{24, 16}, numbers(7, 24*16))
	g.Node("MatMul", []string{"mean", "head"}, []string{"vectors"})
	g.Output("vectors", export.Float32, "batch", 16)
	return g
}

// written is an encoder on disk with a graph.
func written(t *testing.T, graph []byte, more string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"graph.onnx": string(graph),
		"vocab.txt":  "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\nc\nd\n",
		model.FileName: "name: small\nonnx: graph.onnx\ntokenizer: {kind: wordpiece, file: vocab.txt, bos: 2, eos: 3}\nmax_tokens: 64\n" +
			"inputs: {ids: ids}\noutput: vectors\npooling: none\ndim: 16\n" + more,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// vectors encodes sentences of ids with batches of at most budget tokens.
func vectors(t *testing.T, dir string, sentences [][]int32, budget int) []float32 {
	t.Helper()
	m, err := model.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	e, err := encode.Open(m, encode.Options{Threads: 2, TokenBudget: budget})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	if budget > 0 {
		rows := make([]float32, len(sentences)*e.Dim())
		if err := e.EncodeIDs(t.Context(), sentences, rows); err != nil {
			t.Fatal(err)
		}
		return rows
	}
	var rows []float32
	for i := range sentences { // each alone
		row := make([]float32, e.Dim())
		if err := e.EncodeIDs(t.Context(), sentences[i:i+1], row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row...)
	}
	return rows
}

// independent checks that vectors are near those of the encoder that was quantised, and that each sentence has the same
// bytes alone and in batches of every size.
func independent(t *testing.T, before, after string, sentences [][]int32, least float64) {
	t.Helper()
	want, alone := vectors(t, before, sentences, 1024), vectors(t, after, sentences, 0)
	dim := len(want) / len(sentences)
	for i := 0; i < len(want); i += dim {
		if c := float64(embedding.Dot(want[i:i+dim], alone[i:i+dim])); !(c >= least) {
			t.Errorf("sentence %d: the cosine to the encoder in float32 is %v", i/dim, c)
		}
	}
	length := len(sentences[0])
	for size := 1; size <= 12; size++ {
		got := vectors(t, after, sentences, size*length)
		for i := range got {
			if math.Float32bits(got[i]) != math.Float32bits(alone[i]) {
				t.Fatalf("in batches of %d the vector of sentence %d is another one", size, i/dim)
			}
		}
	}
}

// sentences are 24 of one length, so that batches are full, and some of others.
func sentences(below int32) [][]int32 {
	r := rand.New(rand.NewPCG(9, 9))
	var all [][]int32
	for i := range 40 {
		n := 7
		if i >= 24 {
			n = 1 + i%11
		}
		ids := make([]int32, n)
		for k := range ids {
			ids[k] = 4 + r.Int32N(below-4)
		}
		all = append(all, ids)
	}
	return append(all, []int32{5}, []int32{5, 5, 5}) // nothing but zeros in the table
}

func TestEverythingThatIsQuantised(t *testing.T) {
	for _, opset := range []int{export.Opset, 18} {
		dir := written(t, small(opset), "")
		out := filepath.Join(t.TempDir(), "int8")
		r, err := Quantise(t.Context(), QuantiseOptions{Model: dir, Out: out})
		if err != nil {
			t.Fatal(err)
		}
		want := counts{Products: 2, Convolutions: 1, Tables: 1}
		if opset == 18 {
			want.Products = 3 // axes are an input there, so the head is not known
		}
		if r.Changed != want {
			t.Errorf("opset %d: changed %+v, want %+v", opset, r.Changed, want)
		}
		independent(t, dir, out, sentences(words), 0.999)
		var text bytes.Buffer
		if err := r.Print(&text); err != nil || !strings.Contains(text.String(), "1 convolutions and 1 tables in 8 bits") ||
			!strings.Contains(text.String(), "300 sentences in 15 languages") {
			t.Errorf("%v, it prints\n%s", err, text.String())
		}
	}
}

func TestTransformer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bert")
	if err := os.CopyFS(dir, os.DirFS("../../train/encoder/testdata/bert")); err != nil {
		t.Fatal(err)
	}
	vocabulary := "[PAD]\n[UNK]\n[CLS]\n[SEP]\n"
	for _, c := range "abcdefghijklmnopqrstuvwxyz0123456789" {
		vocabulary += string(c) + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "vocab.txt"), []byte(vocabulary), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := importer.Import(t.Context(), dir, importer.Options{Pooling: "mean"}); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "int8")
	r, err := Quantise(t.Context(), QuantiseOptions{Model: dir, Out: out, Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Changed.Products != 12 || r.Changed.Tables != 1 || !(r.Mean > 0.99) {
		t.Errorf("of 2 layers and a table of words, %+v: the mean cosine is %v", r.Changed, r.Mean)
	}
	independent(t, dir, out, sentences(30), 0.99)
	if m, err := model.Load(out); err != nil || m.Name != "other" {
		t.Errorf("%v, the name is %v", err, m.Name)
	}
}

// TestStaticEncoder: the default encoder's head in 8 bits gives what ONNX Runtime makes of the same graph, near to the
// vectors in float32, and to every sentence the same bits alone and among others.
func TestStaticEncoder(t *testing.T) {
	out := filepath.Join(t.TempDir(), "int8")
	r, err := Quantise(t.Context(), QuantiseOptions{Model: fixtures.Encoder, Out: out})
	if err != nil {
		t.Fatal(err)
	}
	// Five more products of the head are in 8 bits already, as its teacher was.
	if r.Changed != (counts{Products: 4}) || !(r.Mean > 0.999) || !(r.Min > 0.998) {
		t.Errorf("%+v: the least cosine is %v, the mean %v", r.Changed, r.Min, r.Mean)
	}
	all := sentences(118_000)
	alone, together := vectors(t, out, all, 0), vectors(t, out, all, 1024)
	for i := range alone {
		if math.Float32bits(alone[i]) != math.Float32bits(together[i]) {
			t.Fatalf("sentence %d has another vector alone", i/512)
		}
	}
	m, err := model.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	e, err := encode.OpenInner(m, m.Output, encode.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	theirs := make([]float32, len(alone))
	if err := e.EncodeIDs(t.Context(), all, theirs); err != nil {
		t.Fatal(err)
	}
	for i, x := range theirs {
		if math.Abs(float64(x-alone[i])) > 2e-3 { // a number at the middle of two steps may be rounded to the other
			t.Errorf("number %d of sentence %d is %v, and ONNX Runtime's %v", i%512, i/512, alone[i], x)
		}
	}
	_, err = Quantise(t.Context(), QuantiseOptions{Model: out, Out: out + "8"})
	encodetest.Refused(t, err, "there is nothing to quantise")
}

// TestWeightsInAnotherFile: weights outside of the graph's file are quantised as those in it are.
func TestWeightsInAnotherFile(t *testing.T) {
	dir := written(t, nil, "external_data: [graph.onnx.data]\n")
	g := smallGraph(export.Opset)
	g.Limit = 100
	if _, err := g.Write(dir, "graph.onnx"); err != nil {
		t.Fatal(err)
	}
	outside, inside := filepath.Join(t.TempDir(), "outside"), filepath.Join(t.TempDir(), "inside")
	for out, of := range map[string]string{outside: dir, inside: written(t, small(export.Opset), "")} {
		if _, err := Quantise(t.Context(), QuantiseOptions{Model: of, Out: out}); err != nil {
			t.Fatal(err)
		}
	}
	all := sentences(words)
	if !slices.Equal(vectors(t, outside, all, 0), vectors(t, inside, all, 0)) {
		t.Error("the vectors differ from those of weights in the graph's file")
	}
	if err := os.Truncate(filepath.Join(dir, "graph.onnx.data"), 4100); err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	encodetest.Refused(t, new(Quantised).write(m, t.TempDir(), ""), "EOF: fetch the model again")
	m.External = nil
	encodetest.Refused(t, new(Quantised).write(m, t.TempDir(), ""), "its weights are in graph.onnx.data, which external_data in")
}

func TestRefused(t *testing.T) {
	dir := written(t, small(export.Opset), "")
	out := filepath.Join(t.TempDir(), "int8")
	for says, o := range map[string]QuantiseOptions{
		"--out is missing": {Model: dir},
		"exists already":   {Model: dir, Out: dir},
		"no encoder":       {Model: "nothing", Out: out},
	} {
		_, err := Quantise(t.Context(), o)
		encodetest.Refused(t, err, says)
	}
}
