package score

import (
	"slices"

	"bitextmine/internal/heaps"
	"bitextmine/mine"
	"bitextmine/score/feature"
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

	// Where translations are far above wrong pairs (apartScales) and at most farDoubt of them are in doubt, they count
	// beside a scorer that expects next to nothing: less than blind of them, and in part up to twice as many.
	farDoubt = 0.2
	blind    = 0.25
)

// apart is the number of translations among the matched pairs that are sure by their margins, and the weight of that
// beside so many that the scorer expects: 0 where margins do not keep the two kinds apart. Pairs with other numbers,
// of which margins know nothing, are no sure ones.
func (r *Ranked) apart(verdicts []mine.Verdict, scored float64) (pairs, weight float64, err error) {
	places, margins := r.byMargin(verdicts)
	if len(margins) < minMargins {
		return 0, 0, nil
	}
	var probabilities []float32
	var expected, doubt float64
	if above(margins, nearlyAll) {
		probabilities = slices.Repeat([]float32{nearlyAll}, len(margins))
		expected, weight = nearlyAll*float64(len(margins)), 1
	} else {
		var m mixture
		probabilities, m, _ = marginMixture(margins)
		if expected, doubt = doubted(probabilities); expected >= minApart {
			weight = (maxMarginDoubt - doubt/expected) / (maxMarginDoubt - marginDoubt)
			if m.far() && doubt < farDoubt*expected {
				weight = max(weight, 2-scored/(blind*expected))
			}
		}
	}
	if weight <= 0 || expected-doubt <= scored {
		return 0, 0, nil
	}
	conflicts := 0.0
	if numbers := feature.Index("numbers_conflict"); !r.numberless {
		for i, at := range places {
			if probabilities[i] == 0 {
				continue // it counts for nothing, and its values are a read of the disk
			}
			values, err := r.Values(at)
			if err != nil {
				return 0, 0, err
			}
			if values[numbers] > 0 {
				conflicts += float64(probabilities[i])
			}
		}
	}
	return expected - doubt - conflicts, min(1, weight), nil
}

// byMargin returns the places of the matched pairs and their ratio margins, the best margin first.
func (r *Ranked) byMargin(verdicts []mine.Verdict) (places []int, margins []float32) {
	kept := make([]int32, 0, len(verdicts))
	for i, v := range verdicts {
		if v == mine.Kept {
			kept = append(kept, int32(i))
		}
	}
	keys := make([]uint64, len(kept))
	heaps.Sort(keys, func(i int) uint64 {
		margin := ratioOf(&r.Candidates[kept[i]]) + 0 // -0 is 0
		return uint64(^heaps.Bits(margin))<<placeBits | uint64(kept[i])
	}, func(key uint64) uint16 { return uint16(key >> 48) }, slices.Sort)
	places, margins = make([]int, len(keys)), make([]float32, len(keys))
	for i, key := range keys {
		places[i] = int(uint32(key))
		margins[i] = ratioOf(&r.Candidates[places[i]])
	}
	return places, margins
}

// ratioOf is a candidate's ratio margin, whatever margin its score is: the bounds of margins here are of ratios.
func ratioOf(c *mine.Candidate) float32 { return mine.Ratio.Of(c.Cosine, c.SourceMean, c.TargetMean) }

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
