package eval

import (
	"cmp"
	"context"
	"math"
	"slices"

	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/index"
	"bitextmine/mine"
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
