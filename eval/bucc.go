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
// extracted with score >= threshold, so all pairs tied at the threshold count, as in bucc.py. Like bucc.py it looks for
// the best F1 between tied pairs, too, which no threshold gives.
func ScoreBUCC(tune, reported Mined) BUCCScore {
	return scoreBUCC(tune, reported, report.CurveOf)
}

// ScoreByThreshold is ScoreBUCC for protocols that no published program defines to the tie: the best F1 is that of a
// threshold.
func ScoreByThreshold(tune, reported Mined) BUCCScore {
	return scoreBUCC(tune, reported, report.ThresholdCurveOf)
}

func scoreBUCC(tune, reported Mined, curve func(pairs []report.Scored, gold int) []report.CurvePoint) BUCCScore {
	threshold, _ := report.BestThreshold(curve(tune.Pairs, tune.Gold))
	return BUCCScore{
		Threshold: threshold, ThresholdHalf: tune.Half, ReportHalf: reported.Half,
		Counts:     report.Extract(reported.Pairs, reported.Gold, threshold),
		Candidates: len(reported.Pairs), Curve: curve(reported.Pairs, reported.Gold),
	}
}

// neighbours searches in both directions, for the ratio margin. As in the reference programs, k is limited to the size
// of the other side.
func neighbours(ctx context.Context, searcher index.Searcher, source, target embedding.Matrix, k int) (*mine.Lists, error) {
	found, err := searcher.Search(ctx, index.Side{Vectors: source}, index.Side{Vectors: target}, k, nil)
	if err != nil {
		return nil, err
	}
	return mine.NewLists(found.Source, found.Target, k, mine.Ratio)
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

// BUCCRefined is this project's own protocol for two-stage mining: BUCC's sets by what decides in mine run --refine
// MODEL --scorer none.
var BUCCRefined = &Protocol{
	Name: "bucc-refined",
	Definition: [2]string{
		"Two-stage mining: pairs matched one-to-one by ratio margin (k = 4) times the cosine of a strong encoder, which sees only sentences of pairs whose margin is above the floor; a text that occurs twice on its side is excluded, gold is not filtered.",
		"Threshold: best F1 on the train half, midpoint to the next product. Not comparable with the figures of other protocols.",
	},
	Columns: thresholdColumns,
	Sampled: "f1",
	Dataset: "bucc2018",
	Strong:  true,
	bucc:    func() buccMeasure { return &refinedPair{thresholded: thresholded{score: ScoreByThreshold}} },
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
	lists, err := neighbours(ctx, searcher, source.rows, target.rows, laserNeighbours)
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
