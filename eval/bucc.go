package eval

import (
	"context"

	"bitextmine/encode/embedding"
	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/index"
	"bitextmine/mine"
	"bitextmine/score"
	"bitextmine/score/inject"
)

// laserNeighbours is the k of LASER's mine_bitexts. Every margin protocol here uses it.
const laserNeighbours = 4

// Half is one part of a BUCC set with its vectors.
type Half struct {
	Name           string // "train", "test"
	Source, Target testset.EncodedSide
	Gold           [][2]int32 // distinct pairs of sentences
}

// Mined is the scored pairs of a half, best first.
type Mined struct {
	Half  string
	Pairs []report.Scored
	Gold  int // number of gold pairs, whether or not they can be found
}

// Miner extracts the scored pairs of a half as one of the BUCC protocols defines.
type Miner func(ctx context.Context, searcher index.Searcher, half Half) (Mined, error)

// BUCCScore is the result of a BUCC protocol with a threshold.
type BUCCScore struct {
	Threshold     float64
	ThresholdHalf string              // the half on which the threshold was found
	ReportHalf    string              // the half that is reported
	report.Counts                     // counts on the reported half
	Candidates    int                 // pairs before the threshold
	Curve         []report.CurvePoint // curve of the reported half
}

// ScoreBUCC finds the threshold on tune and reports on reported. They may be the same half. The pairs of reported are
// extracted with score >= threshold, so all pairs tied at the threshold count, as in bucc.py.
func ScoreBUCC(tune, reported Mined) BUCCScore {
	threshold, _ := report.BestThreshold(report.CurveOf(tune.Pairs, tune.Gold))
	return BUCCScore{
		Threshold: threshold, ThresholdHalf: tune.Half, ReportHalf: reported.Half,
		Counts:     report.Extract(reported.Pairs, reported.Gold, threshold),
		Candidates: len(reported.Pairs), Curve: report.CurveOf(reported.Pairs, reported.Gold),
	}
}

// neighbours searches in both directions. As in the reference programs, k is limited to the size of the other side.
func neighbours(ctx context.Context, searcher index.Searcher, source, target embedding.Matrix, k int,
	margin mine.Margin) (*mine.Lists, error) {
	found, err := searcher.Search(ctx, index.Side{Vectors: source}, index.Side{Vectors: target}, k, nil)
	if err != nil {
		return nil, err
	}
	return mine.NewLists(found.Source, found.Target, k, margin)
}

// maxPairs chooses one-to-one pairs with a score above floor among candidates, the best first, and returns them as
// sentences. keep may reject a pair of rows; the two rows of a rejected pair are still used up.
func maxPairs(candidates []mine.Candidate, source, target arranged, gold pairSet, floor float64,
	keep func(source, target int32) bool) []report.Scored {
	var out []report.Scored
	for _, c := range mine.Pairs(candidates, source.rows.N, target.rows.N, mine.Max, floor) {
		if keep == nil || keep(c.Source, c.Target) {
			s, t := source.sentence[c.Source], target.sentence[c.Target]
			out = append(out, report.Scored{Source: s, Target: t, Score: float64(c.Score), Correct: gold.has(s, t)})
		}
	}
	return out
}

// unique says of a pair of rows, of a source and its target side, whether both their texts stand once.
func (a arranged) unique(target arranged) func(source, target int32) bool {
	return func(s, t int32) bool { return !a.repeated[s] && !target.repeated[t] }
}

// pairSet is a set of gold pairs.
type pairSet map[[2]int32]struct{}

func newPairSet(gold [][2]int32) pairSet {
	set := make(pairSet, len(gold))
	for _, g := range gold {
		set[g] = struct{}{}
	}
	return set
}

func (s pairSet) has(source, target int32) bool {
	_, ok := s[[2]int32{source, target}]
	return ok
}

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
	Dataset: "bucc2018",
	bucc:    func() buccMeasure { return &mtebPair{} },
}

// MTEBScore is the result of bucc-mteb in percent, with the counts that it is computed from.
type MTEBScore struct {
	F1, Precision, Recall float64
	Queries, Correct      int
}

// mtebPair measures a pair on its last half.
type mtebPair struct {
	MTEBScore
	half    string
	targets int
}

func (m *mtebPair) add(ctx context.Context, r *Runner, half Half, last bool) (err error) {
	if last {
		m.half, m.targets = half.Name, len(half.Target.Texts)
		m.MTEBScore, err = ScoreBUCCMTEB(ctx, r.Searcher, half)
	}
	return err
}

func (m *mtebPair) report(out *report.Report, pair testset.LanguagePair) {
	out.Rows = append(out.Rows, report.Row{Name: pair.String(),
		Cells: []any{m.F1, m.Precision, m.Recall, m.half, m.Queries, m.Correct, m.targets}})
}

// ScoreBUCCMTEB finds the nearest target of each gold source. A sentence of several gold pairs is one query for each of
// them, as in MTEB.
func ScoreBUCCMTEB(ctx context.Context, searcher index.Searcher, half Half) (MTEBScore, error) {
	if len(half.Gold) == 0 {
		return MTEBScore{}, nil
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
	score := MTEBScore{Queries: len(labels)}
	for i, label := range labels {
		at(label).label++
		at(predictions[i]).predicted++
		if predictions[i] == label {
			at(label).correct++
			score.Correct++
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

// BUCCRefined is this project's own protocol for two-stage mining: BUCC's sets by what decides in mine run --refine
// MODEL --scorer none.
var BUCCRefined = &Protocol{
	Name: "bucc-refined",
	Definition: [2]string{
		"Two-stage mining: pairs matched one-to-one by ratio margin (k = 4) times the cosine of a strong encoder, which sees only sentences of pairs whose margin is above the floor; a text that occurs twice on its side is excluded, gold is not filtered.",
		"Threshold: best F1 on the train half, midpoint to the next product, as in bucc-laser. Not comparable with the figures of other protocols.",
	},
	Columns: thresholdColumns,
	Dataset: "bucc2018",
	Strong:  true,
	bucc:    func() buccMeasure { return &refinedPair{thresholded: thresholded{score: ScoreBUCC}} },
}

// strongOn is the strong encoder of two-stage mining on one half, whose rows are given.
type strongOn struct {
	inject.Strong
	languages [2]string
	texts     [2][]string
}

func newStrongOn(strong *inject.Strong, half Half, source, target arranged) *strongOn {
	return &strongOn{
		// The vectors belong to one language pair.
		Strong:    inject.Strong{Encoder: strong.Encoder, Floor: strong.Floor},
		languages: [2]string{half.Source.Language, half.Target.Language},
		texts:     [2][]string{source.texts(half.Source), target.texts(half.Target)},
	}
}

func (s *strongOn) cosines(ctx context.Context, candidates []mine.Candidate) ([]float32, error) {
	return s.Cosines(ctx, s.languages, candidates, func(side int, number int32) string { return s.texts[side][number] })
}

func (s *strongOn) of(ctx context.Context, candidates []mine.Candidate) (of score.Strong, err error) {
	of.Cosines, err = s.cosines(ctx, candidates)
	return of, err
}

// mineRefined returns the pairs that two-stage mining matches by the product, and how many sentences the strong encoder
// saw.
func mineRefined(ctx context.Context, searcher index.Searcher, strong *inject.Strong,
	half Half) (_ Mined, seen int, err error) {
	source, target := arrange(half.Source, true), arrange(half.Target, true)
	lists, err := neighbours(ctx, searcher, source.rows, target.rows, laserNeighbours, mine.Ratio)
	if err != nil {
		return Mined{}, 0, err
	}
	on, candidates := newStrongOn(strong, half, source, target), lists.Candidates()
	cosines, err := on.cosines(ctx, candidates)
	if err != nil {
		return Mined{}, 0, err
	}
	gold := newPairSet(half.Gold)
	pairs := maxPairs(mine.Refine(candidates, cosines).Candidates, source, target, gold, 0, source.unique(target))
	return Mined{Half: half.Name, Pairs: pairs, Gold: len(gold)}, on.Seen(), nil
}

// refinedPair measures a pair with the runner's strong encoder.
type refinedPair struct {
	thresholded
	seen int // sentences of the last half that the strong encoder saw
}

func (p *refinedPair) add(ctx context.Context, r *Runner, half Half, last bool) error {
	p.mine = func(ctx context.Context, searcher index.Searcher, half Half) (mined Mined, err error) {
		mined, p.seen, err = mineRefined(ctx, searcher, r.Strong, half)
		return mined, err
	}
	return p.thresholded.add(ctx, r, half, last)
}

// report also notes how much the strong encoder had to encode.
func (p *refinedPair) report(out *report.Report, pair testset.LanguagePair) {
	p.thresholded.report(out, pair)
	out.Note("%s: the strong encoder saw %d of %d sentences", pair, p.seen, p.source+p.target)
}
