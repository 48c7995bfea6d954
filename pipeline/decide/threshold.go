package decide

import (
	"context"
	"math"

	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/view"
	"bitextmine/score"
)

// minTold is the probability below which a pair tells nothing of a threshold: its text is not even read.
const minTold = 0.05

// planScorer reads the plan's scorer.
func planScorer(p *view.Pair) (*score.Scorer, error) {
	scorer, err := score.Decode(p.Plan.Scorer)
	if err != nil {
		err = badinput.Errorf("the plan's scorer: %w; make the plan again with mine run", err)
	}
	return scorer, err
}

// findThreshold finds the threshold of the margin whose pairs have the best expected F-beta by the probabilities of the
// plan's scorer.
func (p *decider) findThreshold(ctx context.Context, d *Decision) error {
	if p.Plan.Settings.Scorer == "" {
		p.separate(d)
		return nil
	}
	scorer, err := planScorer(p.Pair)
	if err != nil {
		return err
	}
	told := &Decision{Scorer: scorer, Threshold: minTold}
	if told.Lists, err = mine.NewLists(d.Lists.Source, d.Lists.Target, scorer.K, d.Lists.Margin); err != nil {
		return err
	}
	if err := p.scorer(ctx, told); err != nil {
		return err
	}
	if err := told.Close(); err != nil {
		return err
	}
	probabilities, rejected := map[[2]int32]float32{}, map[[2]int32]bool{}
	for i, c := range told.Candidates {
		pair := [2]int32{c.Source, c.Target}
		if c.Rejected {
			rejected[pair] = true
		} else if told.Probabilities[i] >= minTold {
			probabilities[pair] = told.Probabilities[i]
		}
	}
	candidates := d.Lists.Candidates()
	for i := range candidates {
		candidates[i].Rejected = rejected[[2]int32{candidates[i].Source, candidates[i].Target}]
	}
	var margins, of []float32
	for _, c := range p.matched(candidates) {
		margins, of = append(margins, c.Score), append(of, probabilities[[2]int32{c.Source, c.Target}])
	}
	d.Cut = told.Cut
	p.marginCut(d, margins, of, told.Cut.Pairs)
	return nil
}

// marginCut finds the threshold of matched pairs, best margin first, whose probabilities are known. expected is the
// number of translations in all.
func (p *decider) marginCut(d *Decision, margins, probabilities []float32, expected float64) {
	d.Threshold = score.BestExpected(margins, probabilities, expected, p.beta())
	if !p.known {
		d.Threshold = max(d.Threshold, score.MarginFor(margins, probabilities, score.MinUnknownPrecision))
	}
	kept := 0
	for kept < len(margins) && float64(margins[kept]) > d.Threshold {
		kept++
	}
	d.Cut.Name, d.Cut.Pairs = p.cutName(), expected
	d.Cut.Precision, d.Cut.Recall = score.Expected(probabilities[:kept], expected)
}

// separate finds the threshold of the margin whose pairs have the best F-beta where nothing is known but the margins.
// Where their distribution does not tell translations from other pairs, it is LASER's.
func (p *decider) separate(d *Decision) {
	var margins []float32
	for _, c := range p.matched(d.Lists.Candidates()) {
		margins = append(margins, c.Score)
	}
	probabilities, ok := score.MarginProbabilities(margins)
	if !ok {
		d.Threshold = setting.LASERThreshold
		return
	}
	expected := 0.0
	for _, probability := range probabilities {
		expected += float64(probability)
	}
	d.Cut = &record.CutReport{By: score.ByMargins, Share: p.share(expected)}
	p.marginCut(d, margins, probabilities, expected)
}

// matched are the pairs that the margin matches, without a threshold, best first.
func (p *decider) matched(candidates []mine.Candidate) []mine.Candidate {
	retrieval := mine.Retrieval(p.Plan.Settings.Retrieval)
	return mine.Pairs(candidates, p.Sentences[0].Len(), p.Sentences[1].Len(), retrieval, math.Inf(-1))
}
