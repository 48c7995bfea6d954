package view

import (
	"context"
	"errors"
	"fmt"

	"bitextmine/encode"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/score"
)

// Decision is every candidate of a pair with its verdict, best first.
type Decision struct {
	score.Ranked // without a scorer, its candidates alone
	Lists        *mine.Lists
	Verdicts     []mine.Verdict
	Kept         int
	Threshold    float64       // the one that was used: with a wanted precision it is found in the matching
	Scorer       *score.Scorer // nil: the margin decides
	Recall       Recall
}

// Decide scores and matches the candidates of both sides' neighbours: by the scorer of the plan, or by margin.
func (p *Pair) Decide(ctx context.Context, model *encode.Model, options encode.Options) (*Decision, error) {
	d := &Decision{Threshold: p.Plan.Settings.Threshold}
	var lists [2]mine.Neighbours
	for side := range lists {
		var err error
		if lists[side], err = p.Neighbours(ctx, side, &d.Recall); err != nil {
			return nil, err
		}
	}
	if p.Plan.Settings.Scorer == "" {
		return d, p.byMargin(d, lists)
	}
	if err := p.byScorer(ctx, d, lists, model, options); err != nil {
		return nil, err
	}
	return d, nil
}

func (p *Pair) byMargin(d *Decision, lists [2]mine.Neighbours) (err error) {
	s := p.Plan.Settings
	if d.Lists, err = mine.NewLists(lists[0], lists[1], s.K, mine.Margin(s.Margin)); err != nil {
		return err
	}
	d.Candidates = d.Lists.Candidates()
	d.Verdicts = mine.Judge(d.Candidates, p.Sentences[0].Len(), p.Sentences[1].Len(), mine.Retrieval(s.Retrieval), s.Threshold)
	for _, v := range d.Verdicts {
		if v == mine.Kept {
			d.Kept++
		}
	}
	return nil
}

func (p *Pair) byScorer(ctx context.Context, d *Decision, lists [2]mine.Neighbours, model *encode.Model, options encode.Options) (err error) {
	s := p.Plan.Settings
	if d.Scorer, err = score.Decode(p.Plan.Scorer); err != nil {
		return badinput.Errorf("the plan's scorer: %w; make the plan again with mine run", err)
	}
	if d.Lists, err = mine.NewLists(lists[0], lists[1], d.Scorer.K, mine.Margin(s.Margin)); err != nil {
		return err
	}
	tokens, closeTokens, err := score.OpenTokens(model, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTokens()) }()
	problem := score.Problem{Languages: p.Codes(), Lists: d.Lists, Tokens: tokens, Threads: options.Threads, Read: p.Describe}
	if d.Ranked, err = problem.Apply(ctx, d.Scorer); err != nil {
		return fmt.Errorf("score candidates: %w", err)
	}
	d.Verdicts = d.Match(p.Sentences[0].Len(), p.Sentences[1].Len())
	if s.Precision > 0 {
		d.Threshold = score.ThresholdFor(d.Matched(d.Verdicts), s.Precision)
	}
	d.Kept = d.Cut(d.Verdicts, d.Threshold)
	return nil
}
