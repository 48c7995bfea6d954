package fit

import (
	"slices"

	"bitextmine/internal/badinput"
	"bitextmine/score"
)

// shortPull is how many times as strongly the weights for short candidates are pulled to 0 as others. Of 5, 30 and 100,
// all are about as good on texts that they were not fitted on (bench/results/scoring-2026-11-29.md).
const shortPull = 5

// Short fits how a scorer orders short candidates, on sets of examples of short text. All else of the scorer stays. So
// do the weights of conflicts, which near misses decide.
func Short(base *score.Scorer, name string, sets []*Set) (*score.Scorer, error) {
	all, err := join(sets, base.Share)
	if err != nil {
		return nil, err
	}
	if err := sameEncoder(base, sets[0]); err != nil {
		return nil, err
	}
	if sets[0].Refine != nil {
		return nil, badinput.Errorf("the examples are of two-stage mining, where the strong encoder orders what is in doubt: save them without --refine")
	}
	weight, width := all.weight(all.unpairedWeight(base.Share)), len(base.Terms)+1
	r := &regression{width: width, fixed: true, near: make([]float64, width), pull: slices.Repeat([]float64{shortPull}, width)}
	for i, right := range all.True {
		values := all.Values.Of(i)
		short := score.Shortness(values)
		if short == 0 {
			continue
		}
		label := 0.0
		if right {
			label = 1
		}
		r.x = appendStandard(r.x, base.Terms, values)
		row := r.x[len(r.x)-width:]
		for t := range row {
			if row[t] *= short; slices.Contains(conflicts, t) {
				row[t] = 0 // the penalty keeps the weight at 0
			}
		}
		r.y, r.counts, r.offset = append(r.y, label), append(r.counts, weight(i)), append(r.offset, base.Logit(values))
	}
	if len(r.y) == 0 {
		return nil, badinput.Errorf("no example is short: give examples of headings, labels or messages")
	}
	weights, err := r.minimise()
	if err != nil {
		return nil, err
	}
	s := *base
	s.Name, s.Terms = name, slices.Clone(base.Terms)
	for t := range s.Terms {
		s.Terms[t].Short = weights[t]
	}
	return described(&s, sets), nil
}
