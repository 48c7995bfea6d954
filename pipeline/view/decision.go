package view

import (
	"context"
	"errors"
	"fmt"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/filter"
	"bitextmine/mine"
	"bitextmine/score"
)

// Decision is every candidate of a pair with its verdict, best first.
type Decision struct {
	score.Ranked // without a scorer, its candidates and strong cosines alone
	Lists        *mine.Lists
	Rejections   []filter.Rejection // of the candidates, whatever their scores; nil: no rule applies
	Verdicts     []mine.Verdict
	Kept         int
	Threshold    float64       // the one that was used: with a wanted precision it is found in the matching
	Scorer       *score.Scorer // nil: the margin decides
	Recall       Recall
}

// Decide scores and matches the candidates of both sides' neighbours: by the scorer of the plan, or by
// margin.
func (p *Pair) Decide(ctx context.Context, model *model.Model, options encode.Options) (_ *Decision, err error) {
	d := &Decision{Threshold: p.Plan.Settings.Threshold}
	if d.Lists, d.Scorer, err = p.neighbourhoods(ctx, &d.Recall); err != nil {
		return nil, err
	}
	if p.Plan.Settings.FindsThreshold() {
		if d.Threshold, err = p.findThreshold(ctx, d.Lists, model, options); err != nil {
			return nil, err
		}
	}
	if d.Scorer == nil {
		err = p.byMargin(ctx, d, options.Threads)
	} else {
		err = p.byScorer(ctx, d, model, options)
	}
	if err = errors.Join(err, p.lists.Err()); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// neighbourhoods reads the neighbours of both sides, as many as count for the plan's scorer or, without one, for the
// margin. found takes in the recall of the searches.
func (p *Pair) neighbourhoods(ctx context.Context, found *Recall) (_ *mine.Lists, scorer *score.Scorer, err error) {
	s := p.Plan.Settings
	k := s.K
	if s.Scored() {
		if scorer, err = p.scorer(); err != nil {
			return nil, nil, err
		}
		k = scorer.K
	}
	var sides [2]mine.Neighbours
	for side := range sides {
		if sides[side], err = p.Neighbours(ctx, side, found); err != nil {
			return nil, nil, err
		}
	}
	lists, err := mine.NewLists(sides[0], sides[1], k, mine.Margin(s.Margin))
	return lists, scorer, err
}

// byMargin decides by margin or, in two-stage mining, by its product with the strong cosine.
func (p *Pair) byMargin(ctx context.Context, d *Decision, threads int) error {
	s := p.Plan.Settings
	sources, targets, retrieval := p.Sentences[0].Len(), p.Sentences[1].Len(), mine.Retrieval(s.Retrieval)
	d.Candidates = d.Lists.Candidates()
	if s.Refine != "" {
		cosines, err := p.refine(ctx, d.Candidates)
		if err != nil {
			return err
		}
		refined := mine.Refine(d.Candidates, cosines)
		d.Candidates, d.Strong = refined.Candidates, refined.Cosines
	}
	if err := p.reject(ctx, d, threads); err != nil {
		return err
	}
	if s.Refine == "" {
		d.Verdicts = mine.Judge(d.Candidates, sources, targets, retrieval, d.Threshold)
	} else {
		d.Verdicts = mine.Refined{Candidates: d.Candidates, Cosines: d.Strong}.Judge(sources, targets, retrieval, d.Threshold)
	}
	for _, v := range d.Verdicts {
		if v == mine.Kept {
			d.Kept++
		}
	}
	return nil
}

func (p *Pair) byScorer(ctx context.Context, d *Decision, model *model.Model, options encode.Options) (err error) {
	var tokens score.Tokenizer
	if d.Scorer.Tokens {
		var closeTokens func() error
		if tokens, closeTokens, err = score.OpenTokens(model, options); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closeTokens()) }()
	}
	problem := p.Problem(d.Lists, tokens, options.Threads)
	if d.Ranked, err = problem.Apply(ctx, d.Scorer); err != nil {
		return fmt.Errorf("score candidates: %w", err)
	}
	if err := p.reject(ctx, d, options.Threads); err != nil {
		return err
	}
	d.Verdicts = d.Match(p.Sentences[0].Len(), p.Sentences[1].Len())
	if precision := p.Plan.Settings.Precision; precision > 0 {
		d.Threshold = score.ThresholdFor(d.Matched(d.Verdicts), precision)
	}
	d.Kept = d.Cut(d.Verdicts, d.Threshold)
	return nil
}

// Problem is what features of the pair's candidates are computed from; tokens may be nil.
func (p *Pair) Problem(lists *mine.Lists, tokens score.Tokenizer, threads int) score.Problem {
	problem := score.Problem{Languages: p.Codes(), Lists: lists, Tokens: tokens, Threads: threads, Read: p.Describe, Space: p.Space}
	if p.Plan.Settings.Refine != "" {
		problem.Strong = p.refine
	}
	return problem
}
