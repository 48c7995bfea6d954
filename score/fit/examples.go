package fit

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/encode/model"
	"bitextmine/mine"
	"bitextmine/score"
	"bitextmine/score/feature"
)

// Examples are candidates from injected pairs, so it is known whether they are translations.
type Examples struct {
	Values   feature.Values
	True     []bool
	Group    []int32 // the known pair of each example; a fold has whole pairs. ownGroup: none
	Unpaired []bool  // its sentence was injected without its translation
	NearMiss []bool  // it is an injected near miss
	// Strong are the strong cosines of two-stage mining, mine.NotRefined where there is none; nil: one encoder.
	Strong []float32 `json:",omitempty"`
	// near is a scorer whose weights those of what is not of vectors stay near; nil: near 0.
	near *score.Scorer
	// Labelled says which examples people decided on, in a run's own text; nil: none.
	Labelled []bool `json:",omitempty"`
}

// labelled says whether people decided on an example.
func (e *Examples) labelled(i int) bool { return e.Labelled != nil && e.Labelled[i] }

// of returns the values of an example, with its strong cosine if it has one.
func (e *Examples) of(i int) []float32 {
	if !e.refined(i) {
		return e.Values.Of(i)
	}
	return append(e.Values.Of(i), e.Strong[i])
}

// refined says whether the strong encoder has seen an example.
func (e *Examples) refined(i int) bool { return e.Strong != nil && e.Strong[i] != mine.NotRefined }

// check returns an error if the lists have different lengths.
func (e *Examples) check() error {
	if e.Values.Len() != len(e.True) || len(e.Group) != len(e.True) || len(e.Unpaired) != len(e.True) || len(e.NearMiss) != len(e.True) ||
		e.Strong != nil && len(e.Strong) != len(e.True) || e.Labelled != nil && len(e.Labelled) != len(e.True) {
		return fmt.Errorf("fit scorer: %d, %d, %d and %d examples", e.Values.Len(), len(e.True), len(e.Group), len(e.Unpaired))
	}
	return nil
}

// Add appends the examples of another injection as new groups.
func (e *Examples) Add(more Examples) {
	base := int32(0)
	for _, g := range e.Group {
		base = max(base, g+1)
	}
	if e.Labelled != nil || more.Labelled != nil {
		e.Labelled = append(e.Labelled, make([]bool, len(e.True)-len(e.Labelled))...)
		e.Labelled = append(e.Labelled, more.Labelled...)
		e.Labelled = append(e.Labelled, make([]bool, len(more.True)-len(more.Labelled))...)
	}
	e.Values = append(e.Values, more.Values...)
	e.True = append(e.True, more.True...)
	e.Unpaired = append(e.Unpaired, more.Unpaired...)
	e.NearMiss = append(e.NearMiss, more.NearMiss...)
	e.Strong = append(e.Strong, more.Strong...)
	for _, g := range more.Group {
		e.Group = append(e.Group, base+g)
	}
}

// unpairedWeight returns the weight of an example of an unpaired sentence, relative to 1 for an example of a whole
// pair, such that the weighted share of injected sentences with a translation is share. It is 1 if one of the two kinds
// is missing.
func (e *Examples) unpairedWeight(share float64) float64 {
	paired, unpaired := 0, 0
	for i, u := range e.Unpaired {
		switch {
		case e.labelled(i), e.NearMiss[i]:
		case u:
			unpaired++
		default:
			paired++
		}
	}
	if unpaired == 0 || paired == 0 {
		return 1
	}
	return float64(paired) / float64(unpaired) * (1 - share) / share
}

// nearMissWeight is the weight of a near miss, relative to 1 for an example of a whole pair. Text has few of them.
// bench/results/scoring.md has what other weights give.
const nearMissWeight = 0.1

// conflicts are the features that tell near misses, and conflictWeight is the weight of near misses in fitting these
// alone. Near misses are like translations in everything else, so with this weight in the whole fit the other features
// would lose theirs.
var conflicts = []int{feature.Index("numbers_conflict"), feature.Index("names_conflict")}

const conflictWeight = 1.0

// labelWeight is the weight of an example that people decided on, relative to 1 for an injected one. Labels are few,
// and of the pairs that are hard in this text. bench/results/scoring.md has what other weights give.
const labelWeight = 5

// nearPull is how many times as strongly weights are pulled to those of another scorer as others to 0. Chosen of 1, 5,
// 20, 30 and 100 on two bags in four languages: larger ones cost the smaller bag points
// (bench/results/scoring-2026-11-24.md).
const nearPull = 5

// folds is the number of parts into which the groups are divided for cross-validation.
const folds = 5

// weight returns the weight of each example, where those of unpaired sentences have the given one.
func (e *Examples) weight(unpaired float64) func(i int) float64 {
	known := func(i int) float64 {
		switch {
		case e.NearMiss[i]:
			return nearMissWeight
		case e.Unpaired[i]:
			return unpaired
		case e.labelled(i):
			return labelWeight
		}
		return 1
	}
	own := ownWeight(e, known)
	return func(i int) float64 {
		if e.Group[i] == ownGroup {
			return own
		}
		return known(i)
	}
}

// fit fits the terms of a scorer and measures their quality by cross-validation. unpaired is the weight of examples of
// unpaired sentences. With a base only what a strong encoder adds to it is fitted. The same examples in the same order
// give the same scorer, bit for bit, on one kind of machine.
func (e *Examples) fit(base *score.Scorer, unpaired float64) (*score.Scorer, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	if !(unpaired > 0) {
		return nil, fmt.Errorf("fit scorer: the weight %v of unpaired sentences must be above 0", unpaired)
	}
	weight := e.weight(unpaired)
	all := func(int32) bool { return true }
	s, err := e.fitGroups(base, weight, all)
	if err != nil {
		return nil, err
	}
	held := make([]score.Outcome, 0, len(e.True))
	for fold := range int32(folds) {
		part, err := e.fitGroups(base, weight, func(group int32) bool { return group%folds != fold })
		if err != nil {
			return nil, fmt.Errorf("fold %d: %w", fold, err)
		}
		for i, group := range e.Group {
			if group%folds == fold && !e.labelled(i) {
				held = append(held, score.Outcome{Probability: part.Probability(e.of(i)), True: e.True[i], Weight: weight(i)})
			}
		}
	}
	s.Quality = score.Measure(held)
	if base == nil {
		s.Prior = e.prior(weight)
	}
	return s, nil
}

// prior is the weighted share of true examples: what a probability is of, until a run tells how many of its own
// candidates are translations.
func (e *Examples) prior(weight func(i int) float64) float64 {
	positive, all := 0.0, 0.0
	for i, y := range e.True {
		all += weight(i)
		if y {
			positive += weight(i)
		}
	}
	return positive / all
}

// fitGroups fits a scorer on the examples of the groups that in selects, or only what a strong encoder adds to base.
func (e *Examples) fitGroups(base *score.Scorer, weight func(i int) float64, in func(group int32) bool) (*score.Scorer, error) {
	var rows, refined []int
	for i, group := range e.Group {
		if !in(group) {
			continue
		}
		rows = append(rows, i)
		if e.refined(i) {
			refined = append(refined, i)
		}
	}
	s := &score.Scorer{Format: score.Format}
	var err error
	if base != nil {
		*s = *base
	} else if s.Intercept, s.Terms, err = e.fitRows(rows, weight, feature.All, e.Values.Of); err != nil {
		return nil, err
	} else if err := e.sharpen(s, rows, weight); err != nil {
		return nil, err
	}
	if e.Strong == nil {
		return s, nil
	}
	s.Refined = &score.Refined{}
	s.Refined.Intercept, s.Refined.Terms, err = e.fitRows(refined, weight, score.InjectedRefined, func(i int) []float32 {
		return []float32{float32(s.Logit(e.Values.Of(i))), e.Strong[i]}
	})
	return s, err
}

// sharpen fits the weights of conflicts once more, all others fixed, with more weight on near misses.
func (e *Examples) sharpen(s *score.Scorer, rows []int, weight func(i int) float64) error {
	r := &regression{width: len(conflicts), fixed: true}
	near := false
	for _, i := range rows {
		values, label, count := e.Values.Of(i), 0.0, weight(i)
		if e.True[i] {
			label = 1
		}
		if e.NearMiss[i] {
			near, count = true, count*conflictWeight/nearMissWeight
		}
		for _, at := range conflicts {
			r.x = append(r.x, float64(values[at])/s.Terms[at].Deviation)
		}
		r.y, r.counts, r.offset = append(r.y, label), append(r.counts, count), append(r.offset, s.Logit(values))
	}
	if !near {
		return nil
	}
	more, err := r.minimise()
	if err != nil {
		return err
	}
	for i, at := range conflicts {
		s.Terms[at].Weight += more[i]
		s.Intercept += more[i] * s.Terms[at].Mean / s.Terms[at].Deviation // no conflict changes nothing
	}
	return nil
}

// fitRows fits the terms of features on some examples, whose values of gives.
func (e *Examples) fitRows(
	rows []int, weight func(i int) float64, features []feature.Feature, of func(i int) []float32,
) (intercept float64, terms []score.Term, err error) {
	positive := 0
	for _, i := range rows {
		if e.True[i] {
			positive++
		}
	}
	if positive == 0 || positive == len(rows) {
		return 0, nil, errors.New("fit scorer: the examples are all true or all false")
	}
	terms = standardise(features, rows, of)
	width := len(terms) + 1
	x := make([]float64, 0, len(rows)*width) // standardised, with ones in the last column
	y, counts := make([]float64, 0, len(rows)), make([]float64, 0, len(rows))
	for _, i := range rows {
		x = appendStandard(x, terms, of(i))
		label := 0.0
		if e.True[i] {
			label = 1
		}
		y, counts = append(y, label), append(counts, weight(i))
	}
	r := &regression{x: x, y: y, counts: counts, width: width}
	if e.near != nil {
		r.near, r.pull = nearWeights(e.near, terms, features)
	}
	weights, err := r.minimise()
	if err != nil {
		return 0, nil, err
	}
	for t := range terms {
		terms[t].Weight = weights[t]
	}
	return weights[width-1], terms, nil
}

// nearWeights are the weights of a scorer as these terms standardise their features, 0 of features of vectors, and how
// strongly each pulls; both are [terms + 1], for the intercept, which is not pulled.
func nearWeights(of *score.Scorer, terms []score.Term, features []feature.Feature) (near, pull []float64) {
	near, pull = make([]float64, len(terms)+1), make([]float64, len(terms)+1)
	for t, f := range features {
		pull[t] = 1
		at := slices.IndexFunc(of.Terms, func(b score.Term) bool { return b.Feature == f.Name })
		if f.Kind != feature.Vectors && at >= 0 {
			near[t], pull[t] = of.Terms[at].Weight/of.Terms[at].Deviation*terms[t].Deviation, nearPull
		}
	}
	return near, pull
}

// appendStandard appends values as terms standardise them, and a one for the intercept.
func appendStandard(x []float64, terms []score.Term, values []float32) []float64 {
	for t := range terms {
		x = append(x, terms[t].Standard(float64(values[t])))
	}
	return append(x, 1)
}

// standardise computes each feature's mean and standard deviation over the rows. A constant feature gets a deviation of
// 1, so that its weight becomes 0.
func standardise[I int | int32](features []feature.Feature, rows []I, of func(i I) []float32) []score.Term {
	terms := make([]score.Term, len(features))
	for t, f := range features {
		sum, squares := 0.0, 0.0
		for _, i := range rows {
			sum += float64(of(i)[t])
		}
		mean := sum / float64(len(rows))
		for _, i := range rows {
			d := float64(of(i)[t]) - mean
			squares += d * d
		}
		deviation := math.Sqrt(squares / float64(len(rows)))
		if deviation < 1e-9 {
			deviation = 1
		}
		terms[t] = score.Term{Feature: f.Name, Version: f.Version, Mean: mean, Deviation: deviation}
		if f.Covers() {
			terms[t].Limit = score.CoverageLimit
		}
	}
	return terms
}

// SeenSource returns the training source of the encoder that a file's name contains, or "" if there is none.
func SeenSource(model *model.Model, path string) string {
	name := strings.ToLower(filepath.Base(path))
	for _, source := range model.TrainedOn {
		if strings.Contains(name, strings.ToLower(source)) {
			return source
		}
	}
	return ""
}
