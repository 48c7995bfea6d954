package vmsst

import (
	"slices"
	"testing"

	"github.com/gomlx/compute"
	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/encode/encodetest"
	"bitextmine/train/data"
	"bitextmine/train/encoder"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/objective/objectivetest"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

// golden is testdata/golden.json, written by golden.py.
type golden struct {
	objectivetest.Golden
	Dim       int                  `json:"dim"`
	Languages int                  `json:"languages"`
	Step      int                  `json:"step"`
	IDs       [][][]int32          `json:"ids"`
	Tongues   [][]uint16           `json:"tongues"`
	Pick      []float32            `json:"pick"`
	Noise     map[string][]float32 `json:"noise"`
	Encoders  []int                `json:"encoders"` // encoder of each language
}

// build makes the objective of a case, or of a preset's text.
func (all golden) build(t *testing.T, settings string) *vmsst {
	t.Helper()
	return objectivetest.Build(t, settings, objective.Training{Dim: all.Dim, Width: all.Width, Vocabulary: all.Vocabulary,
		Longest: all.Length + 1, Languages: []string{"de", "en", "fr"}, Special: []int32{1, 2}, Table: "table"}).(*vmsst)
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
		args = append(args, of.Value())
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
	return objectivetest.Evaluate(t, backend, v, all.Step, names, append(args, inputs...), func(nodes []*g.Node) objective.Step {
		rest := nodes[len(names):]
		s := objective.Step{Heads: map[string]*g.Node{}, Inputs: rest[2:]}
		for side := range 2 {
			s.Views = append(s.Views, encoder.Encoded{Vectors: nodes[side], Tokens: nodes[2+side], Mask: layers.Present(rest[side], all.Length)})
		}
		for i, name := range names[4:] {
			s.Heads[name] = nodes[4+i]
		}
		return s
	})
}

// TestGolden compares every term of VMSST, of the rows of its Table 4 and of its baselines, the weights, and the
// gradients of the weighted total, with float64 numpy's.
func TestGolden(t *testing.T) {
	all := objectivetest.Read[golden](t)
	all.Compare(t, all.Step, func(t *testing.T, backend compute.Backend, settings string) (objective.Objective, []float32, map[string][]float32) {
		v := all.build(t, settings)
		if v.LanguageEncoders > 1 && !slices.Equal(languages{v.base}.encoderOf(), all.Encoders) {
			t.Fatalf("the languages' encoders are %v, want %v: take another seed", languages{v.base}.encoderOf(), all.Encoders)
		}
		terms, gradients := all.run(t, backend, v, nil)
		return v, terms, gradients
	})
}
