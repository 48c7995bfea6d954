package encode

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"bitextmine/fixtures"
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

// letters is an encoder of one-letter words (a has id 4, b 5, c 6 and d 7) whose vectors are easy to add.
func letters(t testing.TB, pooling Pooling, quantised bool, fields ...string) *Encoder {
	t.Helper()
	manifest := fmt.Sprintf(`name: letters
onnx: model.onnx
tokenizer: {kind: wordpiece, file: vocab.txt, bos: "[CLS]", eos: 3}
max_tokens: 5
inputs: {ids: ids, token_types: types}
output: states
pooling: %s
normalise: false
dim: 2
%s`, pooling, strings.Join(fields, "\n"))
	table := [][]float32{{0, 0}, {1, 2}, {8, 0}, {0, 16}, {1, 0}, {0, 1}, {-4, 4}, {float32(math.NaN()), 0}}
	m, err := LoadFS(fstest.MapFS{
		ManifestName: {Data: []byte(manifest)},
		"model.onnx": {Data: lookup(table, quantised)},
		"vocab.txt":  {Data: []byte("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\nc\nd\n")},
	}, ManifestName)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(m, Options{Threads: 2})
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

func TestPoolingAndSpecialTokens(t *testing.T) {
	for _, c := range []struct {
		name    string
		pooling Pooling
		fields  []string
		text    string
		want    []float32
	}{
		{"the first token", CLS, nil, "a b", []float32{8, 0}},
		{"mean of [CLS] a b [SEP]", Mean, nil, "a b", []float32{9.0 / 4, 17.0 / 4}},
		{"max of [CLS] c [SEP]", Max, nil, "c", []float32{8, 16}},
		{"cut to [CLS] a b c [SEP]", Mean, nil, "a b c a a", []float32{1, 21.0 / 5}},
		{"an unknown word", Mean, nil, "z", []float32{3, 6}},
		{"no word at all is unknown too", Mean, nil, "", []float32{3, 6}},
		{"prefix tokens", Mean, []string{"prefixes: {en: {tokens: [6]}}"}, "a b b", []float32{5.0 / 5, 21.0 / 5}},
		{"a text prefix", Mean, []string{`prefixes: {"*": {text: "b "}}`}, "a", []float32{9.0 / 4, 17.0 / 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := encodeAll(t, letters(t, c.pooling, false, c.fields...), []string{c.text}); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestTokenBeyondGraphIsRefused(t *testing.T) {
	e := letters(t, Mean, false, "prefixes: {de: {tokens: [8]}}") // one more than the last row of the table
	refused(t, e.Encode(t.Context(), "de", []string{"a"}, make([]float32, 2)), "gave a token that its graph does not have")
}

// Dynamic quantisation takes its scale from the batch, so such graphs get one sentence at a time.
func TestQuantisedVectorDoesNotDependOnBatch(t *testing.T) {
	e := letters(t, Mean, true)
	texts := []string{"a b", "a c", "z z", "c c", "b", "a b"}
	together := encodeAll(t, e, texts)
	for i, text := range texts {
		compare(t, together[2*i:2*i+2], encodeAll(t, e, []string{text}), 2)
	}
}

func TestVectorsWithoutDirectionAreRefused(t *testing.T) {
	e := letters(t, Max, false)
	texts := []string{"a", "b", "d", "a"}
	err := e.Encode(t.Context(), "en", texts, make([]float32, 2*len(texts)))
	refused(t, err, "row 2: encoder letters gave it a vector that is not finite")
	for _, c := range []struct {
		name   string
		vector []float32
		says   string
	}{
		{"zero", []float32{0, 0}, "is zero"},
		{"NaN", []float32{1, float32(math.NaN())}, "is not finite"},
		{"infinite", []float32{float32(math.Inf(-1)), 0}, "is not finite"},
	} {
		if err := finish(c.vector, true); err == nil || err.Error() != c.says {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	unit := []float32{3, -4}
	if err := finish(unit, true); err != nil || !slices.Equal(unit, []float32{0.6, -0.8}) {
		t.Errorf("%v, %v", unit, err)
	}
}

// The ids of a fairseq model are four special ones, then those in the order of the dictionary.
func TestDictionaryNumbers(t *testing.T) {
	files := changed(t, "lowercase: true", "lowercase: true\n    dictionary: dict.txt\n    eos: 2\n    unk: 3")
	files["dict.txt"] = &fstest.MapFile{Data: []byte("▁the 900\n. 800\n▁no▁such▁piece 5\n▁of 4\n")}
	m, err := LoadFS(files, ManifestName)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSplitter(m)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n, err := newIDMap(m, s)
	if err != nil {
		t.Fatal(err)
	}
	for piece, want := range map[string]int32{"▁the": 4, ".": 5, "▁of": 7, "▁and": fairseqUnknown, "<unk>": 3} {
		if id, ok := s.ID(piece); !ok || n.graph[id] != want {
			t.Errorf("%s is %d, want %d", piece, n.graph[id], want)
		}
	}
	for _, c := range []struct{ name, dict, says string }{
		{"not a dictionary", "▁the\n", "dict.txt:1 of encoder " + fixtures.Encoder + " is not a piece, a space and a count"},
		{"of another model", "xyzzy 1\n", "has no piece of spm.model"},
	} {
		files["dict.txt"] = &fstest.MapFile{Data: []byte(c.dict)}
		_, err := newIDMap(m, s)
		refused(t, err, c.says)
	}
}
