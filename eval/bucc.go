package eval

import (
	"context"

	"bitextmine/encode/embedding"
	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/index"
	"bitextmine/mine"
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
