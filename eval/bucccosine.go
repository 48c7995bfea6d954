package eval

import (
	"cmp"
	"context"
	"slices"

	"bitextmine/eval/report"
	"bitextmine/index"
)

// BUCCCosine is the BUCC measure of VMSST by cosine only (Wieting et al. 2023), which the paper calls "BUCC (c.)".
var BUCCCosine = &Protocol{
	Name: "bucc-cosine",
	Definition: [2]string{
		"Each source sentence with its nearest target by cosine, no margin, targets may repeat; over distinct texts; a text that occurs twice on its side is excluded.",
		"Threshold on the cosine: best F1 on the train half, midpoint to the next score. Report: pairs of the test half with cosine >= threshold.",
	},
	Columns: thresholdColumns,
	Dataset: "bucc2018",
	bucc:    func() buccMeasure { return &thresholded{mine: MineBUCCCosine, score: ScoreBUCC} },
}

// MineBUCCCosine pairs every source text with its nearest target text.
func MineBUCCCosine(ctx context.Context, searcher index.Searcher, half Half) (Mined, error) {
	source, target := arrange(half.Source, true), arrange(half.Target, true)
	found, err := searcher.Search(ctx, index.Side{Vectors: source.rows}, index.Side{Vectors: target.rows}, 1, nil)
	if err != nil {
		return Mined{}, err
	}
	gold := newPairSet(half.Gold)
	var pairs []report.Scored
	for row, s := range source.sentence {
		ids, cosines := found.Source.Row(row)
		if source.repeated[row] || target.repeated[ids[0]] {
			continue
		}
		t := target.sentence[ids[0]]
		pairs = append(pairs, report.Scored{Source: s, Target: t, Score: float64(cosines[0]), Correct: gold.has(s, t)})
	}
	bestFirst(pairs)
	return Mined{Half: half.Name, Pairs: pairs, Gold: len(gold)}, nil
}

// bestFirst sorts by score. Pairs with equal scores stay in key order.
func bestFirst(pairs []report.Scored) {
	slices.SortStableFunc(pairs, func(a, b report.Scored) int { return cmp.Compare(b.Score, a.Score) })
}
