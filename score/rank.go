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
	// Strong are the strong cosines of two-stage mining, mine.NotRefined where there is none; nil: one encoder.
	Strong []float32
}

// Of returns a candidate's values: those of its features, and its strong cosine if it has one.
func (r *Ranked) Of(i int) []float32 { return withStrong(r.Values.Of(i), r.Strong, i) }

func withStrong(values, strong []float32, i int) []float32 {
	if strong == nil || strong[i] == mine.NotRefined {
		return values
	}
	return append(values, strong[i])
}

// Rank scores candidates and sorts them by probability, then margin, then source and target row, which is key order.
// strong are their strong cosines; nil: one encoder. The slices are sorted in place.
func (s *Scorer) Rank(candidates []mine.Candidate, values feature.Values, strong []float32) Ranked {
	probabilities := make([]float32, len(candidates))
	// Non-negative floats are ordered like their bits; the complement puts the best first.
	keys := make([]uint64, len(candidates))
	for i := range candidates {
		probabilities[i] = s.Probability(withStrong(values.Of(i), strong, i))
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
	r := Ranked{Candidates: candidates, Probabilities: probabilities, Values: values, Strong: strong}
	r.reorder(order)
	return r
}

// reorder moves candidate order[i] to place i, for every i, and uses up the order. It follows each cycle, so that
// nothing is in memory twice.
func (r *Ranked) reorder(order []int32) {
	const moved = -1
	for start := range order {
		if order[start] == moved {
			continue
		}
		candidate, probability, values, strong := r.Candidates[start], r.Probabilities[start], slices.Clone(r.Values.Of(start)), float32(0)
		if r.Strong != nil {
			strong = r.Strong[start]
		}
		to := start
		for {
			from := int(order[to])
			order[to] = moved
			if from == start {
				break
			}
			r.Candidates[to], r.Probabilities[to] = r.Candidates[from], r.Probabilities[from]
			copy(r.Values.Of(to), r.Values.Of(from))
			if r.Strong != nil {
				r.Strong[to] = r.Strong[from]
			}
			to = from
		}
		r.Candidates[to], r.Probabilities[to] = candidate, probability
		copy(r.Values.Of(to), values)
		if r.Strong != nil {
			r.Strong[to] = strong
		}
	}
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
