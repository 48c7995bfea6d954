package eval

import (
	"context"
	"math"

	"bitextmine/eval/report"
	"bitextmine/index"
	"bitextmine/mine"
)

// BUCCST is the BUCC measure of sentence-transformers' example bucc2018.py (Reimers & Gurevych 2020).
var BUCCST = &Protocol{
	Name: "bucc-st",
	Definition: [2]string{
		"Pairs mined one-to-one by ratio margin (k = 4, max retrieval) over all sentences, including repeated texts, with score >= 1.",
		"Threshold: best F1 on the train half, evaluated only at correct pairs. The search is exact; the example's default is IVF.",
	},
	Columns: thresholdColumns,
	Dataset: "bucc2018",
	bucc:    func() buccMeasure { return &thresholded{mine: MineBUCCST, score: ScoreBUCCST} },
}

// MineBUCCST returns the example's bitext_list. The example computes F1 only at correct pairs, which changes nothing
// because a wrong pair never raises F1. With only one half, the example prints the best point of the curve, and so does
// ScoreBUCCST.
func MineBUCCST(ctx context.Context, searcher index.Searcher, half Half) (Mined, error) {
	source, target := arrange(half.Source, false), arrange(half.Target, false)
	lists, err := neighbours(ctx, searcher, source.rows, target.rows, laserNeighbours, mine.Ratio)
	if err != nil {
		return Mined{}, err
	}
	gold := newPairSet(half.Gold)
	floor := float64(math.Nextafter32(1, 0)) // score >= 1
	return Mined{Half: half.Name, Pairs: maxPairs(lists.Candidates(), source, target, gold, floor, nil),
		Gold: len(gold)}, nil
}

// ScoreBUCCST is ScoreBUCC, but with only one half it reports the best point itself without extracting again.
func ScoreBUCCST(tune, reported Mined) BUCCScore {
	score := ScoreBUCC(tune, reported)
	if tune.Half == reported.Half {
		score.Threshold, score.Counts = report.BestThreshold(score.Curve)
	}
	return score
}
