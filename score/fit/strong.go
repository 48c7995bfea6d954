package fit

import (
	"math"

	"bitextmine/encode/model"
	"bitextmine/score"
)

const (
	// firstWeight is the weight of the first encoder's log odds beside the strong encoder's. Both see the same pairs,
	// so they are not independent. Of seven languages any six choose 0.5 or 0.7 for the other one
	// (bench/results/two-stage-2026-11-23.md).
	firstWeight = 0.5
	// minStrong is how many translations, and how many other pairs, must be expected among the candidates for the
	// strong encoder's weights to be fitted.
	minStrong = 20
	// maxStrong is about how many candidates are looked at: more change little.
	maxStrong = 100_000
)

// Strong fits what a strong encoder adds to a scorer on a text's own candidates, which the scorer has ranked. How much
// its cosine and its margin tell is learnt from the scorer's adapted probabilities: these are right often enough, and
// no known pairs are needed. prior is the share of translations that the scorer expects, and that the result expects,
// too. It is nil where the probabilities do not tell of both kinds of pairs, or the strong encoder nothing of them.
func Strong(r *score.Ranked, adapted *score.Adapted, prior float64) (*score.Refined, error) {
	var values [][]float32
	var y, counts []float64
	expected := 0.0
	every := len(r.Candidates)/maxStrong + 1
	for i, p := range r.Probabilities {
		if i%every == 0 && r.Seen(i) && r.Distances != nil {
			values = append(values, []float32{r.Cosines[i], r.Distances[i]})
			y, counts = append(y, float64(adapted.Of(p))), append(counts, 1)
			expected += y[len(y)-1]
		}
	}
	n := float64(len(y))
	if expected < minStrong || n-expected < minStrong {
		return nil, nil
	}
	terms := standardise(score.RefinedFeatures[1:], score.Numbers(0, len(y)), func(i int32) []float32 { return values[i] })
	x := make([]float64, 0, len(y)*(len(terms)+1))
	for _, v := range values {
		x = appendStandard(x, terms, v)
	}
	weights, err := regress(x, y, counts)
	if err != nil {
		return nil, err
	}
	for t := range terms {
		terms[t].Weight = weights[t]
	}
	if !(weights[1] > 0) { // of the margin, which is what a strong encoder is asked for
		return nil, nil
	}
	first := score.RefinedFeatures[0]
	shift := score.Odds(prior) // of the log odds of both, so that each tells of pairs whatever their share
	return &score.Refined{
		Intercept: weights[len(terms)] - math.Log(expected/(n-expected)) + shift,
		Terms: append([]score.Term{{Feature: first.Name, Version: first.Version, Mean: shift, Deviation: 1, Weight: firstWeight}},
			terms...),
	}, nil
}

// minJudged is how many pairs a judge must have seen for its weight to be learnt on them.
const minJudged = 100

// Judged returns how a judge's logits are merged with a scorer's log odds in a text. The judge's weight is learnt from
// the pairs that it saw, whose adapted probabilities by the scorer are given: a judge that does not agree with them in
// this text gets little weight, and one that contradicts them none. The intercept is such that the judge on the whole
// expects as many translations as the scorer. ok is false where there are too few pairs to learn from.
func Judged(logits, probabilities []float64) (_ model.Merge, ok bool, err error) {
	n, expected := float64(len(logits)), 0.0
	for _, p := range probabilities {
		expected += p
	}
	if len(logits) < minJudged || expected < minStrong || n-expected < minStrong {
		return model.Merge{}, false, nil
	}
	x, counts := make([]float64, 0, 2*len(logits)), make([]float64, len(logits))
	for i, z := range logits {
		x, counts[i] = append(x, z, 1), 1
	}
	w, err := regress(x, probabilities, counts)
	switch {
	case err != nil:
		return model.Merge{}, false, err
	case w[0] <= 0:
		return model.Merge{Scorer: 1}, true, nil
	}
	return model.Merge{Scorer: 1, Judge: w[0], Intercept: w[1] - math.Log(expected/(n-expected))}, true, nil
}
