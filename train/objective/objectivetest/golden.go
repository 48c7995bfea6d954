// Package objectivetest compares training objectives with the values that a package's testdata/golden.py computed in
// float64.
package objectivetest

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

	"bitextmine/train/device"
	"bitextmine/train/objective"
	"bitextmine/train/traintest"
)

// Golden is the common part of the golden files: the sizes of a batch, the input tensors of a loss, and the cases, each
// with other settings. Packages embed it in the type of their own file.
type Golden struct {
	N          int               `json:"n"`
	Length     int               `json:"length"`
	Width      int               `json:"width"`
	Vocabulary int               `json:"vocabulary"`
	Tensors    map[string]Tensor `json:"tensors"`
	Cases      map[string]Case   `json:"cases"`
}

// Case is an objective's settings with its terms, their weights, the weighted total, and the total's gradients by the
// tensors.
type Case struct {
	Settings  json.RawMessage      `json:"settings"`
	Values    map[string]float64   `json:"values"`
	Weights   map[string]float64   `json:"weights"`
	Total     float64              `json:"total"`
	Gradients map[string][]float64 `json:"gradients"`
}

// Tensor is a shape and as many numbers.
type Tensor struct {
	Shape []int     `json:"shape"`
	Data  []float32 `json:"data"`
}

// Value is a copy.
func (x Tensor) Value() *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions(slices.Clone(x.Data), x.Shape...)
}

// Read reads testdata/golden.json.
func Read[G any](t testing.TB) (golden G) {
	t.Helper()
	raw, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	return golden
}

// Parse reads settings as keys and values, as they stand between the braces of a preset.
func Parse(t testing.TB, settings string) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := yaml.Unmarshal([]byte("{"+settings+"}"), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Build makes the objective of settings, as they stand in a preset or a case.
func Build(t testing.TB, settings string, of objective.Training) objective.Objective {
	t.Helper()
	var section objective.Section
	if err := yaml.Unmarshal([]byte(settings), &section); err != nil { // JSON is YAML
		t.Fatal(err)
	}
	o, err := section.Build(of)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Heads returns the names of an objective's heads, which have the golden tensors' shapes.
func (all Golden) Heads(t testing.TB, o objective.Objective) (names []string) {
	t.Helper()
	for _, spec := range o.Heads() {
		names = append(names, spec.Name)
		if of := all.Tensors[spec.Name]; !slices.Equal(of.Shape, spec.Shape) {
			t.Fatalf("%s has the shape %v, want %v", spec.Name, spec.Shape, of.Shape)
		}
	}
	return names
}

// Values are the golden tensors of these names.
func (all Golden) Values(names []string) (values []*tensors.Tensor) {
	for _, name := range names {
		values = append(values, all.Tensors[name].Value())
	}
	return values
}

// Evaluate computes the terms of a loss, then their total with the weights of a step, and the total's gradients by the
// first arguments, which have the names. sort assigns the nodes of the arguments.
func Evaluate(t testing.TB, backend compute.Backend, o objective.Objective, step int, names []string, args []*tensors.Tensor,
	sort func(nodes []*g.Node) objective.Step) (terms []float32, gradients map[string][]float32) {
	t.Helper()
	exec, err := g.NewExec(backend, func(nodes []*g.Node) []*g.Node {
		out := o.Loss(sort(nodes))
		total := g.ScalarZero(nodes[0].Graph(), nodes[0].DType())
		for i, term := range o.Terms() {
			total = g.Add(total, g.MulScalar(out[i], term.Weight.At(step)))
		}
		return append(append(out, total), g.Gradient(total, nodes[:len(names)]...)...)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	flat, err := device.Call(exec, args)
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

// Compare compares, on each device, what evaluate returns for each case with the golden terms, weights of a step,
// total and gradients.
func (all Golden) Compare(t *testing.T, step int,
	evaluate func(t *testing.T, backend compute.Backend, settings string) (o objective.Objective, terms []float32,
		gradients map[string][]float32)) {
	for _, name := range []string{"go", "cpu"} {
		backend, err := device.Open(name, "")
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Finalize()
		for _, variant := range slices.Sorted(maps.Keys(all.Cases)) {
			t.Run(name+"/"+variant, func(t *testing.T) {
				want := all.Cases[variant]
				o, terms, gradients := evaluate(t, backend, string(want.Settings))
				if len(o.Terms()) != len(want.Values) || len(gradients) != len(want.Gradients) {
					t.Errorf("%d terms and %d gradients, want %d and %d", len(o.Terms()), len(gradients),
						len(want.Values), len(want.Gradients))
				}
				for i, term := range o.Terms() {
					traintest.Reference(t, term.Name, terms[i:i+1], []float64{want.Values[term.Name]})
					if weight := term.Weight.At(step); math.Abs(weight-want.Weights[term.Name]) > 1e-12 {
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
