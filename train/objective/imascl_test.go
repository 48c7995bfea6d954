package objective_test

import (
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/objective/objectivetest"
)

// Which side of a pair the bitext calls its source must not matter: the anchor is its language's.
func TestIMASCLDoesNotAskForSources(t *testing.T) {
	all := objectivetest.Read[golden](t)
	backend, err := device.Open("go", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"imascl", "imascl-average-tcm"} {
		c := all.Cases[name]
		o, _, _ := all.objective(t, c)
		b := all.batch()
		b.Views = []data.Side{b.Views[data.TargetView], b.Views[data.SourceView]}
		inputs, err := o.Inputs(t.Context(), b, b.Views)
		if err != nil {
			t.Fatal(err)
		}
		var args []*tensors.Tensor
		for _, side := range []string{"target", "source"} { // the source of this batch is the target of the golden one
			args = append(args, tensors.FromFlatDataAndDimensions(slices.Clone(all.Vectors[side]), all.N, all.Dim))
		}
		for _, term := range grade(t, backend, o, 2, nil, append(args, inputs...)) {
			near(t, name+", "+term.name, []float32{term.value}, []float64{c.Values[term.name]})
			near(t, name+", "+term.name+" by what was the target", term.gradients[0], c.Gradients[term.name]["target"])
		}
	}
}
