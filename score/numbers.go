package score

import (
	"slices"

	"bitextmine/score/feature"
)

// Of ordinary text translations have the same numbers, and a pair with others is wrong. Where lines begin with a time
// or a record's identifier, translations have other numbers as often as wrong pairs have: then numbers say nothing, and
// nothing would be found by them. Which pairs are translations is told by the margins alone, if these keep both kinds
// far enough apart. All bounds lie between texts of both sorts (bench/results/scoring-2026-11-29.md).
const (
	// minConflicts is the share of sure translations with other numbers from which these may say nothing: usual are up
	// to 0.1.
	minConflicts = 0.12
	// conflictFactor is how many times as frequent they are among sure translations as among sure wrong pairs, or as
	// rare, at most: of sentences about dates 0.26 of translations have other numbers, and 0.84 of wrong pairs.
	conflictFactor = 2
	// apartScales is how many times the spread of wrong pairs translations are above them, by their means, at least: of
	// texts without any translation the mixture has up to 3.6, of those with times and identifiers 6 and more.
	apartScales = 4
	// sureMargin is the probability by the margins of a sure translation, and 1 less that of a sure wrong pair.
	sureMargin = 0.9
	// minSure is how many sure translations there must be, and for a comparison sure wrong pairs.
	minSure = 20
	// minNumbered and maxNumbered are how many matched pairs a text must have, and about how many are looked at.
	minNumbered, maxNumbered = 60, 20_000
)

// DropNumbers ranks the candidates anew without the features of numbers where those say nothing. sources and targets
// are the numbers of sentences.
func (r *Ranked) DropNumbers(sources, targets int) error {
	matched, margins := r.byMargin(r.Match(sources, targets))
	every := len(matched)/maxNumbered + 1
	conflicts, looked, conflict := make([]bool, len(matched)), 0, 0
	numbers := feature.Index("numbers_conflict")
	for i := 0; i < len(matched); i += every {
		values, err := r.Values(matched[i])
		if err != nil {
			return err
		}
		if looked++; values[numbers] > 0 {
			conflicts[i] = true
			conflict++
		}
	}
	if float64(conflict) < minConflicts*float64(looked) || looked < minNumbered {
		return nil
	}
	probabilities, ok := farApart(margins)
	if !ok {
		return nil
	}
	var sure, other [2]float64 // wrong pairs and translations: all, and those with other numbers
	for i := 0; i < len(matched); i += every {
		kind := 0
		switch p := probabilities[i]; {
		case p > sureMargin:
			kind = 1
		case p > 1-sureMargin:
			continue
		}
		if sure[kind]++; conflicts[i] {
			other[kind]++
		}
	}
	if !sayNothing(sure, other) {
		return nil
	}
	r.numberless = true
	return r.By(r.scorer.withoutNumbers())
}

// sayNothing reports whether other numbers are as frequent among sure translations as among sure wrong pairs, or where
// these are too few, in nearly all translations. Of both kinds there are so many pairs, wrong ones first.
func sayNothing(pairs, conflicts [2]float64) bool {
	if pairs[1] < minSure {
		return false
	}
	right := conflicts[1] / pairs[1]
	if pairs[0] < minSure {
		return right >= sureMargin
	}
	wrong := conflicts[0] / pairs[0]
	return right >= minConflicts && right <= conflictFactor*wrong && wrong <= conflictFactor*right
}

// farApart returns the probabilities that margins, best first, give if translations are far above wrong pairs, or
// hardly any is in doubt. Where nine tenths are above those of wrong pairs, all are translations.
func farApart(margins []float32) ([]float32, bool) {
	if above(margins, sureMargin) {
		return slices.Repeat([]float32{1}, len(margins)), true
	}
	probabilities, m, ok := marginMixture(margins)
	if !ok {
		return nil, false
	}
	expected, doubt := doubted(probabilities)
	return probabilities, doubt < maxMarginDoubt*expected || m.far()
}

// far reports whether translations are far above wrong pairs.
func (m *mixture) far() bool { return m.mean >= m.place+apartScales*m.scale }

// withoutNumbers returns the scorer without its features of numbers: every candidate then counts as one without any.
func (s *Scorer) withoutNumbers() *Scorer {
	off := *s
	off.Terms = slices.Clone(s.Terms)
	for _, name := range []string{"numbers_differ", "numbers_shared", "numbers_any", "numbers_conflict"} {
		term := &off.Terms[feature.Index(name)]
		off.Intercept += term.of(0)
		term.Weight, term.Short = 0, 0
	}
	return &off
}
