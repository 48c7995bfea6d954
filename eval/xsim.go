package eval

import (
	"context"

	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/index"
	"bitextmine/mine"
)

// XSim is the error rate of LASER's xsim.py (Heffernan et al. 2022).
var XSim = &Protocol{
	Name: "xsim",
	Definition: [2]string{
		"Line-aligned sentences; for each source, the one of its 4 nearest targets with the highest ratio margin (k = 4), source to target only.",
		"Error rate in percent: its line is not the source's (with --eval-text: its text is not the text of the source's line).",
	},
	Columns: errorColumns,
	Dataset: "flores200",
	aligned: eachSet(func(ctx context.Context, r *Runner, set alignedSet) ([]any, error) {
		a, err := ScoreXSim(ctx, r.Searcher, set.source, set.target, set.byText)
		return []any{a.Error(), a.Queries - a.Correct, a.Queries}, err
	}),
}

// errorColumns are the figures of xsim, with which those of xsim++ begin.
var errorColumns = []report.Column{{Name: "error", Kind: report.Percentage}, {Name: "errors", Kind: report.Count},
	{Name: "sentences", Kind: report.Count}}

// forwardBest returns, for each source sentence, the one of its nearest targets with the highest margin: LASER's
// forward candidates. The margin uses the neighbourhoods of both sides.
func forwardBest(ctx context.Context, searcher index.Searcher, source, target testset.EncodedSide) ([]int32, error) {
	x, y := arrange(source, false), arrange(target, false)
	lists, err := neighbours(ctx, searcher, x.rows, y.rows, laserNeighbours, mine.Ratio)
	if err != nil {
		return nil, err
	}
	best := make([]int32, len(source.Texts))
	for _, c := range lists.Candidates() {
		if c.Forward {
			best[x.sentence[c.Source]] = y.sentence[c.Target]
		}
	}
	return best, nil
}

// ScoreXSim evaluates sources against targets whose first len(source) lines are their translations, in order. Further
// targets are distractors: xsim has none, retrieval has many. Answers are compared by line or, with byText, by text.
func ScoreXSim(ctx context.Context, searcher index.Searcher, source, target testset.EncodedSide,
	byText bool) (Accuracy, error) {
	best, err := forwardBest(ctx, searcher, source, target)
	if err != nil {
		return Accuracy{}, err
	}
	return sameLine(best, target.Texts, byText), nil
}
