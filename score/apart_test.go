package score

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bitextmine/mine"
)

// marginal is the pair of sentences i whose ratio margin is given. Its score is another margin.
func marginal(i int, ratio float64, score mine.Margin) mine.Candidate {
	c := mine.Candidate{Source: int32(i), Target: int32(i), Cosine: float32(ratio) / 2, SourceMean: 0.5, TargetMean: 0.5}
	c.Score = score.Of(c.Cosine, c.SourceMean, c.TargetMean)
	return c
}

// TestAdaptApart: where margins keep translations apart, as many are expected as these say, but not where margins
// overlap, where the scorer expects more, and where many are near misses. It is told by
// ratios, whatever margin is the score.
func TestAdaptApart(t *testing.T) {
	const wrong, right = 400, 1600
	for name, c := range map[string]struct {
		margin float64 // mean margin of translations; of wrong pairs it is 0.99
		place  float64 // log odds of translations
		many   bool
		raised bool
		score  mine.Margin
	}{
		"a strict scorer":            {1.3, -2, false, true, mine.Ratio},
		"margins that overlap":       {1.04, -2, false, false, mine.Ratio},
		"a scorer that expects more": {1.3, 12, false, false, mine.Ratio},
		"a blind scorer":             {1.08, -9, false, true, mine.Ratio},
		"all translated":             {1.5, -9, false, true, mine.Ratio},
		"all translated, distances":  {1.5, -9, false, true, mine.Distance},
		"all translated, cosines":    {1.5, -9, false, true, mine.Absolute},
		"near misses":                {1.3, -2, true, false, mine.Ratio},
	} {
		wrong := wrong
		if strings.HasPrefix(name, "all translated") {
			wrong = 0
		}
		probabilities, _ := drawnOdds(1, wrong, right, c.place)
		rng := rand.New(rand.NewPCG(7, 3))
		r := &Ranked{Probabilities: probabilities, scorer: &Scorer{}, right: 1, many: c.many, numberless: true}
		for i := range probabilities {
			margin := c.margin + 0.05*rng.NormFloat64()
			if wrong == 0 && i%3 == 0 {
				margin += 0.4 // easy ones, beside which others are not taken for wrong pairs
			}
			if i >= right {
				margin = 0.98 - 0.01*math.Log(-math.Log(rng.Float64()))
			}
			r.Candidates = append(r.Candidates, marginal(i, margin, c.score))
		}
		verdicts := r.Match(len(probabilities), len(probabilities))
		without := Adapt(probabilities, DefaultPrior, MixedTimes)
		a, err := r.Adapt(verdicts, DefaultPrior, true)
		if err != nil {
			t.Fatal(err)
		}
		if !c.raised {
			if a.By == ByMargins || a.raised != 0 {
				t.Errorf("%s: %.0f translations are expected by %s", name, a.Pairs, a.By)
			}
			continue
		}
		if without.Pairs > 0.8*right || math.Abs(a.Pairs-right) > 0.1*right || a.By != ByMargins {
			t.Errorf("%s: %.0f translations are expected by %s, %.0f without the margins; there are %d", name, a.Pairs, a.By, without.Pairs, right)
		}
		adapted := make([]float32, len(probabilities))
		for i, p := range probabilities {
			if adapted[i] = a.Of(p); adapted[i] < without.Of(p) {
				t.Fatalf("%s: %v is given %v, and %v without the margins", name, p, adapted[i], without.Of(p))
			}
		}
		if slices.Reverse(adapted); !slices.IsSorted(adapted) {
			t.Errorf("%s: the order is not kept", name)
		}
	}
}

// TestByMargin: the order of a stable sort of the matched pairs, of ratios that are equal, 0, -0 and below, whatever
// margins the scores are.
func TestByMargin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	r := &Ranked{}
	var verdicts []mine.Verdict
	var want []int
	for i := range 5000 {
		margin := [...]float64{0, math.Copysign(0, -1), -0.5, 1, 2 * rng.NormFloat64()}[rng.IntN(5)]
		r.Candidates = append(r.Candidates, marginal(i, margin, [...]mine.Margin{mine.Ratio, mine.Distance}[rng.IntN(2)]))
		verdicts = append(verdicts, [...]mine.Verdict{mine.Kept, mine.Taken}[rng.IntN(2)])
		if verdicts[i] == mine.Kept {
			want = append(want, i)
		}
	}
	slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(r.Candidates[b].Cosine, r.Candidates[a].Cosine) })
	places, margins := r.byMargin(verdicts)
	if !slices.Equal(places, want) {
		t.Error("not in the order of a stable sort")
	}
	for i, at := range places {
		if margins[i] != 2*r.Candidates[at].Cosine {
			t.Fatalf("margin %d is %v, that of its pair %v", i, margins[i], 2*r.Candidates[at].Cosine)
		}
	}
}
