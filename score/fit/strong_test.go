package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bitextmine/mine"
	"bitextmine/score"
)

// ranking returns n candidates, a tenth of them true, whose first probabilities and strong values tell of that, and
// which of them are true.
func ranking(n int) (*score.Ranked, []bool) {
	rng := rand.New(rand.NewPCG(1, 2))
	r := &score.Ranked{}
	truth := make([]bool, n)
	for i := range n {
		truth[i] = i%10 == 0
		shift := 0.0
		if truth[i] {
			shift = 1
		}
		r.Candidates = append(r.Candidates, mine.Candidate{Source: int32(i), Target: int32(i)})
		r.Probabilities = append(r.Probabilities, float32(score.Logistic(-3+4*shift+1.5*rng.NormFloat64())))
		r.Cosines = append(r.Cosines, float32(0.4+0.3*shift+0.12*rng.NormFloat64()))
		r.Distances = append(r.Distances, float32(0.3*shift+0.1*rng.NormFloat64()))
	}
	return r, truth
}

// wrongOf is how many of the best tenth are not true.
func wrongOf(probabilities []float32, truth []bool) (wrong int) {
	order := score.Numbers(0, len(truth))
	slices.SortFunc(order, func(a, b int32) int {
		if probabilities[a] > probabilities[b] {
			return -1
		}
		return 1
	})
	for _, i := range order[:len(truth)/10] {
		if !truth[i] {
			wrong++
		}
	}
	return wrong
}

// TestStrong: the strong encoder's weights are learnt from the first one's probabilities, and both together make less
// than half of the errors. A strong encoder that knows nothing, or a text without translations, changes nothing.
func TestStrong(t *testing.T) {
	r, truth := ranking(5000)
	adapted := score.Adapt(r.Probabilities, 0.1, score.MixedTimes)
	refined, err := Strong(r, adapted)
	if err != nil || refined == nil {
		t.Fatalf("refined %+v, error %v", refined, err)
	}
	both := make([]float32, len(truth))
	for i, p := range r.Probabilities {
		both[i] = float32(refined.Logit(score.Odds(float64(p)), []float32{r.Cosines[i], r.Distances[i]}))
	}
	if before, after := wrongOf(r.Probabilities, truth), wrongOf(both, truth); 2*after > before {
		t.Errorf("%d errors with both, %d with the first", after, before)
	}
	for name, spoil := range map[string]func(*score.Ranked){
		"no translations": func(r *score.Ranked) {
			for i := range r.Probabilities {
				r.Probabilities[i] = 1e-6
			}
		},
		"nothing seen": func(r *score.Ranked) {
			for i := range r.Cosines {
				r.Cosines[i] = mine.NotRefined
			}
		},
		"the opposite": func(r *score.Ranked) {
			for i := range r.Distances {
				r.Distances[i] *= -1
			}
		},
	} {
		r, _ := ranking(5000)
		spoil(r)
		if refined, err := Strong(r, score.Adapt(r.Probabilities, 0.1, score.MixedTimes)); err != nil || refined != nil {
			t.Errorf("%s: refined %+v, error %v", name, refined, err)
		}
	}
}

// TestJudgedPairs: a judge that agrees with the scorer's probabilities gets a weight, one that knows nothing nearly
// none, and none expects more translations than the scorer.
func TestJudgedPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, c := range map[string]struct{ knows, least, most float64 }{
		"agrees": {2, 0.3, 2}, "knows nothing": {0, 0, 0.1}, "contradicts": {-2, 0, 0},
	} {
		var logits, p []float64
		expected := 0.0
		for range 2000 {
			x := rng.NormFloat64()
			p = append(p, score.Logistic(2*x-1))
			logits = append(logits, 4+c.knows*x+2*rng.NormFloat64()) // far too sure
			expected += p[len(p)-1]
		}
		merge, ok, err := Judged(logits, p)
		if err != nil || !ok || merge.Scorer != 1 || !(merge.Judge >= c.least && merge.Judge <= c.most) {
			t.Errorf("%s: %+v, %v, error %v", name, merge, ok, err)
		}
		after := 0.0
		for i, z := range logits {
			after += score.Logistic(merge.Odds(score.Odds(p[i]), z))
		}
		if math.Abs(after-expected) > 60 {
			t.Errorf("%s: %v translations are expected, %v before", name, after, expected)
		}
	}
	if _, ok, err := Judged(make([]float64, minJudged-1), make([]float64, minJudged-1)); ok || err != nil {
		t.Errorf("of few pairs: %v, error %v", ok, err)
	}
}
