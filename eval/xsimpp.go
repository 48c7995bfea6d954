package eval

import (
	"context"

	"bitextmine/eval/testset"
	"bitextmine/index"
)

// XSimPlusPlus is xsim with synthetic hard negatives (Chen et al. 2023).
var XSimPlusPlus = Protocol{"xsim++", [2]string{
	"xsim with synthetic English negatives added to the targets: edits of causality, entities and numbers that change the meaning of a target.",
	"Error rate in percent by text, as LASER's eval.py counts, and errors by kind: the edit that won, or misaligned for any other wrong sentence.",
}}

// XSimPlusPlusScore is the error rate with the number of errors of each kind.
type XSimPlusPlusScore struct {
	Accuracy
	Kinds map[string]int
}

// ScoreXSimPlusPlus evaluates sources against their line-aligned targets and negatives. The vectors of the negatives
// are the last len(negatives) rows of target. A negative that was chosen counts under its kind if it was made from the
// correct sentence.
func ScoreXSimPlusPlus(ctx context.Context, searcher index.Searcher, source, target Vectors, negatives []testset.Negative) (XSimPlusPlusScore, error) {
	best, err := forwardBest(ctx, searcher, source, target)
	if err != nil {
		return XSimPlusPlusScore{}, err
	}
	kinds := make(map[testset.Negative]string, len(negatives))
	for _, n := range negatives {
		kinds[testset.Negative{Text: n.Text, Of: n.Of}] = n.Kind
	}
	score := XSimPlusPlusScore{Accuracy: sameLine(best, target.Texts, true), Kinds: make(map[string]int)}
	for i, answer := range best {
		won, right := target.Texts[answer], target.Texts[i]
		if won == right {
			continue
		}
		kind, ok := kinds[testset.Negative{Text: won, Of: right}]
		if !ok {
			kind = testset.Misaligned
		}
		score.Kinds[kind]++
	}
	return score, nil
}
