// Package traintest makes sentences, numbers and encoders for tests of training, and compares numbers.
package traintest

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/train/data"
	"bitextmine/train/export"
)

// Sentences are n sentences of 1 to length tokens of a vocabulary, the first of them full.
func Sentences(seed uint64, n, length, vocabulary int) data.Side {
	rng := rand.New(rand.NewPCG(seed, 0))
	side := data.Side{N: n, Length: length, IDs: make([]int32, n*length)}
	for i := range n {
		l := length
		if i > 0 {
			l = 1 + rng.IntN(length)
		}
		side.Lengths = append(side.Lengths, int32(l))
		for p := range l {
			side.IDs[i*length+p] = rng.Int32N(int32(vocabulary))
		}
	}
	return side
}

// Random returns n normally distributed numbers.
func Random(seed uint64, n int) []float32 {
	rng := rand.New(rand.NewPCG(seed, 0))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64())
	}
	return out
}

// Limited is a context that ends after a minute.
func Limited(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// Near compares to a tolerance relative to the largest magnitude wanted.
func Near(t testing.TB, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers instead of %d", what, len(got), len(want))
	}
	scale, worst, at := 1e-2, 0.0, 0 // a bias of keys has no gradient but rounding
	for i := range want {
		scale = max(scale, math.Abs(float64(want[i])))
		if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= worst) {
			worst, at = d, i
		}
	}
	if !(worst <= tolerance*scale) {
		t.Errorf("%s: number %d is %v instead of %v (largest %v)", what, at, got[at], want[at], scale)
	}
}

// Reference compares with numbers of float64: within 1e-4 of the largest one wanted, or within 1e-6, which is float32's
// rounding.
func Reference(t testing.TB, what string, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	largest := 1e-2
	for _, w := range want {
		largest = max(largest, math.Abs(w))
	}
	for i, w := range want {
		if !(math.Abs(float64(got[i])-w) <= 1e-4*largest) {
			t.Errorf("%s: number %d is %v, want %v", what, i, got[i], w)
			return
		}
	}
}

// Write writes a file and makes its directory.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Letters opens a graph whose words are the letters a to d: ids 2 to 5 after the unknown word 0 and [CLS] 1.
func Letters(t testing.TB, g *export.Graph, manifest string) *encode.Encoder {
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
	return OpenModel(t, m)
}

// Open opens the encoder of a directory until the test ends.
func Open(t testing.TB, dir string) *encode.Encoder {
	t.Helper()
	m, err := model.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return OpenModel(t, m)
}

// OpenModel is Open for a manifest that was read.
func OpenModel(t testing.TB, m *model.Model) *encode.Encoder {
	t.Helper()
	e, err := encode.Open(m, encode.Options{Threads: 1})
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
