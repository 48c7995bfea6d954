package statistic

import (
	"math"
	"testing"
)

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name        string
		differences []float64
		lower       bool
		claimed     float64
		want        Outcome
	}{
		{"far above", []float64{10, 11, 12}, false, 5, Held},
		{"far below", []float64{-10, -11, -12}, false, 5, Contrary},
		{"an error rate far below", []float64{-10, -11, -12}, true, 5, Held},
		{"within an error below the claim", []float64{0.1, -0.1, 0.2}, false, 1, Unclear}, // an error of 0.38
		{"within an error above the claim", []float64{0.1, -0.1, 0.2}, false, 0.3, Untested},
		{"two standard errors are not enough of three seeds", []float64{1, 2, 3}, false, 1, Untested}, // 2 against 2.48
		{"one seed", []float64{10}, false, 5, Untested},
		{"no seed", nil, false, 5, Untested},
	} {
		if _, _, got := Decide(c.differences, c.lower, c.claimed); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	mean, within, _ := Decide([]float64{10, 11, 12}, false, 1)
	if mean != 11 || math.Abs(within-4.303/math.Sqrt(3)) > 1e-12 {
		t.Errorf("a difference of %v with an error of %v", mean, within)
	}
	if _, within, _ := Decide(make([]float64, 40), false, 1); within != 0 {
		t.Errorf("40 equal seeds have an error of %v", within)
	}
}
