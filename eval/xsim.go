package eval

import (
	"context"
	"slices"

	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/index"
)

// XSim is the error rate of LASER's xsim.py (Heffernan et al. 2022).
var XSim = &Protocol{
	Name: "xsim",
	Definition: [2]string{
		"Line-aligned sentences; for each source, the one of its 4 nearest targets with the highest ratio margin (k = 4), source to target only.",
		"Error rate in percent: its line is not the source's (with --eval-text: its text is not the text of the source's line).",
	},
	Columns: errorColumns,
	Sampled: "error",
	Dataset: "flores200",
	ByText:  true,
	aligned: eachSet(func(ctx context.Context, r *Runner, set alignedSet) (report.Row, error) {
		a, err := ScoreXSim(ctx, r.Searcher, set.source, set.target, set.byText)
		return report.Row{Cells: []any{a.Error(), a.Queries - a.Correct, a.Queries}, Items: items(a.Right)}, err
	}),
}

// errorColumns are the figures of xsim, with which those of xsim++ begin.
var errorColumns = []report.Column{{Name: "error", Kind: report.Percentage}, {Name: "errors", Kind: report.Count},
	{Name: "sentences", Kind: report.Count}}

// forwardBest returns, for each source sentence, the one of its nearest targets with the highest margin: LASER's
// forward candidates. The margin uses the neighbourhoods of both sides.
func forwardBest(ctx context.Context, searcher index.Searcher, source, target testset.EncodedSide) ([]int32, error) {
	x, y := arrange(source, false), arrange(target, false)
	lists, err := neighbours(ctx, searcher, x.rows, y.rows, laserNeighbours)
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

// XSimPlusPlus is xsim with synthetic hard negatives (Chen et al. 2023).
var XSimPlusPlus = &Protocol{
	Name: "xsim++",
	Definition: [2]string{
		"xsim with synthetic English negatives added to the targets: edits of causality, negation, entities and numbers that change the meaning of a target.",
		"Error rate in percent by text, as LASER's eval.py counts, and errors by kind: the edit that won, or misaligned for any other wrong sentence.",
	},
	Columns:   errorColumns,
	Sampled:   "error",
	Dataset:   "flores200",
	negatives: true,
	aligned:   func() alignedMeasure { return &negativeErrors{} },
}

// XSimPlusPlusScore is the error rate with the number of errors of each kind.
type XSimPlusPlusScore struct {
	Accuracy
	Kinds map[string]int
}

// ScoreXSimPlusPlus evaluates sources against their line-aligned targets and negatives. The vectors of the negatives
// are the last len(negatives) rows of target. A negative that was chosen counts under its kind if it was made from the
// correct sentence.
func ScoreXSimPlusPlus(ctx context.Context, searcher index.Searcher, source, target testset.EncodedSide,
	negatives []testset.Negative) (XSimPlusPlusScore, error) {
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

// negativeErrors measures sets and counts errors by kind.
type negativeErrors struct {
	labels    []string
	scores    []XSimPlusPlusScore
	negatives []int
	kinds     []string // kind of each negative
}

func (e *negativeErrors) add(ctx context.Context, r *Runner, set alignedSet) error {
	score, err := ScoreXSimPlusPlus(ctx, r.Searcher, set.source, set.target, set.negatives)
	e.labels, e.scores, e.negatives = append(e.labels, set.label), append(e.scores, score),
		append(e.negatives, len(set.negatives))
	for _, n := range set.negatives {
		if !slices.Contains(e.kinds, n.Kind) {
			e.kinds = append(e.kinds, n.Kind)
		}
	}
	return err
}

func (e *negativeErrors) report(out *report.Report) {
	slices.Sort(e.kinds)
	e.kinds = append(e.kinds, testset.Misaligned)
	out.Columns = append(out.Columns, report.Column{Name: "negatives", Kind: report.Count})
	for _, k := range e.kinds {
		out.Columns = append(out.Columns, report.Column{Name: "errors_" + k, Kind: report.Count})
	}
	for i, s := range e.scores {
		cells := []any{s.Error(), s.Queries - s.Correct, s.Queries, e.negatives[i]}
		for _, k := range e.kinds {
			cells = append(cells, s.Kinds[k])
		}
		out.Rows = append(out.Rows, report.Row{Name: e.labels[i], Cells: cells, Items: items(s.Right)})
	}
}
