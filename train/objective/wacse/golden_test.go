package wacse

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"gopkg.in/yaml.v3"

	"bitextmine/encode/encodetest"
	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/encoder"
	"bitextmine/train/objective"
	"bitextmine/train/words"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

// golden is testdata/golden.json, written by golden.py.
type golden struct {
	N          int               `json:"n"`
	Length     int               `json:"length"`
	Width      int               `json:"width"`
	Vocabulary int               `json:"vocabulary"`
	IDs        [][][]int32       `json:"ids"`   // by side and sentence
	Words      [][][][2]uint16   `json:"words"` // by side and sentence: begin, end
	Links      [][][2]uint16     `json:"links"` // by pair
	Tensors    map[string]tensor `json:"tensors"`
	Cases      map[string]struct {
		Settings  json.RawMessage      `json:"settings"`
		Values    map[string]float64   `json:"values"`
		Weights   map[string]float64   `json:"weights"`
		Total     float64              `json:"total"`
		Gradients map[string][]float64 `json:"gradients"`
	} `json:"cases"`
}

type tensor struct {
	Shape []int     `json:"shape"`
	Data  []float32 `json:"data"`
}

func readGolden(t *testing.T) (all golden) {
	t.Helper()
	raw, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// build makes the objective of a preset's section. The mask is the token 0.
func build(t *testing.T, all golden, settings string) *wacse {
	t.Helper()
	var section objective.Section
	if err := yaml.Unmarshal([]byte(settings), &section); err != nil { // JSON is YAML
		t.Fatal(err)
	}
	o, err := section.Build(objective.Training{Dim: all.Width, Width: all.Width, Vocabulary: all.Vocabulary, Languages: []string{"en", "fr"},
		Special: []int32{1, 2, 0}, Mask: 0, Table: "table", Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	return o.(*wacse)
}

// batch is the golden batch. Its target is padded to a shorter length.
func (all golden) batch() *data.Batch {
	b := &data.Batch{Words: make([]words.Pair, all.N)}
	for side, sentences := range all.IDs {
		view := data.Side{N: all.N, Length: all.Length - side, IDs: make([]int32, all.N*(all.Length-side))}
		for i, ids := range sentences {
			view.Lengths = append(view.Lengths, int32(copy(view.IDs[i*view.Length:], ids)))
			var spans []words.Span
			for _, w := range all.Words[side][i] {
				spans = append(spans, words.Span{Begin: w[0], End: w[1]})
			}
			if side == 0 {
				b.Words[i].Source = spans
			} else {
				b.Words[i].Target = spans
			}
		}
		b.Views = append(b.Views, view)
	}
	for i, links := range all.Links {
		for _, l := range links {
			b.Words[i].Links = append(b.Words[i].Links, words.Link{Source: l[0], Target: l[1]})
		}
	}
	return b
}

// run computes a case's terms, their weighted total, and its gradients by every tensor.
func (all golden) run(t *testing.T, backend compute.Backend, w *wacse) (terms []float32, gradients map[string][]float32) {
	t.Helper()
	b := all.batch()
	views, err := w.Views(b)
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := w.Inputs(t.Context(), b, views)
	if err != nil {
		t.Fatal(err)
	}
	names := all.names(t, w)
	var args []*tensors.Tensor
	for _, name := range names {
		args = append(args, tensors.FromFlatDataAndDimensions(all.Tensors[name].Data, all.Tensors[name].Shape...))
	}
	exec, err := g.NewExec(backend, func(nodes []*g.Node) []*g.Node {
		of := map[string]*g.Node{}
		for i, name := range names {
			of[name] = nodes[i]
		}
		s := objective.Step{Heads: of, Inputs: nodes[len(names):], Views: []encoder.Encoded{
			{Vectors: of["vectors0"], Tokens: of["tokens0"]}, {Vectors: of["vectors1"], Tokens: of["tokens1"]},
			{Tokens: of["masked0"]}, {Tokens: of["masked1"]},
		}}
		out := w.Loss(s)
		total := g.ScalarZero(nodes[0].Graph(), nodes[0].DType())
		for i, term := range w.Terms() {
			total = g.Add(total, g.MulScalar(out[i], term.Weight.At(7)))
		}
		return append(append(out, total), g.Gradient(total, nodes[:len(names)]...)...)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	flat, err := device.Call(exec, append(args, inputs...))
	if err != nil {
		t.Fatal(err)
	}
	scalars := len(flat) - len(names)
	for _, x := range flat[:scalars] {
		terms = append(terms, x[0])
	}
	gradients = map[string][]float32{}
	for i, name := range names {
		gradients[name] = flat[scalars+i]
	}
	return terms, gradients
}

// names are the tensors that a case has.
func (all golden) names(t *testing.T, w *wacse) []string {
	t.Helper()
	names := []string{"vectors0", "vectors1"}
	if w.Needs().Tokens {
		names = append(names, "tokens0", "tokens1")
	}
	if w.Needs().Mask {
		names = append(names, "masked0", "masked1", "table")
	}
	for _, spec := range w.Heads() {
		names = append(names, spec.Name)
		if of := all.Tensors[spec.Name]; !slices.Equal(of.Shape, spec.Shape) {
			t.Fatalf("%s has the shape %v, want %v", spec.Name, spec.Shape, of.Shape)
		}
	}
	return names
}

// TestGolden compares every term, the weights, the weighted total and its gradients with float64 numpy's, also where a
// term is left out.
func TestGolden(t *testing.T) {
	all := readGolden(t)
	for _, name := range []string{"go", "cpu"} {
		backend, err := device.Open(name, "")
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Finalize()
		for _, variant := range slices.Sorted(maps.Keys(all.Cases)) {
			t.Run(name+"/"+variant, func(t *testing.T) {
				want := all.Cases[variant]
				w := build(t, all, string(want.Settings))
				terms, gradients := all.run(t, backend, w)
				if len(w.Terms()) != len(want.Values) || len(gradients) != len(want.Gradients) {
					t.Errorf("%d terms and %d gradients, want %d and %d", len(w.Terms()), len(gradients), len(want.Values), len(want.Gradients))
				}
				for i, term := range w.Terms() {
					near(t, term.Name, terms[i:i+1], []float64{want.Values[term.Name]})
					if weight := term.Weight.At(0); weight != want.Weights[term.Name] {
						t.Errorf("the weight of %s is %v, want %v", term.Name, weight, want.Weights[term.Name])
					}
				}
				near(t, "the weighted total", terms[len(terms)-1:], []float64{want.Total})
				for name, gradient := range want.Gradients {
					near(t, "the gradient by "+name, gradients[name], gradient)
				}
			})
		}
	}
}

// near wants all numbers within 1e-4 of the largest one wanted, or within 1e-6, which is float32's rounding.
func near(t *testing.T, what string, got []float32, want []float64) {
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
