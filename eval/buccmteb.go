package eval

import (
	"context"

	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/index"
)

// BUCCMTEB is MTEB's BUCC (version 1), which MEXMA and IMASCL report.
var BUCCMTEB = &Protocol{
	Name: "bucc-mteb",
	Definition: [2]string{
		"Gold source sentences only, each with its nearest of all targets by cosine; no threshold, no margin, no distractors among the sources.",
		"F1, P and R weighted over target labels as scikit-learn does: F1 = (1/N) sum over correct of 2/(1+m), P = (1/N) sum of 1/m, R = accuracy. Not comparable with the other BUCC protocols.",
	},
	Columns: []report.Column{
		{Name: "f1", Kind: report.Percentage}, {Name: "precision", Kind: report.Percentage},
		{Name: "recall", Kind: report.Percentage},
		{Name: "half", Kind: report.Text}, {Name: "queries", Kind: report.Count}, {Name: "correct", Kind: report.Count},
		{Name: "targets", Kind: report.Count},
	},
	Sampled: "recall",
	Dataset: "bucc2018",
	bucc:    func() buccMeasure { return &mtebPair{} },
}

// BitextMTEB is MTEB's bitext mining on line-aligned sets.
var BitextMTEB = &Protocol{
	Name: "bitext-mteb",
	Definition: [2]string{
		"Line-aligned sentences; each source's nearest target by cosine, in one direction, as MTEB measures Tatoeba, FLORES and NTREX.",
		"F1, P and R weighted over target lines as scikit-learn does. On these sets tatoeba has P@1 of both directions.",
	},
	Columns: []report.Column{
		{Name: "f1", Kind: report.Percentage}, {Name: "precision", Kind: report.Percentage},
		{Name: "recall", Kind: report.Percentage}, {Name: "sentences", Kind: report.Count},
	},
	Dataset: "tatoeba",
	aligned: eachSet(func(ctx context.Context, r *Runner, set alignedSet) (report.Row, error) {
		half := Half{Source: set.source, Target: set.target, Gold: make([][2]int32, len(set.source.Texts))}
		for i := range half.Gold {
			half.Gold[i] = [2]int32{int32(i), int32(i)}
		}
		s, err := ScoreBUCCMTEB(ctx, r.Searcher, half)
		return report.Row{Cells: []any{s.F1, s.Precision, s.Recall, s.Queries}}, err
	}),
}

// MTEBScore is the result of bucc-mteb in percent, with the counts that it is computed from.
type MTEBScore struct {
	F1, Precision, Recall float64
	Queries, Correct      int
	Right                 []bool // whether each query is right
}

// mtebPair measures a pair on its first half: MTEB's gold belongs to the train half, the only one published.
type mtebPair struct {
	MTEBScore
	half    string
	targets int
}

func (m *mtebPair) add(ctx context.Context, r *Runner, half Half, _ bool) (err error) {
	if m.half == "" {
		m.half, m.targets = half.Name, len(half.Target.Texts)
		m.MTEBScore, err = ScoreBUCCMTEB(ctx, r.Searcher, half)
	}
	return err
}

func (m *mtebPair) report(out *report.Report, pair testset.LanguagePair) {
	out.Rows = append(out.Rows, report.Row{Name: pair.String(),
		Cells: []any{m.F1, m.Precision, m.Recall, m.half, m.Queries, m.Correct, m.targets}, Items: items(m.Right)})
}

// ScoreBUCCMTEB finds the nearest target of each gold source. A sentence of several gold pairs is one query for each of
// them, as in MTEB.
func ScoreBUCCMTEB(ctx context.Context, searcher index.Searcher, half Half) (MTEBScore, error) {
	if len(half.Gold) == 0 {
		return WeightedF1(nil, nil), nil
	}
	queries := testset.EncodedSide{Side: testset.Side{Language: half.Source.Language}}
	sources, labels := make([]int32, len(half.Gold)), make([]int32, len(half.Gold))
	for i, g := range half.Gold {
		sources[i], labels[i] = g[0], g[1]
	}
	queries.Rows = testset.Gather(half.Source.Rows, sources)
	target := arrange(half.Target, false)
	found, err := searcher.Search(ctx, index.Side{Vectors: queries.Rows}, index.Side{Vectors: target.rows}, 1, nil)
	if err != nil {
		return MTEBScore{}, err
	}
	predictions := make([]int32, len(labels))
	for i := range predictions {
		ids, _ := found.Source.Row(i)
		predictions[i] = target.sentence[ids[0]]
	}
	return WeightedF1(labels, predictions), nil
}

// WeightedF1 computes scikit-learn's precision, recall and F1 with average="weighted" for queries with one label and
// one prediction each: the mean over labels, weighted by the number of queries with that label.
func WeightedF1(labels, predictions []int32) MTEBScore {
	type tally struct{ label, predicted, correct int }
	tallies := make(map[int32]*tally)
	at := func(class int32) *tally {
		if tallies[class] == nil {
			tallies[class] = &tally{}
		}
		return tallies[class]
	}
	score := MTEBScore{Queries: len(labels), Right: make([]bool, max(1, len(labels)))}
	for i, label := range labels {
		at(label).label++
		at(predictions[i]).predicted++
		if predictions[i] == label {
			at(label).correct++
			score.Correct++
			score.Right[i] = true
		}
	}
	// Summed in query order, so the map's order does not change the bits.
	for _, label := range labels {
		t := tallies[label]
		if t.correct == 0 {
			continue
		}
		precision, recall := float64(t.correct)/float64(t.predicted), float64(t.correct)/float64(t.label)
		score.Precision += precision
		score.Recall += recall
		score.F1 += 2 * precision * recall / (precision + recall)
	}
	scale := 100 / float64(max(1, len(labels)))
	score.Precision, score.Recall, score.F1 = score.Precision*scale, score.Recall*scale, score.F1*scale
	return score
}
