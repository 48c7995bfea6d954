package score

import (
	"math"
	"slices"

	"bitextmine/mine"
	"bitextmine/score/feature"
)

// Ranked are candidates with their probabilities, best first.
type Ranked struct {
	Candidates    []mine.Candidate
	Probabilities []float32
	Values        feature.Values
}

// Rank scores candidates and sorts them by probability, then margin, then source and target row, which is key order.
func (s *Scorer) Rank(candidates []mine.Candidate, values feature.Values) Ranked {
	probabilities := make([]float32, len(candidates))
	// Non-negative floats are ordered like their bits; the complement puts the best first.
	keys := make([]uint64, len(candidates))
	for i := range candidates {
		probabilities[i] = s.Probability(values.Of(i))
		keys[i] = uint64(^math.Float32bits(probabilities[i]))<<32 | uint64(i)
	}
	slices.Sort(keys)
	order := make([]int32, len(keys))
	for i, key := range keys {
		order[i] = int32(uint32(key))
	}
	for lo := 0; lo < len(keys); {
		hi := lo + 1
		for hi < len(keys) && keys[hi]>>32 == keys[lo]>>32 {
			hi++
		}
		if hi > lo+1 {
			slices.SortFunc(order[lo:hi], func(a, b int32) int { return candidates[a].Compare(candidates[b]) })
		}
		lo = hi
	}
	r := Ranked{make([]mine.Candidate, len(order)), make([]float32, len(order)), make(feature.Values, 0, len(values))}
	for to, from := range order {
		r.Candidates[to], r.Probabilities[to] = candidates[from], probabilities[from]
		r.Values = append(r.Values, values.Of(int(from))...)
	}
	return r
}

// Match returns each candidate's verdict regardless of its probability: best first, each sentence at most once.
func (r Ranked) Match(sources, targets int) []mine.Verdict {
	return mine.Judge(r.Candidates, sources, targets, mine.Max, math.Inf(-1))
}

// Cut changes Kept to BelowThreshold for candidates with a probability below the threshold. It returns the number that
// stay.
func (r Ranked) Cut(verdicts []mine.Verdict, threshold float64) (kept int) {
	for i, v := range verdicts {
		switch {
		case v != mine.Kept:
		case float64(r.Probabilities[i]) < threshold:
			verdicts[i] = mine.BelowThreshold
		default:
			kept++
		}
	}
	return kept
}

// Matched returns the probabilities of the candidates with the verdict Kept.
func (r Ranked) Matched(verdicts []mine.Verdict) []float32 {
	var kept []float32
	for i, v := range verdicts {
		if v == mine.Kept {
			kept = append(kept, r.Probabilities[i])
		}
	}
	return kept
}
