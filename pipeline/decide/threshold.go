package decide

import (
	"context"
	"math"

	"bitextmine/internal/badinput"
	"bitextmine/mine"
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

// findThreshold is the threshold of the margin whose pairs have the best F1 by the probabilities of the plan's scorer.
func (p *decider) findThreshold(ctx context.Context, lists *mine.Lists) (float64, error) {
	if p.Plan.Settings.Scorer == "" {
		return p.separate(lists), nil
	}
	scorer, err := planScorer(p.Pair)
	if err != nil {
		return 0, err
	}
	told := &Decision{Scorer: scorer, Threshold: minTold}
	if told.Lists, err = mine.NewLists(lists.Source, lists.Target, scorer.K, lists.Margin); err != nil {
		return 0, err
	}
	if err := p.scorer(ctx, told); err != nil {
		return 0, err
	}
	if err := told.Close(); err != nil {
		return 0, err
	}
	expected := 0.0 // true pairs in all
	probabilities, rejected := map[[2]int32]float32{}, map[[2]int32]bool{}
	for i, c := range told.Candidates {
		pair := [2]int32{c.Source, c.Target}
		if c.Rejected {
			rejected[pair] = true
		} else if told.Probabilities[i] >= minTold {
			probabilities[pair] = told.Probabilities[i]
		}
		if told.Verdicts[i] == mine.Kept {
			expected += float64(told.Probabilities[i])
		}
	}
	candidates := lists.Candidates()
	for i := range candidates {
		candidates[i].Rejected = rejected[[2]int32{candidates[i].Source, candidates[i].Target}]
	}
	var margins, of []float32
	for _, c := range p.matched(candidates) {
		margins, of = append(margins, c.Score), append(of, probabilities[[2]int32{c.Source, c.Target}])
	}
	return score.BestExpected(margins, of, expected), nil
}

// separate is the threshold of the margin whose pairs have the best F1 where nothing is known but the margins. Where
// their distribution does not tell translations from other pairs, it is LASER's.
func (p *decider) separate(lists *mine.Lists) float64 {
	var margins []float32
	for _, c := range p.matched(lists.Candidates()) {
		margins = append(margins, c.Score)
	}
	probabilities, ok := score.MarginProbabilities(margins)
	if !ok {
		return setting.LASERThreshold
	}
	expected := 0.0
	for _, probability := range probabilities {
		expected += float64(probability)
	}
	return score.BestExpected(margins, probabilities, expected)
}

// matched are the pairs that the margin matches, without a threshold, best first.
func (p *decider) matched(candidates []mine.Candidate) []mine.Candidate {
	retrieval := mine.Retrieval(p.Plan.Settings.Retrieval)
	return mine.Pairs(candidates, p.Sentences[0].Len(), p.Sentences[1].Len(), retrieval, math.Inf(-1))
}
