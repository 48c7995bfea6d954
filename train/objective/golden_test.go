package objective_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/tensors"
	"gopkg.in/yaml.v3"

	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/objective"
	"bitextmine/train/objective/objectivetest"
)

// golden is testdata/golden.json, written by golden.py.
type golden struct {
	N          int                   `json:"n"`
	Dim        int                   `json:"dim"`
	Vocabulary int                   `json:"vocabulary"`
	Languages  []string              `json:"languages"`
	Special    []int32               `json:"special"`
	Mask       int32                 `json:"mask"`
	Sides      map[string]goldenSide `json:"sides"`
	Hidden     map[string][]int32    `json:"hidden"`
	Vectors    map[string][]float32  `json:"vectors"`
	Teacher    map[string][]float32  `json:"teacher"`
	Cases      map[string]goldenCase `json:"cases"`
}

type goldenSide struct {
	IDs       [][]int32 `json:"ids"`
	Lengths   []int32   `json:"lengths"`
	Languages []uint16  `json:"languages"`
}

type goldenCase struct {
	Settings  json.RawMessage                 `json:"settings"`
	Heads     map[string]objectivetest.Tensor `json:"heads"`
	Values    map[string]float64              `json:"values"`
	Weights   map[string]float64              `json:"weights"`
	Total     float64                         `json:"total"` // sum of values times weights
	Gradients map[string]map[string][]float64 `json:"gradients"`
}

// side is one side of the golden batch; its texts are its name and their numbers.
func (all golden) side(name string) data.Side {
	from := all.Sides[name]
	s := data.Side{N: all.N, Length: len(from.IDs[0]), Lengths: from.Lengths, Languages: from.Languages}
	for i, ids := range from.IDs {
		s.IDs = append(s.IDs, ids...)
		s.Texts = append(s.Texts, fmt.Sprint(name, i))
	}
	return s
}

func (all golden) batch() *data.Batch {
	return &data.Batch{Views: []data.Side{all.side("source"), all.side("target"), {N: len(all.Vectors["negatives"]) / all.Dim}}}
}

// masked are both sides with the words masked that golden.py masks.
func (all golden) masked() []data.Side {
	var views []data.Side
	for _, name := range []string{"source", "target"} {
		side := all.side(name)
		for i, place := range all.Hidden[name] {
			if place >= 0 {
				side.Sentence(i)[place] = all.Mask
			}
		}
		views = append(views, side)
	}
	return views
}

// training is what the golden batch's training tells its objective.
func (all golden) training() objective.Training {
	return objective.Training{Dim: all.Dim, Width: all.Dim, Vocabulary: all.Vocabulary, Languages: all.Languages, Special: append([]int32{all.Mask}, all.Special...),
		Mask: all.Mask, Table: "table", Teacher: goldenTeacher{all}}
}

// Encode is the golden teacher, which knows the texts of side.
func (all golden) Encode(_ context.Context, languages, texts []string) ([]float32, error) {
	var out []float32
	for i, text := range texts {
		name, row := text[:len(text)-1], int(text[len(text)-1]-'0')
		if want := all.Languages[all.Sides[name].Languages[row]]; languages[i] != want {
			return nil, fmt.Errorf("%s is said to be in %s, not %s", text, languages[i], want)
		}
		out = append(out, all.Teacher[name][row*all.Dim:(row+1)*all.Dim]...)
	}
	return out, nil
}

type goldenTeacher struct{ golden }

func (t goldenTeacher) Dim() int { return t.golden.Dim }

// objective makes a case's objective, and the views and the inputs of the batch.
func (all golden) objective(t *testing.T, c goldenCase) (objective.Objective, []data.Side, []*tensors.Tensor) {
	t.Helper()
	var section objective.Section
	if err := yaml.Unmarshal(c.Settings, &section); err != nil { // JSON is YAML
		t.Fatal(err)
	}
	o, err := section.Build(all.training())
	if err != nil {
		t.Fatal(err)
	}
	b := all.batch()
	if n := section.Needs().Negatives; n == 0 {
		b.Views = b.Views[:2]
	}
	views, err := o.Views(b)
	if err != nil {
		t.Fatal(err)
	}
	if section.Needs().Mask {
		views = all.masked()
	}
	inputs, err := o.Inputs(t.Context(), b, views)
	if err != nil {
		t.Fatal(err)
	}
	return o, views, inputs
}

// TestGolden compares every term of every variant, and its gradients, with float64 numpy's.
func TestGolden(t *testing.T) {
	all := objectivetest.Read[golden](t)
	for _, name := range []string{"go", "cpu"} {
		backend, err := device.Open(name, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, variant := range slices.Sorted(maps.Keys(all.Cases)) {
			t.Run(name+"/"+variant, func(t *testing.T) {
				limit(t)
				all.check(t, backend, all.Cases[variant])
			})
		}
	}
}

func (all golden) check(t *testing.T, backend compute.Backend, c goldenCase) {
	o, views, inputs := all.objective(t, c)
	heads := all.specs(t, o, c)
	slots := []string{"source", "target", "negatives"}[:len(views)]
	var args []*tensors.Tensor
	for _, slot := range slots {
		args = append(args, tensors.FromFlatDataAndDimensions(all.Vectors[slot], len(all.Vectors[slot])/all.Dim, all.Dim))
	}
	for _, name := range heads {
		args = append(args, c.Heads[name].Value())
	}
	learned := slices.Concat(slots, heads)
	got := grade(t, backend, o, len(views), heads, append(args, inputs...))
	if len(got) != len(c.Values) {
		t.Errorf("%d terms, want %d", len(got), len(c.Values))
	}
	for _, term := range got {
		want, ok := c.Values[term.name]
		if !ok {
			t.Fatalf("the term %s is not among the golden ones", term.name)
		}
		near(t, term.name, []float32{term.value}, []float64{want})
		for i, name := range learned {
			near(t, term.name+" by "+name, term.gradients[i], c.Gradients[term.name][name])
		}
	}
	c.checkWeights(t, o, got)
}

// checkWeights compares the terms' weights at the first step and at a late one, and the weighted total.
func (c goldenCase) checkWeights(t *testing.T, o objective.Objective, got []graded) {
	t.Helper()
	for _, step := range []int{0, 1_000_000} {
		total := 0.0
		for i, term := range o.Terms() {
			weight := term.Weight.At(step)
			if weight != c.Weights[term.Name] {
				t.Errorf("step %d: the weight of %s is %v, want %v", step, term.Name, weight, c.Weights[term.Name])
			}
			total += weight * float64(got[i].value)
		}
		near(t, "the weighted total", []float32{float32(total)}, []float64{c.Total})
	}
}

// specs compares the heads that the objective asks for with the golden ones, and gives their names, the encoder's table
// with them.
func (all golden) specs(t *testing.T, o objective.Objective, c goldenCase) []string {
	t.Helper()
	var names []string
	for _, spec := range o.Heads() {
		if !slices.Equal(spec.Shape, c.Heads[spec.Name].Shape) {
			t.Errorf("%s is %v, want %v", spec.Name, spec.Shape, c.Heads[spec.Name].Shape)
		}
		names = append(names, spec.Name)
	}
	if _, ok := c.Heads["table"]; ok {
		names = append(names, "table")
	}
	if len(names) != len(c.Heads) {
		t.Errorf("heads %v, want %d of them", names, len(c.Heads))
	}
	return names
}
