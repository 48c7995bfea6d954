package score

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawn are margins of wrong pairs and of translations, in descending order, with which are translations.
func drawn(seed uint64, wrong, right int, center, scale float64) (margins []float32, is map[float32]bool) {
	rng := rand.New(rand.NewPCG(seed, 3))
	is = map[float32]bool{}
	for range wrong {
		margins = append(margins, float32(center-scale*math.Log(-math.Log(rng.Float64()))))
	}
	for range right {
		m := float32(center + 6*scale + 3*scale*rng.NormFloat64())
		margins, is[m] = append(margins, m), true
	}
	slices.SortFunc(margins, func(a, b float32) int {
		if a > b {
			return -1
		}
		return 1
	})
	return margins, is
}

// TestMarginProbabilities: the threshold that the margins give is nearly as good as the best one, at every scale.
func TestMarginProbabilities(t *testing.T) {
	for _, c := range []struct {
		wrong, right  int
		center, scale float64
	}{{9000, 700, 1.02, 0.05}, {3000, 300, 0.999, 0.007}, {2000, 1500, 1, 0.05}, {40000, 900, 0.98, 0.04}, {900, 1100, 0.94, 0.1}, {300, 1700, 0.99, 0.014}, {60, 2000, 0.95, 0.1}} {
		margins, is := drawn(7, c.wrong, c.right, c.center, c.scale)
		probabilities, ok := MarginProbabilities(margins)
		if !ok {
			t.Errorf("%+v: nothing was fitted", c)
			continue
		}
		expected := 0.0
		for _, p := range probabilities {
			expected += float64(p)
		}
		threshold := BestExpected(margins, probabilities, expected, 1)
		best, got, correct := 0.0, 0.0, 0
		for i, m := range margins {
			if is[m] {
				correct++
			}
			f := 2 * float64(correct) / float64(i+1+c.right)
			best = max(best, f)
			if float64(m) > threshold {
				got = f
			}
		}
		if got < best-0.02 || math.Abs(expected-float64(c.right)) > 0.3*float64(c.right) {
			t.Errorf("%+v: F1 %.3f above %.3f, the best is %.3f; %.0f translations are expected", c, got, threshold, best, expected)
		}
		again, _ := MarginProbabilities(margins)
		if !slices.Equal(probabilities, again) {
			t.Error("two fits of the same margins differ")
		}
	}
}

// TestMarginsOfTranslationsAlone: where hardly a pair is wrong, either nothing is fitted or nearly all is kept.
func TestMarginsOfTranslationsAlone(t *testing.T) {
	margins, _ := drawn(5, 15, 2000, 0.95, 0.15)
	if probabilities, ok := MarginProbabilities(margins); ok && probabilities[1900] < 0.5 {
		t.Errorf("the probability of the 1,900th of 2,000 translations is %g", probabilities[1900])
	}
}

func TestMarginProbabilitiesOfNothing(t *testing.T) {
	few, _ := drawn(1, minMargins-100, 99, 1, 0.05)
	for name, margins := range map[string][]float32{"none": nil, "too few": few, "all equal": slices.Repeat([]float32{1}, 2*minMargins)} {
		if _, ok := MarginProbabilities(margins); ok {
			t.Errorf("%s: a distribution was fitted", name)
		}
	}
}
