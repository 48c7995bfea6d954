package score

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawnOdds are matched pairs of a text, best first: log odds of wrong pairs and of translations, spread as those of
// measured texts, where hard translations are farther below their mode than easy ones are above it.
func drawnOdds(seed uint64, wrong, right int, place float64) (probabilities []float32, translation []bool) {
	rng := rand.New(rand.NewPCG(seed, 3))
	type pair struct {
		odds float64
		true bool
	}
	var pairs []pair
	for range wrong {
		pairs = append(pairs, pair{-4.5 + 1.3*rng.NormFloat64(), false})
	}
	for range right {
		z := 1.6 * rng.NormFloat64()
		if z < 0 {
			z *= 1.5
		}
		pairs = append(pairs, pair{place + z, true})
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		if a.odds > b.odds {
			return -1
		}
		return 1
	})
	for _, p := range pairs {
		probabilities, translation = append(probabilities, float32(Logistic(p.odds))), append(translation, p.true)
	}
	return probabilities, translation
}

// TestAdapt: whatever the share of translations, it is found, and the cut loses little to the best one, also with a
// scorer that is too strict for the text.
func TestAdapt(t *testing.T) {
	for name, c := range map[string]struct {
		wrong, right int
		place        float64
		by           string
	}{
		"news":             {9000, 500, 4.5, ByMixture},
		"strict scorer":    {9000, 900, 1, ByMixture},
		"half":             {600, 600, 3, ByMixture},
		"nearly all":       {20, 2000, 2, ByShift},
		"a small text":     {60, 60, 3, ByMixture},
		"a smaller one":    {60, 30, 3, ByShift},
		"all of few":       {0, 100, 2, ByShift},
		"almost no sample": {10, 10, 3, ByScorer},
	} {
		probabilities, translation := drawnOdds(1, c.wrong, c.right, c.place)
		a := Adapt(probabilities, DefaultPrior, MixedTimes)
		if a.By != c.by {
			t.Errorf("%s: adapted by %s, not %s", name, a.By, c.by)
		}
		if off := math.Abs(a.Pairs-float64(c.right)) / float64(c.right); c.by != ByScorer && off > 0.15 {
			t.Errorf("%s: %.0f translations expected, there are %d", name, a.Pairs, c.right)
		}
		last := float32(2)
		for i, p := range probabilities {
			if probabilities[i] = a.Of(p); probabilities[i] > last || math.IsNaN(float64(probabilities[i])) {
				t.Fatalf("%s: probability %v after %v: the order is not kept", name, probabilities[i], last)
			}
			last = probabilities[i]
		}
		best, at, right, cut := 0.0, 0.0, 0, Cut(probabilities, 1)
		for i, p := range probabilities {
			if translation[i] {
				right++
			}
			f := 2 * float64(right) / float64(i+1+c.right)
			best = max(best, f)
			if float64(p) >= cut {
				at = f
			}
		}
		if c.by != ByScorer && at < best-0.025 {
			t.Errorf("%s: F1 %.3f at the cut, %.3f at best", name, at, best)
		}
	}
}

// TestAdaptUnseen: of a language or a kind of text that the scorer has not seen, translations are found that it takes
// for wrong pairs, if they are apart from these or a mixture may expect so many.
func TestAdaptUnseen(t *testing.T) {
	const right = 900
	for _, c := range []struct {
		place float64
		apart bool
	}{{0, true}, {-1.5, false}} {
		probabilities, _ := drawnOdds(1, 9000, right, c.place)
		few, many := Adapt(probabilities, DefaultPrior, MixedTimes), Adapt(probabilities, DefaultPrior, UnseenTimes)
		near := func(a *Adapted) bool { return a.By == ByMixture && math.Abs(a.Pairs-right) < right*0.2 }
		if near(few) != c.apart || c.apart && !near(many) || many.Pairs < few.Pairs {
			t.Errorf("at %g: %.0f translations are expected by %s, and %.0f by %s; there are %d", c.place, few.Pairs, few.By, many.Pairs, many.By, right)
		}
	}
}

// TestAdaptTwoKindsOfNone: of a text without translations, whose wrong pairs are of two kinds, the nearer one is not
// taken for translations.
func TestAdaptTwoKindsOfNone(t *testing.T) {
	near, _ := drawnOdds(1, 760, 0, 0)
	far, _ := drawnOdds(2, 500, 0, 0)
	for i, p := range far {
		far[i] = float32(Logistic(-10 + Odds(float64(p))/3))
	}
	if a := Adapt(slices.Concat(near, far), DefaultPrior, UnseenTimes); a.Pairs > 100 {
		t.Errorf("%.0f translations are expected by %s", a.Pairs, a.By)
	}
}

// TestAdaptMost: where most pairs are translations, many of them with low odds, none is given less than the shift says.
func TestAdaptMost(t *testing.T) {
	probabilities, _ := drawnOdds(3, 300, 900, 4)
	hard, _ := drawnOdds(4, 0, 600, 0)
	probabilities = append(probabilities, hard...)
	both, shift := Adapt(probabilities, DefaultPrior, MixedTimes), Adapt(probabilities, DefaultPrior, 0)
	raised := 0
	for _, p := range probabilities {
		if both.Of(p) < shift.Of(p) {
			t.Fatalf("%v is given %v, and by the shift %v", p, both.Of(p), shift.Of(p))
		}
		if mixed := both.curve.at(Odds(float64(p))); float32(mixed) < both.Of(p) {
			raised++
		}
	}
	if both.By != ByMixture || raised == 0 {
		t.Errorf("by %s, which the shift raises in %d pairs", both.By, raised)
	}
}

// TestAdaptNone: of texts without a translation at most one pair in 1,000 sentences is kept.
func TestAdaptNone(t *testing.T) {
	for seed := range uint64(5) {
		probabilities, _ := drawnOdds(seed, 10000, 0, 0)
		a := Adapt(probabilities, DefaultPrior, MixedTimes)
		for i, p := range probabilities {
			probabilities[i] = a.Of(p)
		}
		kept, cut := 0, Cut(probabilities, 1)
		for _, p := range probabilities {
			if float64(p) >= cut {
				kept++
			}
		}
		if kept > 10 {
			t.Errorf("%d pairs are kept", kept)
		}
	}
}

func TestCut(t *testing.T) {
	probabilities := []float32{1, 0.9, 0.6, 0.3, 0.3, 0.1}
	for beta, want := range map[float64]float64{1: 0.6, 0.5: 0.9, 2: 0.3} {
		if got := Cut(probabilities, beta); math.Abs(got-want) > 1e-6 {
			t.Errorf("the cut for F%g is %v, want %v", beta, got, want)
		}
	}
	if got := Cut([]float32{0.2, 0.1}, 1); got != 0.5 {
		t.Errorf("nothing is likely, and the cut is %v", got)
	}
	if precision, recall := Expected([]float32{1, 0.5}, 3); precision != 0.75 || recall != 0.5 {
		t.Errorf("precision %v, recall %v", precision, recall)
	}
	if got := MarginFor([]float32{2, 1.5, 1}, []float32{1, 0.9, 0.1}, 0.9); !(got < 1.5 && got > 1) {
		t.Errorf("the margin for a precision of 0.9 is %v", got)
	}
}
