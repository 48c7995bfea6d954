package mexma

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
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/traintest"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

// golden is testdata/golden.json, written by golden.py.
type golden struct {
	N          int               `json:"n"`
	Length     int               `json:"length"`
	Width      int               `json:"width"`
	Vocabulary int               `json:"vocabulary"`
	Lengths    [][]int32         `json:"lengths"`
	Hidden     [][][][2]int      `json:"hidden"` // by side and sentence: place, id
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

func readGolden(t *testing.T) golden {
	t.Helper()
	raw, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var all golden
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// build makes the objective of a case, or of a preset's text.
func (all golden) build(t *testing.T, settings string) *mexma {
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
	return o.(*mexma)
}

// masked is the golden batch's masked views and what is hidden in them. The longer view counts.
func (all golden) masked(sides int) (views []data.Side, out []hidden) {
	for side := range sides {
		views = append(views, data.Side{N: all.N, Length: all.Length - side, Lengths: all.Lengths[side]})
		var h hidden
		for row, tokens := range all.Hidden[side] {
			for _, of := range tokens {
				h.rows, h.places, h.ids = append(h.rows, row), append(h.places, of[0]), append(h.ids, int32(of[1]))
			}
		}
		out = append(out, h)
	}
	return views, out
}

// run computes a case's terms, and the gradients of the weighted total by every tensor.
func (all golden) run(t *testing.T, backend compute.Backend, m *mexma) (terms []float32, gradients map[string][]float32) {
	t.Helper()
	sides := 1
	if m.Symmetric {
		sides = 2
	}
	names := all.names(t, m, sides)
	var args []*tensors.Tensor
	for _, name := range names {
		args = append(args, tensors.FromFlatDataAndDimensions(all.Tensors[name].Data, all.Tensors[name].Shape...))
	}
	for side := range sides {
		args = append(args, tensors.FromFlatDataAndDimensions(all.Lengths[side], all.N))
	}
	inputs := inputs(all.masked(sides))
	exec, err := g.NewExec(backend, func(nodes []*g.Node) []*g.Node {
		out := m.Loss(all.step(sides, names, nodes))
		total := g.ScalarZero(nodes[0].Graph(), nodes[0].DType())
		for i, term := range m.Terms() {
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

// names are the tensors of a case: vectors of clean views, vectors of masked views, tokens of masked views, the table,
// the heads.
func (all golden) names(t *testing.T, m *mexma, sides int) (names []string) {
	t.Helper()
	for _, part := range []string{"clean", "masked", "tokens"} {
		names = append(names, []string{part + "0", part + "1"}[:sides]...)
	}
	names = append(names, "table")
	for _, spec := range m.Heads() {
		names = append(names, spec.Name)
		if of := all.Tensors[spec.Name]; !slices.Equal(of.Shape, spec.Shape) {
			t.Fatalf("%s has the shape %v, want %v", spec.Name, spec.Shape, of.Shape)
		}
	}
	return names
}

// step sorts the nodes of a graph: the named tensors, the lengths of the masked views, the inputs.
func (all golden) step(sides int, names []string, nodes []*g.Node) objective.Step {
	rest := nodes[len(names):]
	s := objective.Step{Heads: map[string]*g.Node{}, Inputs: rest[sides:]}
	for _, node := range nodes[:sides] {
		s.Views = append(s.Views, encoder.Encoded{Vectors: node})
	}
	for side := range sides {
		s.Views = append(s.Views, encoder.Encoded{Vectors: nodes[sides+side], Tokens: nodes[2*sides+side], Mask: layers.Present(rest[side], all.Length)})
	}
	for i, name := range names[3*sides:] {
		s.Heads[name] = nodes[3*sides+i]
	}
	return s
}

// TestGolden compares every term of every step of Table 11, the weights, and the gradients of the weighted total, with
// float64 numpy's.
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
				m := all.build(t, string(want.Settings))
				terms, gradients := all.run(t, backend, m)
				if len(m.Terms()) != len(want.Values) || len(gradients) != len(want.Gradients) {
					t.Errorf("%d terms and %d gradients, want %d and %d", len(m.Terms()), len(gradients), len(want.Values), len(want.Gradients))
				}
				for i, term := range m.Terms() {
					traintest.Reference(t, term.Name, terms[i:i+1], []float64{want.Values[term.Name]})
					if weight := term.Weight.At(0); weight != want.Weights[term.Name] {
						t.Errorf("the weight of %s is %v, want %v", term.Name, weight, want.Weights[term.Name])
					}
				}
				traintest.Reference(t, "the weighted total", terms[len(terms)-1:], []float64{want.Total})
				for name, gradient := range want.Gradients {
					traintest.Reference(t, "the gradient by "+name, gradients[name], gradient)
				}
			})
		}
	}
}

// TestTokensWithoutGradients: the loss of the masked tokens reaches them only with token_gradients, and the vector of
// the other side's clean sentence either way. The values are the same.
func TestTokensWithoutGradients(t *testing.T) {
	all := readGolden(t)
	backend, err := device.Open("go", "")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	settings := `{name: mexma, head_layers: 1, head_heads: 2, head_ffn: 5, token_gradients: `
	with, reached := all.run(t, backend, all.build(t, settings+"true}"))
	without, cut := all.run(t, backend, all.build(t, settings+"false}"))
	if !slices.Equal(with, without) {
		t.Errorf("the terms are %v with gradients of tokens and %v without", with, without)
	}
	for _, name := range []string{"tokens0", "tokens1"} {
		if norm(reached[name]) < 1e-3 || norm(cut[name]) != 0 {
			t.Errorf("the gradient of %s has the norm %v with token_gradients and %v without", name, norm(reached[name]), norm(cut[name]))
		}
	}
	for _, name := range []string{"clean0", "clean1", "table", headBias} {
		if norm(cut[name]) < 1e-3 || !slices.Equal(cut[name], reached[name]) {
			t.Errorf("the gradient of %s has the norm %v with token_gradients and %v without", name, norm(reached[name]), norm(cut[name]))
		}
	}
}

func norm(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}
