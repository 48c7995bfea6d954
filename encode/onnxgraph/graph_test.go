package onnxgraph

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"bitextmine/internal/protofield"
)

// model has these nodes (operator, inputs, outputs), the weights w1 and w2, the inputs ids and mask, and the outputs.
func model(outputs []string, nodes ...[3][]string) []byte {
	var graph []byte
	for _, n := range nodes {
		var m []byte
		for _, in := range n[1] {
			m = protofield.AppendBytes(m, 1, in)
		}
		for _, out := range n[2] {
			m = protofield.AppendBytes(m, 2, out)
		}
		graph = protofield.AppendBytes(graph, graphNode, protofield.AppendBytes(m, 4, n[0][0]))
	}
	for _, name := range []string{"w1", "w2"} {
		graph = protofield.AppendBytes(graph, graphInitializer, protofield.AppendBytes(nil, 8, name))
	}
	for _, name := range []string{"ids", "mask"} {
		graph = protofield.AppendBytes(graph, graphInput, protofield.AppendBytes(nil, 1, name))
	}
	for _, name := range outputs {
		graph = protofield.AppendBytes(graph, graphOutput, protofield.AppendBytes(nil, 1, name))
	}
	opset := protofield.AppendVarint(nil, 2, 18)
	return protofield.AppendBytes(protofield.AppendBytes(nil, modelGraph, graph), modelOpset, opset)
}

func op(name string, inputs ...string) [3][]string {
	return [3][]string{{name}, inputs[:len(inputs)-1], inputs[len(inputs)-1:]}
}

// pooling is a sum over tokens by their number, which a mask gives, a layer, and a branch for tokens that sentences do
// not need.
var pooling = model([]string{"out"},
	op("Gather", "w1", "ids", "rows"),
	op("Mul", "rows", "mask", "kept"),
	op("ReduceSum", "kept", "sum"),
	op("ReduceSum", "mask", "count"),
	op("Div", "sum", "count", "mean"),
	op("MatMul", "mean", "w2", "layer"),
	op("Add", "layer", "mean", "residual"),
	op("Tanh", "residual", "out"),
	op("Identity", "kept", "tokens"))

func TestWaists(t *testing.T) {
	g, err := Parse(pooling)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := g.Waists("out"), []string{"mean", "residual", "out"}; !slices.Equal(got, want) {
		t.Errorf("everything passes through %v, want %v", got, want)
	}
	if got := g.Waists("w2"); got != nil {
		t.Errorf("a weight has the waists %v", got)
	}
	if g.Opsets[""] != 18 {
		t.Errorf("the opset is %d, want 18", g.Opsets[""])
	}
}

// TestLayers: a mask and shapes reach every layer, and still all of one passes into the next.
func TestLayers(t *testing.T) {
	layer := func(from, to string) [][3][]string {
		return [][3][]string{op("Shape", from, to+".shape"), op("MatMul", from, "w1", to+".scores"),
			op("Add", to+".scores", "mask", to+".masked"), op("Reshape", to+".masked", to+".shape", to+".shaped"),
			op("Add", from, to+".shaped", to+".sum"), op("LayerNormalization", to+".sum", "w2", to)}
	}
	nodes := append([][3][]string{op("Gather", "w1", "ids", "words")}, slices.Concat(layer("words", "one"),
		layer("one", "two"), layer("two", "three"), [][3][]string{op("Identity", "three", "out")})...)
	for _, c := range []struct {
		without string
		want    []string
	}{
		{"", []string{"one", "two", "three"}},
		{"LayerNormalization", []string{"one.sum", "two.sum", "three.sum"}},
	} {
		for i := range nodes {
			if nodes[i][0][0] == c.without {
				nodes[i][0] = []string{"Mul"}
			}
		}
		g, err := Parse(model([]string{"out"}, nodes...))
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Layers("ids", "out"); !slices.Equal(got, c.want) {
			t.Errorf("layers %v, want %v", got, c.want)
		}
	}
	if g, err := Parse(pooling); err != nil || g.Layers("ids", "tokens") != nil {
		t.Errorf("a bag has layers: %v", err)
	}
}

func TestBetween(t *testing.T) {
	g, err := Parse(pooling)
	if err != nil {
		t.Fatal(err)
	}
	nodes, takes := g.Between("mean", "out")
	if want := []int{5, 6, 7}; !slices.Equal(nodes, want) {
		t.Errorf("the head has the nodes %v, want %v", nodes, want)
	}
	if !takes["w2"] || takes["w1"] || takes["rows"] {
		t.Errorf("the head takes %v, want w2 of the weights and no row", takes)
	}
}

func TestCutLeavesWhatATensorNeeds(t *testing.T) {
	g, err := Parse(pooling)
	if err != nil {
		t.Fatal(err)
	}
	for to, want := range map[string]int{"out": 8, "tokens": 3, "count": 1} {
		cut, err := Parse(g.Cut(to))
		if err != nil {
			t.Fatal(err)
		}
		if len(cut.Nodes) != want || !slices.Equal(cut.Outputs, []string{to}) || len(cut.Inputs) != 2 || cut.Opsets[""] != 18 {
			t.Errorf("cut to %s: %d nodes, outputs %v, inputs %v; want %d nodes, that output and both inputs", to, len(cut.Nodes), cut.Outputs, cut.Inputs, want)
		}
		if again := g.Cut(to); !slices.Equal(again, g.Cut(to)) {
			t.Errorf("cutting to %s twice gives different bytes", to)
		}
	}
}

func TestCutAfterATensor(t *testing.T) {
	g, err := Parse(pooling)
	if err != nil {
		t.Fatal(err)
	}
	cut, err := Parse(g.CutAfter("mean", 8, "out"))
	if err != nil {
		t.Fatal(err)
	}
	if len(cut.Nodes) != 3 || !slices.Equal(cut.Inputs, []string{"mean"}) || !slices.Equal(cut.Outputs, []string{"out"}) || len(cut.Initializers) != 1 {
		t.Errorf("%d nodes and %d weights, inputs %v, outputs %v; want the layer, the residual and tanh, and w2", len(cut.Nodes), len(cut.Initializers), cut.Inputs, cut.Outputs)
	}
}

func TestPart(t *testing.T) {
	g, err := Parse(pooling)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from, to string
		inputs   []string
	}{{"", "rows", g.Inputs[:1]}, {"mean", "out", []string{"mean"}}, {"rows", "out", []string{g.Inputs[1], "rows"}}} {
		data, inputs := g.Part(c.from, c.to)
		part, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(inputs, c.inputs) || !slices.Equal(part.Inputs, c.inputs) || !slices.Equal(part.Outputs, []string{c.to}) {
			t.Errorf("from %q to %s: inputs %v, of the graph %v, outputs %v; want the inputs %v", c.from, c.to, inputs, part.Inputs, part.Outputs, c.inputs)
		}
	}
}

func TestReplaceANode(t *testing.T) {
	g, err := Parse(pooling)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Parse(model([]string{"layer"}, op("Gemm", "mean", "w1", "product"), op("Neg", "product", "layer")))
	if err != nil {
		t.Fatal(err)
	}
	fields := protofield.AppendBytes(protofield.AppendBytes(nil, graphNode, other.Nodes[0].Raw), graphNode, other.Nodes[1].Raw)
	changed, err := Parse(WithOpset(g.Replace(map[int][]byte{5: fields}, map[string]bool{"w2": true}), "elsewhere", 3))
	if err != nil {
		t.Fatal(err)
	}
	var ops []string
	for _, n := range changed.Nodes {
		ops = append(ops, n.Op)
	}
	if want := []string{"Gather", "Mul", "ReduceSum", "ReduceSum", "Div", "Gemm", "Neg", "Add", "Tanh", "Identity"}; !slices.Equal(ops, want) {
		t.Errorf("the nodes are %v, want %v", ops, want)
	}
	if len(changed.Initializers) != 1 || changed.Initializers[0].Name != "w1" || changed.Opsets["elsewhere"] != 3 || changed.Opsets[""] != 18 {
		t.Errorf("weights %v, opsets %v; want w1 and both opsets", changed.Initializers, changed.Opsets)
	}
}

func TestAttributes(t *testing.T) {
	number := protofield.AppendVarint[int]
	packed := protowire.AppendVarint(protowire.AppendVarint(nil, 7), uint64(1<<64-2))
	var m []byte
	for _, attribute := range [][]byte{
		number(protofield.AppendBytes(nil, 1, "axis"), 3, 2),
		number(number(protofield.AppendBytes(nil, 1, "pads"), 8, 1), 8, 0),
		protofield.AppendBytes(protofield.AppendBytes(nil, 1, "packed"), 8, packed),
		protowire.AppendFixed32(protowire.AppendTag(protofield.AppendBytes(nil, 1, "alpha"), 2, protowire.Fixed32Type), 0x3f000000),
		protofield.AppendBytes(protofield.AppendBytes(nil, 1, "auto_pad"), 4, "SAME_UPPER"),
	} {
		m = protofield.AppendBytes(m, 5, attribute)
	}
	n, err := parseNode(m)
	if err != nil {
		t.Fatal(err)
	}
	all, err := n.Attributes()
	if err != nil {
		t.Fatal(err)
	}
	if all["axis"].First(0) != 2 || all["none"].First(9) != 9 || !slices.Equal(all["pads"].Ints, []int{1, 0}) || !slices.Equal(all["packed"].Ints, []int{7, -2}) || all["alpha"].Float != 0.5 {
		t.Errorf("read %v", all)
	}
	if a, ok := all["auto_pad"]; !ok || a.Ints != nil {
		t.Errorf("an attribute of text is %v, %v", a, ok)
	}
}

func TestTensor(t *testing.T) {
	w := NewFloat32("w", []int{2, 3}, []float32{1, 2, 3, 4, 5, -6})
	got, err := w.Tensor()
	if err != nil || !slices.Equal(got.Shape, []int{2, 3}) || !slices.Equal(got.Float32s(), []float32{1, 2, 3, 4, 5, -6}) {
		t.Errorf("tensor %+v, error %v", got, err)
	}
	for _, shape := range [][]int{{2, 2}, {7}, {1 << 40, 1 << 40}} {
		if _, err := NewFloat32("w", shape, []float32{1, 2, 3, 4, 5, 6}).Tensor(); err == nil {
			t.Errorf("six numbers are read as %v", shape)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(pooling)
	f.Add([]byte{})
	f.Add([]byte{0x3a, 0xff, 0xff, 0x03})
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := Parse(data)
		if err != nil {
			return
		}
		for _, w := range g.Initializers {
			_, _ = w.Tensor() // must not panic
		}
		for _, n := range g.Nodes {
			_, _ = n.Attributes()
		}
		if other := g.Unsigned(); other != nil {
			if _, err := Parse(other); err != nil {
				t.Errorf("a graph that parses does not with other matrices: %v", err)
			}
		}
		declared, err := g.Declared(func(string) (io.ReaderAt, error) { return nil, io.ErrUnexpectedEOF })
		outside, failed := g.Outside(data, func(file string) (string, error) { return file, nil })
		for light, err := range map[*Graph]error{declared: err, outside: failed} {
			if err != nil {
				continue
			}
			if _, err := Parse(light.Replace(nil, nil)); err != nil {
				t.Errorf("a graph that parses does not without its large weights: %v", err)
			}
		}
		for _, name := range g.Outputs {
			g.Waists(name)
			if _, err := Parse(g.CutAfter("x", 1, name)); err != nil {
				t.Fatal(err)
			}
			if _, err := Parse(g.Cut(name)); err != nil {
				t.Errorf("what was cut of a graph that parses does not: %v", err)
			}
		}
	})
}

// TestLargeWeights: a graph refers to its own file for them, or declares them as inputs, once, and what is small stays.
func TestLargeWeights(t *testing.T) {
	values := make([]float32, 30_000)
	for i := range values {
		values[i] = float32(i)
	}
	graph := []byte(nil)
	for _, w := range []Initializer{NewFloat32("large", []int{3, 10_000}, values), NewFloat32("small", []int{2}, values[:2])} {
		graph = protofield.AppendBytes(graph, graphInitializer, w.Raw)
	}
	graph = protofield.AppendBytes(graph, graphInput, valueInfo("ids", Float32, []int{-1, 1}))
	graph = protofield.AppendBytes(graph, graphInput, valueInfo("large", Float32, []int{-1, 10_000})) // of old graphs
	data := protofield.AppendBytes(nil, modelGraph, graph)
	g, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	parsed := func(g *Graph, err error) *Graph {
		t.Helper()
		if err == nil {
			g, err = Parse(g.Replace(nil, nil))
		}
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	elsewhere := func(string) (io.ReaderAt, error) { return bytes.NewReader(data), nil }
	declared := parsed(g.Declared(elsewhere))
	if names := []string{"large", "ids"}; !slices.Equal(declared.Inputs, names) || !slices.Equal(declared.Shapes["large"], []int{3, 10_000}) {
		t.Errorf("inputs %q, large has the shape %v", declared.Inputs, declared.Shapes["large"])
	}
	if len(declared.Initializers) != 1 || declared.Initializers[0].Name != "small" {
		t.Errorf("%d weights are left", len(declared.Initializers))
	}
	outside := parsed(g.Outside(data, func(file string) (string, error) { return "m.onnx" + file, nil }))
	if size := len(outside.Replace(nil, nil)); size > 1000 {
		t.Errorf("a graph without its weights has %d bytes", size)
	}
	again := parsed(outside.Declared(elsewhere)) // weights in another file
	if !slices.Equal(again.Shapes["large"], []int{3, 10_000}) || len(again.Initializers) != 1 {
		t.Errorf("large has the shape %v, %d weights are left", again.Shapes["large"], len(again.Initializers))
	}
	small, _ := g.Initializers[1].outside()
	moved := *outside
	moved.Initializers = []Initializer{outside.Initializers[0],
		{"small", Outside(small.rest, "m.onnx", bytes.Index(data, g.Initializers[1].Raw[len(g.Initializers[1].Raw)-8:]), 8)}}
	back := parsed(moved.Declared(elsewhere)).Initializers[0]
	if got, want := numbersOf(t, back), numbersOf(t, g.Initializers[1]); !bytes.Equal(got, want) {
		t.Errorf("a small weight in another file is %v, want %v", got, want)
	}
	inside, err := outside.Initializers[0].Inside(elsewhere)
	if got, want := numbersOf(t, inside), numbersOf(t, g.Initializers[0]); err != nil || !bytes.Equal(got, want) {
		t.Errorf("a weight that is read into the graph has other numbers (%v)", err)
	}
	w, err := outside.Initializers[0].Weight(func(file string) (io.ReaderAt, error) {
		if file != "m.onnx" {
			t.Errorf("it is in %s", file)
		}
		return bytes.NewReader(data), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.Read(0, w.Size)
	if want := numbersOf(t, g.Initializers[0]); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file has other numbers there (%v)", err)
	}
}

// numbersOf is a weight's numbers.
func numbersOf(t *testing.T, w Initializer) []byte {
	t.Helper()
	tensor, err := w.Tensor()
	if err != nil {
		t.Fatal(err)
	}
	return tensor.Data
}

// TestWeights: numbers are read of the model, or of a file beside it, up to its end if no length is said.
func TestWeights(t *testing.T) {
	entry := func(key, value string) []byte {
		return protofield.AppendBytes(protofield.AppendBytes(nil, 1, key), 2, value)
	}
	tensor := func(entries ...[]byte) Initializer {
		w := protofield.AppendVarint(nil, tensorDims, 2)
		w = protofield.AppendVarint(w, tensorType, Float32)
		for _, e := range entries {
			w = protofield.AppendBytes(w, tensorExternal, e)
		}
		return Initializer{"w3", protofield.AppendVarint(w, 14, 1)}
	}
	read := func(w Initializer) ([]byte, error) {
		weight, err := w.Weight(func(string) (io.ReaderAt, error) {
			return strings.NewReader("0123\x00\x00\x80\x3f\x00\x00\x00\x40"), nil
		})
		if err != nil {
			return nil, err
		}
		return weight.Read(4, weight.Size-4)
	}
	for _, w := range []Initializer{NewFloat32("w", []int{2}, []float32{1, 2}), tensor(entry("location", "w"), entry("offset", "4")),
		tensor(entry("location", "w"), entry("offset", "4"), entry("length", "8"))} {
		if got, err := read(w); err != nil || string(got) != "\x00\x00\x00\x40" {
			t.Errorf("the second number is %q, %v", got, err)
		}
	}
	for _, c := range [][2]string{{"offset", "8"}, {"offset", "-1"}, {"offset", "far"}, {"length", "99999999999"}, {"length", "4"}} {
		if _, err := read(tensor(entry("location", "w"), entry("length", "8"), entry(c[0], c[1]))); err == nil {
			t.Errorf("%s %s is read", c[0], c[1])
		}
	}
}
