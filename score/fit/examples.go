package fit

import (
	"errors"
	"fmt"
	"math"

	"bitextmine/score"
	"bitextmine/score/feature"
)

// Examples are candidates of which it is known whether they are translations, from injected pairs. The names in files
// are older.
type Examples struct {
	Values   feature.Values
	True     []bool
	Group    []int32 // the known pair that each belongs to: a fold has whole pairs
	Unpaired []bool  `json:"Alone"` // it is of a sentence injected without its translation
}

// check reports lists of different lengths.
func (e *Examples) check() error {
	if e.Values.Len() != len(e.True) || len(e.Group) != len(e.True) || len(e.Unpaired) != len(e.True) {
		return fmt.Errorf("fit scorer: %d, %d, %d and %d examples", e.Values.Len(), len(e.True), len(e.Group), len(e.Unpaired))
	}
	return nil
}

// Add joins the examples of another injection; groups are kept apart.
func (e *Examples) Add(more Examples) {
	base := int32(0)
	for _, g := range e.Group {
		base = max(base, g+1)
	}
	e.Values = append(e.Values, more.Values...)
	e.True = append(e.True, more.True...)
	e.Unpaired = append(e.Unpaired, more.Unpaired...)
	for _, g := range more.Group {
		e.Group = append(e.Group, base+g)
	}
}

// unpairedWeight returns how much an example of an unpaired sentence counts, where one of a whole pair counts 1, so
// that a share of the injected sentences has a translation, as is expected of the corpora. Without one or the other
// sort it is 1.
func (e *Examples) unpairedWeight(share float64) float64 {
	unpaired := 0
	for _, u := range e.Unpaired {
		if u {
			unpaired++
		}
	}
	if unpaired == 0 || unpaired == len(e.Unpaired) {
		return 1
	}
	return float64(len(e.Unpaired)-unpaired) / float64(unpaired) * (1 - share) / share
}

// folds is the number of parts that the groups are divided into to measure a fit on pairs that were left out.
const folds = 5

// fit fits the terms of a scorer and measures how well they do on pairs left out; unpaired is the weight of examples of
// unpaired sentences. The same examples in the same order give the same scorer, bit for bit, on one kind of machine.
func (e *Examples) fit(unpaired float64) (*score.Scorer, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	if !(unpaired > 0) {
		return nil, fmt.Errorf("fit scorer: the weight %v of unpaired sentences must be above 0", unpaired)
	}
	weight := func(i int) float64 {
		if e.Unpaired[i] {
			return unpaired
		}
		return 1
	}
	all := func(int32) bool { return true }
	s, err := e.fitGroups(weight, all)
	if err != nil {
		return nil, err
	}
	held := make([]score.Outcome, 0, len(e.True))
	for fold := range int32(folds) {
		part, err := e.fitGroups(weight, func(group int32) bool { return group%folds != fold })
		if err != nil {
			return nil, fmt.Errorf("fold %d: %w", fold, err)
		}
		for i, group := range e.Group {
			if group%folds == fold {
				held = append(held, score.Outcome{Probability: part.Probability(e.Values.Of(i)), True: e.True[i], Weight: weight(i)})
			}
		}
	}
	s.Quality = score.Measure(held)
	return s, nil
}

// fitGroups fits the terms on the examples of some groups.
func (e *Examples) fitGroups(weight func(i int) float64, in func(group int32) bool) (*score.Scorer, error) {
	var rows []int
	positive := 0
	for i, group := range e.Group {
		if in(group) {
			rows = append(rows, i)
			if e.True[i] {
				positive++
			}
		}
	}
	if positive == 0 || positive == len(rows) {
		return nil, errors.New("fit scorer: the examples are all true or all false")
	}
	s := &score.Scorer{Format: score.Format, Terms: standardise(e.Values, rows)}
	x := make([]float64, 0, len(rows)*width) // standardised, with a last column of ones
	y, counts := make([]float64, 0, len(rows)), make([]float64, 0, len(rows))
	for _, i := range rows {
		for t, value := range e.Values.Of(i) {
			x = append(x, (float64(value)-s.Terms[t].Mean)/s.Terms[t].Deviation)
		}
		x = append(x, 1)
		label := 0.0
		if e.True[i] {
			label = 1
		}
		y, counts = append(y, label), append(counts, weight(i))
	}
	weights, err := regress(x, y, counts)
	if err != nil {
		return nil, err
	}
	for t := range s.Terms {
		s.Terms[t].Weight = weights[t]
	}
	s.Intercept = weights[width-1]
	return s, nil
}

// standardise takes each feature's mean and standard deviation over the rows; a feature that never varies gets a
// deviation of 1, so that its weight comes out as 0.
func standardise(values feature.Values, rows []int) []score.Term {
	terms := make([]score.Term, feature.Count)
	for t, f := range feature.All {
		sum, squares := 0.0, 0.0
		for _, i := range rows {
			sum += float64(values.Of(i)[t])
		}
		mean := sum / float64(len(rows))
		for _, i := range rows {
			d := float64(values.Of(i)[t]) - mean
			squares += d * d
		}
		deviation := math.Sqrt(squares / float64(len(rows)))
		if deviation < 1e-9 {
			deviation = 1
		}
		terms[t] = score.Term{Feature: f.Name, Version: f.Version, Mean: mean, Deviation: deviation}
	}
	return terms
}
