package eval

import (
	"context"

	"bitextmine/index"
	"bitextmine/mine"
)

// BUCCLaser is the BUCC measure of LASER's tasks/bucc (Artetxe & Schwenk 2019).
var BUCCLaser = &Protocol{
	Name: "bucc-laser",
	Definition: [2]string{
		"Pairs mined one-to-one by ratio margin (k = 4, max retrieval) over distinct texts; a text that occurs twice on its side is excluded, gold is not filtered.",
		"Threshold: best F1 on the train half, midpoint to the next score. Report: pairs of the test half with score >= threshold.",
	},
	Columns: thresholdColumns,
	Dataset: "bucc2018",
	bucc:    func() buccMeasure { return &thresholded{mine: MineBUCCLaser, score: ScoreBUCC} },
}

// MineBUCCLaser returns the pairs that LASER's mine_bitexts --unify --retrieval max --margin ratio -k 4 writes and that
// bucc.py evaluates. Texts are unified by their stripped form. The reference unifies raw lines, so there a trailing
// blank makes a sentence its own second neighbour.
func MineBUCCLaser(ctx context.Context, searcher index.Searcher, half Half) (Mined, error) {
	source, target := arrange(half.Source, true), arrange(half.Target, true)
	lists, err := neighbours(ctx, searcher, source.rows, target.rows, laserNeighbours, mine.Ratio)
	if err != nil {
		return Mined{}, err
	}
	gold := newPairSet(half.Gold)
	pairs := maxPairs(lists.Candidates(), source, target, gold, 0, source.unique(target))
	return Mined{Half: half.Name, Pairs: pairs, Gold: len(gold)}, nil
}
