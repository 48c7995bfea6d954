package encode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
)

// message is an encoded protobuf message with just enough of the ONNX format for a graph of one node.
type message []byte

func (m message) number(field, value int) message {
	return binary.AppendUvarint(binary.AppendUvarint(m, uint64(field<<3)), uint64(value))
}

func (m message) bytes(field int, value []byte) message {
	m = binary.AppendUvarint(m, uint64(field<<3|2))
	return append(binary.AppendUvarint(m, uint64(len(value))), value...)
}

func (m message) text(field int, value string) message { return m.bytes(field, []byte(value)) }

// value describes an input or output. A dimension of 0 means any size.
func value(name string, elemType int, dims ...int) message {
	var shape message
	for i, d := range dims {
		if d == 0 {
			shape = shape.bytes(1, message{}.text(2, fmt.Sprint("d", i)))
		} else {
			shape = shape.bytes(1, message{}.number(1, d))
		}
	}
	tensor := message{}.number(1, elemType).bytes(2, shape)
	return message{}.text(1, name).bytes(2, message{}.bytes(1, tensor))
}

// node is one operator.
func node(op string, inputs, outputs []string) message {
	var m message
	for _, name := range inputs {
		m = m.text(1, name)
	}
	for _, name := range outputs {
		m = m.text(2, name)
	}
	return m.text(4, op)
}

// lookup is a graph whose output [batch, tokens, dim] is the table's row [dim] of each id. If quantised is set, it is
// quantised to 8 bits with one scale for the batch.
func lookup(table [][]float32, quantised bool) []byte {
	var raw []byte
	for _, row := range table {
		for _, x := range row {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
		}
	}
	dim := len(table[0])
	weights := message{}.number(1, len(table)).number(1, dim).number(2, 1).text(8, "table").bytes(9, raw)
	graph := message{}
	if quantised {
		graph = graph.bytes(1, node("Gather", []string{"table", "ids"}, []string{"found"})).
			bytes(1, node("DynamicQuantizeLinear", []string{"found"}, []string{"q", "scale", "zero"})).
			bytes(1, node("DequantizeLinear", []string{"q", "scale", "zero"}, []string{"states"}))
	} else {
		graph = graph.bytes(1, node("Gather", []string{"table", "ids"}, []string{"states"}))
	}
	graph = graph.text(2, "lookup").bytes(5, weights).
		bytes(11, value("ids", 7, 0, 0)).bytes(11, value("types", 7, 0, 0)).bytes(12, value("states", 1, 0, 0, dim))
	return message{}.number(1, 8).bytes(7, graph).bytes(8, message{}.number(2, 13))
}

// letterManifest and letterWords are the manifest and the vocabulary of letters.
const (
	letterManifest = `name: letters
onnx: model.onnx
tokenizer: {kind: wordpiece, file: vocab.txt, bos: "[CLS]", eos: 3}
max_tokens: 5
inputs: {ids: ids, token_types: types}
output: states
pooling: %s
normalise: false
dim: 2
%s`
	letterWords = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\nc\nd\n"
)

// letters is an encoder of one-letter words (a has id 4, b 5, c 6 and d 7) whose vectors are easy to add.
func letters(t testing.TB, pooling model.Pooling, quantised bool, fields ...string) *Encoder {
	t.Helper()
	return lettersOf(t, fmt.Sprintf(letterManifest, pooling, strings.Join(fields, "\n")), quantised, nil)
}

// lettersOf is letters with another manifest and a file centre.npy.
func lettersOf(t testing.TB, manifest string, quantised bool, centre []byte) *Encoder {
	t.Helper()
	e, err := openLetters(t, manifest, quantised, centre)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func openLetters(t testing.TB, manifest string, quantised bool, centre []byte) (*Encoder, error) {
	t.Helper()
	table := [][]float32{{0, 0}, {1, 2}, {8, 0}, {0, 16}, {1, 0}, {0, 1}, {-4, 4}, {float32(math.NaN()), 0}}
	m, err := model.LoadFS(fstest.MapFS{
		model.FileName: {Data: []byte(manifest)},
		"model.onnx":   {Data: lookup(table, quantised)},
		"vocab.txt":    {Data: []byte(letterWords)},
		"centre.npy":   {Data: centre},
	}, model.FileName)
	if err != nil {
		t.Fatal(err)
	}
	return Open(m, Options{Threads: 2})
}

// TestLargeWeightsStayInTheirFile: the graph or a file beside it has them, either of which may be a link to one
// elsewhere, as a hub's cache has it.
func TestLargeWeightsStayInTheirFile(t *testing.T) {
	table := make([][]float32, 20_000)
	for i := range table {
		table[i] = []float32{float32(i), float32(-i)}
	}
	whole := lookup(table, false)
	parsed, err := onnxgraph.Parse(whole)
	if err != nil {
		t.Fatal(err)
	}
	outside, err := parsed.Outside(whole, func(string) (string, error) { return "weights", nil })
	if err != nil {
		t.Fatal(err)
	}
	for external, graph := range map[string][]byte{"": whole, "external_data: [onnx/weights]": outside.Replace(nil, nil)} {
		dir, blobs := t.TempDir(), t.TempDir()
		manifest := strings.Replace(fmt.Sprintf(letterManifest, model.Mean, external), "model.onnx", "onnx/model.onnx", 1)
		for path, data := range map[string][]byte{
			filepath.Join(blobs, "0a1b"): graph, filepath.Join(blobs, "2c3d"): whole,
			filepath.Join(dir, model.FileName): []byte(manifest), filepath.Join(dir, "vocab.txt"): []byte(letterWords),
		} {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(os.Mkdir(filepath.Join(dir, "onnx"), 0o700),
			os.Symlink(filepath.Join(blobs, "0a1b"), filepath.Join(dir, "onnx", "model.onnx")),
			os.Symlink(filepath.Join(blobs, "2c3d"), filepath.Join(dir, "onnx", "weights"))); err != nil {
			t.Fatal(err)
		}
		m, err := model.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Open(m, Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := encodeAll(t, e, []string{"a d"}), []float32{4, -4}; !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", external, got, want)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestPoolingAndSpecialTokens(t *testing.T) {
	for _, c := range []struct {
		name    string
		pooling model.Pooling
		fields  []string
		text    string
		want    []float32
	}{
		{"the first token", model.CLS, nil, "a b", []float32{8, 0}},
		{"mean of [CLS] a b [SEP]", model.Mean, nil, "a b", []float32{9.0 / 4, 17.0 / 4}},
		{"max of [CLS] c [SEP]", model.Max, nil, "c", []float32{8, 16}},
		{"cut to [CLS] a b c [SEP]", model.Mean, nil, "a b c a a", []float32{1, 21.0 / 5}},
		{"an unknown word", model.Mean, nil, "z", []float32{3, 6}},
		{"no word at all is unknown too", model.Mean, nil, "", []float32{3, 6}},
		{"prefix tokens", model.Mean, []string{"prefixes: {en: {tokens: [6]}}"}, "a b b", []float32{5.0 / 5, 21.0 / 5}},
		{"a text prefix", model.Mean, []string{`prefixes: {"*": {text: "b "}}`}, "a", []float32{9.0 / 4, 17.0 / 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := encodeAll(t, letters(t, c.pooling, false, c.fields...), []string{c.text}); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestTokenBeyondGraphIsRefused(t *testing.T) {
	e := letters(t, model.Mean, false, "prefixes: {de: {tokens: [8]}}") // one more than the last row of the table
	encodetest.Refused(t, e.Encode(t.Context(), "de", []string{"a"}, make([]float32, 2)), "gave a token that its graph does not have")
}

// TestMoreTokensThanTheGraphTakes: a manifest that promises more tokens than the graph has places for is named.
func TestMoreTokensThanTheGraphTakes(t *testing.T) {
	floats := func(name string, shape ...int) message {
		m, n := message{}, 4
		for _, d := range shape {
			m, n = m.number(1, d), n*d
		}
		return m.number(2, 1).text(8, name).bytes(9, make([]byte, n))
	}
	whole := func(name string, value int64) message {
		return message{}.number(1, 1).number(2, 7).text(8, name).bytes(9, binary.LittleEndian.AppendUint64(nil, uint64(value)))
	}
	graph := message{}.
		bytes(1, node("Gather", []string{"table", "ids"}, []string{"found"})).
		bytes(1, node("Shape", []string{"ids"}, []string{"shape"})).
		bytes(1, node("Gather", []string{"shape", "one"}, []string{"length"})).
		bytes(1, node("Slice", []string{"places", "zero", "length", "one"}, []string{"cut"})).
		bytes(1, node("Add", []string{"found", "cut"}, []string{"states"})).
		text(2, "places").bytes(5, floats("table", 8, 2)).bytes(5, floats("places", 1, 4, 2)).bytes(5, whole("zero", 0)).bytes(5, whole("one", 1)).
		bytes(11, value("ids", 7, 0, 0)).bytes(11, value("types", 7, 0, 0)).bytes(12, value("states", 1, 0, 0, 2))
	m, err := model.LoadFS(fstest.MapFS{
		model.FileName: {Data: []byte(fmt.Sprintf(letterManifest, model.Mean, ""))},
		"model.onnx":   {Data: message{}.number(1, 8).bytes(7, graph).bytes(8, message{}.number(2, 13))},
		"vocab.txt":    {Data: []byte(letterWords)},
	}, model.FileName)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(m, Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	encodetest.Refused(t, e.Encode(t.Context(), "de", []string{"a b c"}, make([]float32, 2)), "does not take 5 tokens: lower max_tokens in")
	if err := e.Encode(t.Context(), "de", []string{"a b"}, make([]float32, 2)); err == nil || strings.Contains(err.Error(), "max_tokens") {
		t.Errorf("four tokens, whose vector is zero: %v", err)
	}
}

// Dynamic quantisation takes its scale from the batch, so such graphs get one sentence at a time.
func TestQuantisedVectorDoesNotDependOnBatch(t *testing.T) {
	texts := []string{"a b", "a c", "z z", "c c", "b", "a b"}
	for _, field := range []string{"", "quantised: 1"} {
		e := letters(t, model.Mean, true, field)
		if !e.graph.session.Single {
			t.Errorf("%q: the graph gets batches of many sentences", field)
		}
		together := encodeAll(t, e, texts)
		for i, text := range texts {
			compare(t, together[2*i:2*i+2], encodeAll(t, e, []string{text}), 2)
		}
	}
}

func TestVectorsWithoutDirectionAreRefused(t *testing.T) {
	e := letters(t, model.Max, false)
	texts := []string{"a", "b", "d", "a"}
	err := e.Encode(t.Context(), "en", texts, make([]float32, 2*len(texts)))
	encodetest.Refused(t, err, "row 2: encoder letters gave it a vector that is not finite")
	for _, c := range []struct {
		name   string
		vector []float32
		says   string
	}{
		{"zero", []float32{0, 0}, "is zero"},
		{"NaN", []float32{1, float32(math.NaN())}, "is not finite"},
		{"infinite", []float32{float32(math.Inf(-1)), 0}, "is not finite"},
	} {
		if err := finish(c.vector, true, nil); err == nil || err.Error() != c.says {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	unit := []float32{3, -4}
	if err := finish(unit, true, nil); err != nil || !slices.Equal(unit, []float32{0.6, -0.8}) {
		t.Errorf("%v, %v", unit, err)
	}
}
