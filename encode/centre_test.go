package encode

import (
	"math"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/embedding"
	"bitextmine/encode/encodetest"
)

// centred is the manifest of letters with a centre.
const centred = `name: letters
onnx: model.onnx
tokenizer: {kind: wordpiece, file: vocab.txt, bos: "[CLS]", eos: 3}
max_tokens: 5
inputs: {ids: ids, token_types: types}
output: states
pooling: mean
dim: 2
centre: {file: centre.npy}
`

// A vector of length 1 less the centre has length 1 again, and does not depend on the sentences beside it.
func TestCentreIsSubtracted(t *testing.T) {
	e := lettersOf(t, centred, false, embedding.Array([]float32{0.5, -0.25}, 2))
	texts := []string{"a b", "c", "a b", "z b", "b"}
	got := encodeAll(t, e, texts)
	x, y := 9.0/4, 17.0/4 // the mean of [CLS] a b [SEP]
	x, y = x/math.Hypot(x, y)-0.5, y/math.Hypot(x, y)+0.25
	for k, want := range []float64{x / math.Hypot(x, y), y / math.Hypot(x, y)} {
		if math.Abs(float64(got[k])-want) > 1e-6 {
			t.Errorf("number %d is %v instead of %v", k, got[k], want)
		}
	}
	for i, text := range texts {
		compare(t, got[2*i:2*i+2], encodeAll(t, e, []string{text}), 2)
	}
	plain, err := OpenInner(e.graph.model, "", Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := plain.Close(); err != nil {
			t.Error(err)
		}
	}()
	if inner := encodeAll(t, plain, []string{"a b"}); !slices.Equal(inner, []float32{9.0 / 4, 17.0 / 4}) {
		t.Errorf("the pooled vector is %v: it is not to be centred", inner)
	}
}

// A language of the list has its own vector subtracted, also with a script that is not listed, and any other the last.
func TestCentresOfLanguages(t *testing.T) {
	manifest := strings.Replace(centred, "centre.npy}", "centre.npy, languages: [zh, sr, sr-Latn]}", 1)
	e := lettersOf(t, manifest, false, embedding.Array([]float32{0.5, 0, 0, 0.5, -0.5, 0, 0, -0.5}, 2))
	for language, row := range map[string]int{"zh": 0, "zh-Hant": 0, "sr": 1, "sr-Latn": 2, "de": 3, "": 3} {
		one := lettersOf(t, centred, false, embedding.Array([][]float32{{0.5, 0}, {0, 0.5}, {-0.5, 0}, {0, -0.5}}[row], 2))
		got := make([]float32, 2)
		if err := e.Encode(t.Context(), language, []string{"a b"}, got); err != nil {
			t.Fatal(err)
		}
		if want := encodeAll(t, one, []string{"a b"}); !slices.Equal(got, want) {
			t.Errorf("language %q has %v, want %v of row %d", language, got, want, row)
		}
	}
	ids := make([]float32, 2)
	sequences, err := e.Sequences(t.Context(), "zh", []string{"a b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.EncodeIDs(t.Context(), [][]int32{sequences.At(0)}, ids); err != nil {
		t.Fatal(err)
	}
	other := make([]float32, 2)
	if err := e.Encode(t.Context(), "de", []string{"a b"}, other); err != nil || !slices.Equal(ids, other) {
		t.Errorf("ids have the vector %v, want that of other languages, %v (%v)", ids, other, err)
	}
}

func TestCentreThatDoesNotFitIsRefused(t *testing.T) {
	for says, file := range map[string][]byte{
		"centre.npy does not start like a .npy file":                                   []byte("0.5 0.25 and so on"),
		"must be 1 x 2 float32 values (one row more than centre.languages), not 1 x 3": embedding.Array([]float32{1, 2, 3}, 3),
		"must be 1 x 2 float32 values (one row more than centre.languages), not 2 x 2": embedding.Array([]float32{1, 2, 3, 4}, 2),
		"has a value that is not finite: make it again with mine model cen":            embedding.Array([]float32{1, float32(math.Inf(1))}, 2),
	} {
		_, err := openLetters(t, centred, false, file)
		encodetest.Refused(t, err, says)
	}
}
