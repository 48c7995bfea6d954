package eval

import (
	"context"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/mine"
)

// laserNeighbours is the k of LASER's mine_bitexts, which every margin protocol here shares.
const laserNeighbours = 4

// Half is one part of a BUCC set, with its vectors.
type Half struct {
	Name           string // "train", "test"
	Source, Target Vectors
	Gold           [][2]int32 // distinct pairs of sentences
}

// Mined is a half's scored pairs, best first.
type Mined struct {
	Half  string
	Pairs []Scored
	Gold  int // gold pairs, whether or not they can be found
}

// Miner puts forward a half's scored pairs as one of the BUCC protocols does.
type Miner func(ctx context.Context, searcher index.Searcher, half Half) (Mined, error)

// BUCCScore is a thresholded BUCC protocol's result.
type BUCCScore struct {
	Threshold     float64
	ThresholdHalf string  // where the threshold was found
	ReportHalf    string  // where it was used
	Counts                // of the report
	Candidates    int     // pairs put forward before the threshold
	Curve         []Point // of the report half
}

// ScoreBUCC finds the threshold on tune and reports on report; they may be the same half. The report extracts again, with
// score >= threshold: tied scores at the threshold then count, as in bucc.py.
func ScoreBUCC(tune, report Mined) BUCCScore {
	threshold, _ := BestThreshold(Curve(tune.Pairs, tune.Gold))
	return BUCCScore{
		Threshold: threshold, ThresholdHalf: tune.Half, ReportHalf: report.Half,
		Counts:     Extract(report.Pairs, report.Gold, threshold),
		Candidates: len(report.Pairs), Curve: Curve(report.Pairs, report.Gold),
	}
}

// neighbours searches both directions; k is cut to what the other side has, as the references do.
func neighbours(ctx context.Context, searcher index.Searcher, source, target embedding.Matrix, k int, margin mine.Margin) (*mine.Lists, error) {
	found, err := searcher.Search(ctx, index.Side{Vectors: source}, index.Side{Vectors: target}, k, nil)
	if err != nil {
		return nil, err
	}
	return mine.NewLists(found.Source, found.Target, k, margin)
}

// maxPairs mines one-to-one pairs that score above floor and names them by sentence. keep may refuse a pair of rows; a pair
// that it refuses has taken its two rows all the same.
func maxPairs(lists *mine.Lists, source, target arranged, gold pairSet, floor float64, keep func(source, target int32) bool) []Scored {
	var out []Scored
	for _, c := range mine.Pairs(lists.Candidates(), source.rows.N, target.rows.N, mine.Max, floor) {
		if keep == nil || keep(c.Source, c.Target) {
			s, t := source.sentence[c.Source], target.sentence[c.Target]
			out = append(out, Scored{Source: s, Target: t, Score: float64(c.Score), Correct: gold.has(s, t)})
		}
	}
	return out
}
