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
	Strong
}

// Strong has what the strong encoder of two-stage mining says of candidates.
type Strong struct {
	Cosines   []float32 // mine.NotRefined where it has not seen a sentence; nil: one encoder
	Distances []float32 // margins without the candidate itself among all that it has seen; nil: not known
}

// Seen reports whether the strong encoder has seen both sentences of a candidate.
func (s *Strong) Seen(i int) bool { return s.Cosines != nil && s.Cosines[i] != mine.NotRefined }

// with appends the candidate's values to those of its features.
func (s *Strong) with(values []float32, i int) []float32 {
	if !s.Seen(i) {
		return values
	}
	if values = append(values, s.Cosines[i]); s.Distances != nil {
		values = append(values, s.Distances[i])
	}
	return values
}

// Of returns a candidate's values: those of its features, and what the strong encoder says of it.
func (r *Ranked) Of(i int) ([]float32, error) {
	values, err := r.Values(i)
	return r.with(values, i), err
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

// Rank scores candidates and sorts them by probability, then margin, then source and target row, which is key order.
// The slices are sorted in place, and values are closed with the result.
func (s *Scorer) Rank(candidates []mine.Candidate, values *feature.Table, strong Strong) (Ranked, error) {
	r := Ranked{Candidates: candidates, Probabilities: make([]float32, len(candidates)), values: values, Strong: strong}
	err := values.Each(func(i int, v []float32) { r.Probabilities[i] = s.Probability(strong.with(v, i)) })
	if err != nil {
		return Ranked{}, err
	}
	r.places = Numbers(0, len(candidates))
	r.sort()
	return r, nil
}

// Refine ranks anew the candidates that the strong encoder has seen, by their log odds without it and its own.
func (r *Ranked) Refine(by *Refined) {
	r.rescore(true, func(i int, p float32) float32 {
		return float32(Logistic(by.Logit(Odds(float64(p)), r.with(nil, i))))
	})
}

// Unrefined ranks anew the other candidates, so that adapted gives them the probability that first gives them now.
func (r *Ranked) Unrefined(first, adapted *Adapted) {
	r.rescore(false, func(_ int, p float32) float32 {
		return float32(Logistic(Odds(float64(first.Of(p))) - adapted.shift))
	})
}

// rescore gives the candidates that the strong encoder has seen, or all others, another probability.
func (r *Ranked) rescore(seen bool, of func(i int, p float32) float32) {
	for i, p := range r.Probabilities {
		if r.Seen(i) == seen {
			r.Probabilities[i] = of(i, p)
		}
	}
	r.sort()
}

// sort puts the candidates with the highest probability first.
func (r *Ranked) sort() {
	// Non-negative floats are ordered like their bits; the complement puts the best first.
	keys := make([]uint64, len(r.Candidates))
	for i, p := range r.Probabilities {
		keys[i] = uint64(^math.Float32bits(p))<<32 | uint64(i)
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
			slices.SortFunc(order[lo:hi], func(a, b int32) int { return r.Candidates[a].Compare(r.Candidates[b]) })
		}
		lo = hi
	}
	permute(order, r.Candidates)
	permute(order, r.places)
	for _, column := range [][]float32{r.Probabilities, r.Cosines, r.Distances} {
		if column != nil {
			permute(order, column)
		}
	}
}

// permute moves s[order[i]] to place i, for every i. It follows each cycle, so that nothing is in memory twice.
func permute[T any](order []int32, s []T) {
	for start := range order {
		if order[start] < 0 { // the complement: it was moved
			continue
		}
		held, to := s[start], start
		for {
			from := int(order[to])
			order[to] = ^order[to]
			if from == start {
				break
			}
			s[to], to = s[from], from
		}
		s[to] = held
	}
	for i := range order {
		order[i] = ^order[i]
	}
}

// Rescore ranks the candidates anew by other probabilities.
func (r *Ranked) Rescore(of func(i int, p float32) float32) {
	for i, p := range r.Probabilities {
		r.Probabilities[i] = of(i, p)
	}
	r.sort()
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

// Matched returns the probabilities of the candidates with the verdict Kept, or of those of them that the strong
// encoder has seen.
func (r Ranked) Matched(verdicts []mine.Verdict, seen bool) []float32 {
	var kept []float32
	for i, v := range verdicts {
		if v == mine.Kept && (!seen || r.Seen(i)) {
			kept = append(kept, r.Probabilities[i])
		}
	}
	return kept
}
