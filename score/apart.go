package score

import (
	"slices"

	"bitextmine/mine"
)

// The margins of matched pairs keep translations apart from wrong pairs if, of the translations that
// MarginProbabilities expects, fewer than marginDoubt are in doubt, by the sum of the lesser of both probabilities:
// they count less and less from there to maxMarginDoubt. Of 90 texts the margins are right where they are so sure, to a
// twentieth, and far off where a fifth is in doubt (bench/results/scoring-2026-11-29.md).
const (
	marginDoubt    = 0.03
	maxMarginDoubt = 0.06

	// So many of the margins above those of wrong pairs say that as many are translations: with 0.95 a text of which
	// 84% is translated, against 50 times as much, seemed to be translated wholly.
	nearlyAll = 0.98

	minApartMargins = 100 // matched pairs that these are looked at of
	// Where translations are far above wrong pairs (apartScales) and at most farDoubt of them are in doubt, they count
	// beside a scorer that expects next to nothing: less than blind of them, and in part up to twice as many.
	farDoubt = 0.2
	blind    = 0.25
)

// apart is the number of translations among the matched pairs that are sure by their margins, and the weight of that
// beside so many that the scorer expects: 0 where margins do not keep the two kinds apart.
func (r *Ranked) apart(verdicts []mine.Verdict, scored float64) (pairs, weight float64) {
	var margins []float32
	for i, v := range verdicts {
		if v == mine.Kept {
			margins = append(margins, r.Candidates[i].Score)
		}
	}
	slices.Sort(margins)
	slices.Reverse(margins)
	if len(margins) < minApartMargins {
		return 0, 0
	}
	if above(margins, nearlyAll) {
		return nearlyAll * float64(len(margins)), 1
	}
	probabilities, m, _ := marginMixture(margins)
	expected, doubt := doubted(probabilities)
	if expected < minApart {
		return 0, 0
	}
	weight = (maxMarginDoubt - doubt/expected) / (maxMarginDoubt - marginDoubt)
	if m.far() && doubt < farDoubt*expected {
		weight = max(weight, 2-scored/(blind*expected))
	}
	return expected - doubt, max(0, min(1, weight))
}

// above reports whether such a share of margins, best first, is above those of wrong pairs.
func above(margins []float32, share float64) bool {
	return margins[int(share*float64(len(margins)))] > mostWrong
}

// doubted is how many translations probabilities make one expect, and how many of these are in doubt.
func doubted(probabilities []float32) (expected, doubt float64) {
	for _, p := range probabilities {
		expected += float64(p)
		doubt += float64(min(p, 1-p))
	}
	return expected, doubt
}

// raise raises all log odds by as much as it takes to expect so many translations, if fewer are expected.
func (a *Adapted) raise(probabilities []float32, pairs float64) {
	if a.Pairs >= pairs {
		return
	}
	a.By = ByMargins
	h := newOddsHistogram(probabilities)
	for low, high := 0.0, 2.0*oddsBound; high-low > oddsStep/10; {
		a.raised = (low + high) / 2
		expected := 0.0
		for i, count := range h.counts {
			if count > 0 {
				expected += count * float64(a.Of(float32(Logistic(h.center(i)))))
			}
		}
		if expected < pairs {
			low = a.raised
		} else {
			high = a.raised
		}
	}
	a.Pairs = a.sum(probabilities)
}

// sum is the number of translations that are expected among matched pairs of such probabilities.
func (a *Adapted) sum(probabilities []float32) (pairs float64) {
	for _, p := range probabilities {
		pairs += float64(a.Of(p))
	}
	return pairs
}
