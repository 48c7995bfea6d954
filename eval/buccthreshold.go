package eval

import (
	"context"

	"bitextmine/eval/report"
	"bitextmine/eval/testset"
)

// thresholdColumns are the figures of a protocol with a threshold.
var thresholdColumns = []report.Column{
	{Name: "f1", Kind: report.Percentage}, {Name: "precision", Kind: report.Percentage},
	{Name: "recall", Kind: report.Percentage},
	{Name: "threshold", Kind: report.Threshold}, {Name: "threshold_half", Kind: report.Text},
	{Name: "half", Kind: report.Text},
	{Name: "source", Kind: report.Count}, {Name: "target", Kind: report.Count}, {Name: "gold", Kind: report.Count},
	{Name: "candidates", Kind: report.Count}, {Name: "extracted", Kind: report.Count},
	{Name: "correct", Kind: report.Count},
}

// thresholded measures a pair with a protocol that finds its threshold on the first half and is reported on the last.
type thresholded struct {
	mine           Miner
	score          func(tune, reported Mined) BUCCScore
	mined          []Mined // mined pairs of each half
	source, target int     // number of sentences in the reported half
	reported       *Half   // reported half, with its texts if the caller wants its pairs
}

func (t *thresholded) add(ctx context.Context, r *Runner, half Half, last bool) error {
	mined, err := t.mine(ctx, r.Searcher, half)
	t.mined = append(t.mined, mined)
	t.source, t.target = len(half.Source.Texts), len(half.Target.Texts)
	if last && r.KeepPairs {
		t.reported = &half
	}
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
	out.Pairs = append(out.Pairs, t.pairs(pair.String(), s.Threshold)...)
	out.Curves = append(out.Curves, report.Curve{Name: pair.String(), Points: s.Curve})
}

// pairs are the pairs of the reported half that were extracted, best first, and then those of the gold that were not.
func (t *thresholded) pairs(name string, threshold float64) []report.Pair {
	if t.reported == nil {
		return nil
	}
	source, target := t.reported.Source.Texts, t.reported.Target.Texts
	var out []report.Pair
	found := pairSet{}
	for _, p := range t.mined[len(t.mined)-1].Pairs {
		if p.Score < threshold {
			continue
		}
		found[[2]int32{p.Source, p.Target}] = struct{}{}
		kind := report.Wrong
		if p.Correct {
			kind = report.Correct
		}
		out = append(out, report.Pair{Set: name, Kind: kind, Score: p.Score, Source: source[p.Source],
			Target: target[p.Target]})
	}
	for _, g := range t.reported.Gold {
		if !found.has(g[0], g[1]) {
			out = append(out, report.Pair{Set: name, Kind: report.Missed, Source: source[g[0]], Target: target[g[1]]})
		}
	}
	return out
}
