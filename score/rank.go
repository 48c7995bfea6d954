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
	values        *feature.Table
	places        []int32 // in values
	// Strong are the strong cosines of two-stage mining, mine.NotRefined where there is none; nil: one encoder.
	Strong []float32
}

// Of returns a candidate's values: those of its features, and its strong cosine if it has one.
func (r *Ranked) Of(i int) ([]float32, error) {
	values, err := r.Values(i)
	return withStrong(values, r.Strong, i), err
}

// Values returns the values of a candidate's features.
func (r *Ranked) Values(i int) ([]float32, error) { return r.values.Of(int(r.places[i])) }

// Close frees the values.
func (r *Ranked) Close() error {
	if r.values == nil {
		return nil
	}
	return r.values.Close()
}

func withStrong(values, strong []float32, i int) []float32 {
	if strong == nil || strong[i] == mine.NotRefined {
		return values
	}
	return append(values, strong[i])
}

// Rank scores candidates and sorts them by probability, then margin, then source and target row, which is key order.
// strong are their strong cosines; nil: one encoder. The slices are sorted in place, and values are closed with the
// result.
func (s *Scorer) Rank(candidates []mine.Candidate, values *feature.Table, strong []float32) (Ranked, error) {
	probabilities := make([]float32, len(candidates))
	// Non-negative floats are ordered like their bits; the complement puts the best first.
	keys := make([]uint64, len(candidates))
	err := values.Each(func(i int, v []float32) {
		probabilities[i] = s.Probability(withStrong(v, strong, i))
		keys[i] = uint64(^math.Float32bits(probabilities[i]))<<32 | uint64(i)
	})
	if err != nil {
		return Ranked{}, err
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
	r := Ranked{Candidates: candidates, Probabilities: probabilities, values: values, places: order, Strong: strong}
	r.reorder()
	return r, nil
}

// reorder moves candidate places[i] to place i, for every i. It follows each cycle, so that nothing is in memory twice.
func (r *Ranked) reorder() {
	for start := range r.places {
		if r.places[start] < 0 { // the complement: it was moved
			continue
		}
		candidate, probability, strong := r.Candidates[start], r.Probabilities[start], float32(0)
		if r.Strong != nil {
			strong = r.Strong[start]
		}
		to := start
		for {
			from := int(r.places[to])
			r.places[to] = ^r.places[to]
			if from == start {
				break
			}
			r.Candidates[to], r.Probabilities[to] = r.Candidates[from], r.Probabilities[from]
			if r.Strong != nil {
				r.Strong[to] = r.Strong[from]
			}
			to = from
		}
		r.Candidates[to], r.Probabilities[to] = candidate, probability
		if r.Strong != nil {
			r.Strong[to] = strong
		}
	}
	for i := range r.places {
		r.places[i] = ^r.places[i]
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
