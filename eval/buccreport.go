package eval

import (
	"context"
	"fmt"

	"bitextmine/eval/testset"
	"bitextmine/internal/badinput"
	"bitextmine/score"
)

func missingGold(files testset.BUCCFiles) error {
	return badinput.Errorf("%s has no gold file beside it, so nothing can be counted: put the .gold file of the same half there", files.Source)
}

func newBUCCReport(p Protocol, encoder string) *Report {
	report := &Report{Protocol: p, Encoder: encoder, Label: "pair"}
	report.Columns = []Column{{"f1", Percentage}, {"precision", Percentage}, {"recall", Percentage}}
	if p == BUCCMTEB {
		report.Columns = append(report.Columns, Column{"half", Text}, Column{"queries", Count}, Column{"correct", Count}, Column{"targets", Count})
		return report
	}
	report.Columns = append(report.Columns,
		Column{"threshold", Threshold}, Column{"threshold_half", Text}, Column{"half", Text},
		Column{"source", Count}, Column{"target", Count}, Column{"gold", Count},
		Column{"candidates", Count}, Column{"extracted", Count}, Column{"correct", Count})
	return report
}

// thresholded holds the miner and the score function of each protocol with a threshold.
var thresholded = map[Protocol]struct {
	mine  Miner
	score func(tune, report Mined) BUCCScore
}{
	BUCCLaser:  {MineBUCCLaser, ScoreBUCC},
	BUCCST:     {MineBUCCST, ScoreBUCCST},
	BUCCCosine: {MineBUCCCosine, ScoreBUCC},
	BUCCScored: {nil, ScoreBUCC}, // mined by a Scoring
}

// buccResult collects what a protocol found in the halves of a pair.
type buccResult struct {
	mined          []Mined // of each half, train first
	last           string  // the reported half
	source, target int     // number of sentences in the reported half
	mteb           MTEBScore
	quality        score.Quality // of bucc-scored
}

// add mines a half. last means that it is the reported half.
func (b *buccResult) add(ctx context.Context, r *Runner, p Protocol, half Half, last bool) error {
	b.last, b.source, b.target = half.Name, len(half.Source.Texts), len(half.Target.Texts)
	if p == BUCCMTEB {
		var err error
		if last {
			b.mteb, err = ScoreBUCCMTEB(ctx, r.Searcher, half)
		}
		return err
	}
	protocol, ok := thresholded[p]
	if !ok {
		return fmt.Errorf("%s is not a BUCC protocol", p.Name)
	}
	if p == BUCCScored {
		mined, quality, err := r.Scoring.Mine(ctx, r.Searcher, half)
		b.mined, b.quality = append(b.mined, mined), quality
		return err
	}
	mined, err := protocol.mine(ctx, r.Searcher, half)
	b.mined = append(b.mined, mined)
	return err
}

// addBUCC adds the row of a pair: the threshold is from its first half, the figures are from its last.
func (r *Report) addBUCC(pair testset.LanguagePair, found buccResult) {
	if r.Protocol == BUCCMTEB {
		s := found.mteb
		r.Rows = append(r.Rows, Row{pair.String(), []any{s.F1, s.Precision, s.Recall, found.last, s.Queries, s.Correct, found.target}})
		return
	}
	s := thresholded[r.Protocol].score(found.mined[0], found.mined[len(found.mined)-1])
	if len(found.mined) == 1 {
		r.note("%s has only its %s half: the threshold was found on the reported half", pair, found.last)
	}
	if r.Protocol == BUCCScored {
		r.noteQuality(pair, found.mined[len(found.mined)-1], found.quality)
	}
	r.Rows = append(r.Rows, Row{pair.String(), []any{
		s.F1(), s.Precision(), s.Recall(), s.Threshold, s.ThresholdHalf, s.ReportHalf,
		found.source, found.target, s.Gold, s.Candidates, s.Extracted, s.Correct,
	}})
	r.Curves = append(r.Curves, NamedCurve{Name: pair.String(), Threshold: s.Threshold, Points: s.Curve})
}
