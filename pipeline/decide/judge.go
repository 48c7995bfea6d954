package decide

import (
	"context"
	"errors"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/mine"
	"bitextmine/pipeline/view"
	"bitextmine/score"
	"bitextmine/score/fit"
)

// Doubts returns the candidates of a pair that the scorer is in doubt of, best first: their probabilities, adapted to
// the text, are from the setting judge_doubt to 1 less it.
func Doubts(ctx context.Context, p *view.Pair, model *model.Model, options encode.Options) (_ []mine.Candidate, err error) {
	by := newDecider(p, model, options)
	d := &Decision{}
	if d.Scorer, err = scorerFor(by); err != nil {
		return nil, err
	}
	if err := by.rank(ctx, d); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	adapted, err := adapted(by, d)
	if err != nil {
		return nil, err
	}
	var doubts []mine.Candidate
	low := p.Plan.Settings.JudgeDoubt
	for i, c := range d.Candidates {
		if of := float64(adapted.Of(d.Probabilities[i])); of >= low && of <= 1-low {
			doubts = append(doubts, c)
		}
	}
	return doubts, nil
}

// judged merges the judge's logits with the scorer's probabilities.
func (p *decider) judged(ctx context.Context, d *Decision) error {
	logits, err := p.Logits(ctx)
	if err != nil {
		return err
	}
	if d.Merge, err = p.merge(d, logits); err != nil {
		return err
	}
	d.Judged = make(map[[2]int32]Judgement, len(logits))
	d.Rescore(func(i int, probability float32) float32 {
		pair := [2]int32{d.Candidates[i].Source, d.Candidates[i].Target}
		logit, ok := logits[pair]
		if !ok {
			return probability
		}
		d.Judged[pair] = Judgement{Logit: logit, Before: probability}
		return float32(score.Logistic(d.Merge.Odds(score.Odds(float64(probability)), float64(logit))))
	})
	return nil
}

// merge is how a judge's logits are merged with the scorer's log odds: as fit.Judged learns it of the pairs it saw, or
// as its manifest says where it saw too few.
func (p *decider) merge(d *Decision, logits map[[2]int32]float32) (model.Merge, error) {
	adapted, err := adapted(p, d)
	if err != nil {
		return model.Merge{}, err
	}
	var seen, odds []float64
	for i, c := range d.Candidates {
		if logit, ok := logits[[2]int32{c.Source, c.Target}]; ok {
			seen, odds = append(seen, float64(logit)), append(odds, float64(adapted.Of(d.Probabilities[i])))
		}
	}
	merge, ok, err := fit.Judged(seen, odds)
	if ok || err != nil {
		return merge, err
	}
	return p.Plan.Judge.Merge, nil
}

// Judgement is a judge's logit of a pair that was in doubt, and the scorer's probability.
type Judgement struct{ Logit, Before float32 }
