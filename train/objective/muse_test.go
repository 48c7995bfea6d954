package objective_test

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/device"
	"bitextmine/train/objective"
)

// TestMUSEHidesFalseNegatives: of as many hard negatives as pairs each may be a translation, the i-th of pair i, too.
func TestMUSEHidesFalseNegatives(t *testing.T) {
	limit(t)
	backend, err := device.Open("go", "")
	if err != nil {
		t.Fatal(err)
	}
	o, err := with(t, objective.Default("muse"), map[string]any{"temperature": 1, "negatives": 2, "false_negatives": 0.9}).
		Build(objective.Training{Dim: 2, Width: 2, Vocabulary: 8, Languages: []string{"en"}})
	if err != nil {
		t.Fatal(err)
	}
	args := []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions([]float32{1, 0, 0, 1}, 2, 2),                       // sources
		tensors.FromFlatDataAndDimensions([]float32{0.8, 0.6, -0.6, 0.8}, 2, 2),              // targets
		tensors.FromFlatDataAndDimensions([]float32{0.8, 0.6, 0, -1, 1, 0, -0.6, 0.8}, 4, 2), // one is its pair's target
	}
	ratio := func(own float64, others ...float64) float64 {
		sum := math.Exp(own)
		for _, x := range others {
			sum += math.Exp(x)
		}
		return math.Log(sum) - own
	}
	want := map[string]float64{
		"forward":  (ratio(0.8, -0.6, 0) + ratio(0.8, 0.6, 0)) / 2, // the other target and the other negative
		"backward": (ratio(0.8, 0.6) + ratio(0.8, -0.6)) / 2,
	}
	for _, term := range grade(t, backend, o, 3, nil, args) {
		near(t, term.name, []float32{term.value}, []float64{want[term.name]})
	}
}
