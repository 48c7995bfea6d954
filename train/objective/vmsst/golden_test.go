package vmsst

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
	N          int                  `json:"n"`
	Length     int                  `json:"length"`
	Width      int                  `json:"width"`
	Dim        int                  `json:"dim"`
	Vocabulary int                  `json:"vocabulary"`
	Languages  int                  `json:"languages"`
	Step       int                  `json:"step"`
	IDs        [][][]int32          `json:"ids"`
	Tongues    [][]uint16           `json:"tongues"`
	Pick       []float32            `json:"pick"`
	Noise      map[string][]float32 `json:"noise"`
	Encoders   []int                `json:"encoders"` // of each language
	Tensors    map[string]tensor    `json:"tensors"`
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
func (all golden) build(t *testing.T, settings string) *vmsst {
	t.Helper()
	var section objective.Section
	if err := yaml.Unmarshal([]byte(settings), &section); err != nil { // JSON is YAML
		t.Fatal(err)
	}
	o, err := section.Build(objective.Training{Dim: all.Dim, Width: all.Width, Vocabulary: all.Vocabulary, Longest: all.Length + 1,
		Languages: []string{"de", "en", "fr"}, Special: []int32{1, 2}, Table: "table"})
	if err != nil {
		t.Fatal(err)
	}
	return o.(*vmsst)
}

// batch is the golden batch.
func (all golden) batch() *data.Batch {
	b := &data.Batch{Step: 0}
	for side, sentences := range all.IDs {
		s := data.Side{N: all.N, Length: all.Length, IDs: make([]int32, all.N*all.Length), Languages: all.Tongues[side]}
		for i, ids := range sentences {
			s.Lengths = append(s.Lengths, int32(copy(s.IDs[i*all.Length:], ids)))
		}
		b.Views = append(b.Views, s)
	}
	return b
}

// run computes a case's terms, then the weighted total, and its gradients by every tensor. tensors may replace golden
// ones.
func (all golden) run(t *testing.T, backend compute.Backend, v *vmsst, replaced map[string][]float32) (terms []float32, gradients map[string][]float32) {
	t.Helper()
	names := []string{"source", "target", "tokens0", "tokens1", "table"}
	for _, spec := range v.Heads() {
		names = append(names, spec.Name)
	}
	var args []*tensors.Tensor
	for _, name := range names {
		of := all.Tensors[name]
		if name == decoderWords && v.Factored {
			of = all.Tensors["factored words"]
		}
		if values, ok := replaced[name]; ok {
			of.Data = values
		}
		args = append(args, tensors.FromFlatDataAndDimensions(slices.Clone(of.Data), of.Shape...))
	}
	for _, spec := range v.Heads() {
		if at := slices.Index(names, spec.Name); !slices.Equal(args[at].Shape().Dimensions, spec.Shape) {
			t.Fatalf("%s has the shape %v, want %v", spec.Name, spec.Shape, args[at].Shape())
		}
	}
	b := all.batch()
	for _, view := range b.Views {
		args = append(args, tensors.FromFlatDataAndDimensions(view.Lengths, all.N))
	}
	inputs, err := v.inputs(b.Views, draws{all.Pick, all.Noise["semantic"], all.Noise["language"]})
	if err != nil {
		t.Fatal(err)
	}
	exec, err := g.NewExec(backend, func(nodes []*g.Node) []*g.Node {
		rest := nodes[len(names):]
		s := objective.Step{Heads: map[string]*g.Node{}, Inputs: rest[2:]}
		for side := range 2 {
			s.Views = append(s.Views, encoder.Encoded{Vectors: nodes[side], Tokens: nodes[2+side], Mask: layers.Present(rest[side], all.Length)})
		}
		for i, name := range names[4:] {
			s.Heads[name] = nodes[4+i]
		}
		out := v.Loss(s)
		total := g.ScalarZero(nodes[0].Graph(), nodes[0].DType())
		for i, term := range v.Terms() {
			total = g.Add(total, g.MulScalar(out[i], term.Weight.At(all.Step)))
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

// TestGolden compares every term of VMSST, of the rows of its Table 4 and of its baselines, the weights, and the
// gradients of the weighted total, with float64 numpy's.
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
				v := all.build(t, string(want.Settings))
				if v.LanguageEncoders > 1 && !slices.Equal(languages{v.base}.encoderOf(), all.Encoders) {
					t.Fatalf("the languages' encoders are %v, want %v: take another seed", languages{v.base}.encoderOf(), all.Encoders)
				}
				terms, gradients := all.run(t, backend, v, nil)
				if len(v.Terms()) != len(want.Values) || len(gradients) != len(want.Gradients) {
					t.Errorf("%d terms and %d gradients, want %d and %d", len(v.Terms()), len(gradients), len(want.Values), len(want.Gradients))
				}
				for i, term := range v.Terms() {
					traintest.Reference(t, term.Name, terms[i:i+1], []float64{want.Values[term.Name]})
					if weight := term.Weight.At(all.Step); math.Abs(weight-want.Weights[term.Name]) > 1e-12 {
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
