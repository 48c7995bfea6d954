package eval

import (
	"context"

	"bitextmine/eval/report"
	"bitextmine/eval/testset"
)

// thresholdColumns are the figures of a protocol with a threshold.
var thresholdColumns = []report.Column{
	{Name: "f1", Kind: report.Percentage}, {Name: "precision", Kind: report.Percentage}, {Name: "recall", Kind: report.Percentage},
	{Name: "threshold", Kind: report.Threshold}, {Name: "threshold_half", Kind: report.Text}, {Name: "half", Kind: report.Text},
	{Name: "source", Kind: report.Count}, {Name: "target", Kind: report.Count}, {Name: "gold", Kind: report.Count},
	{Name: "candidates", Kind: report.Count}, {Name: "extracted", Kind: report.Count}, {Name: "correct", Kind: report.Count},
}

// thresholded measures a pair with a protocol that finds its threshold on the first half and is reported on the last.
type thresholded struct {
	mine           Miner
	score          func(tune, reported Mined) BUCCScore
	mined          []Mined // of each half
	source, target int     // number of sentences in the reported half
}

func (t *thresholded) add(ctx context.Context, r *Runner, half Half, _ bool) error {
	mined, err := t.mine(ctx, r.Searcher, half)
	t.mined = append(t.mined, mined)
	t.source, t.target = len(half.Source.Texts), len(half.Target.Texts)
	return err
}

func (t *thresholded) report(out *report.Report, pair testset.LanguagePair) {
	s := t.score(t.mined[0], t.mined[len(t.mined)-1])
	if len(t.mined) == 1 {
		out.Note("%s has only its %s half: the threshold was found on the reported half", pair, s.ReportHalf)
	}
	out.Rows = append(out.Rows, report.Row{Name: pair.String(), Cells: []any{
		s.F1(), s.Precision(), s.Recall(), s.Threshold, s.ThresholdHalf, s.ReportHalf,
		t.source, t.target, s.Gold, s.Candidates, s.Extracted, s.Correct,
	}})
	out.Curves = append(out.Curves, report.Curve{Name: pair.String(), Threshold: s.Threshold, Points: s.Curve})
}
