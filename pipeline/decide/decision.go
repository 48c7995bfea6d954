// Package decide scores the candidates of a pair of languages, rejects by rules and labels, matches one-to-one and
// cuts. It reads what the run has computed through package view, and encodes nothing. The stages of matching and of
// two-stage mining, explanations, evidence and the page all decide here, so that they agree.
//
// Probabilities are adapted to the text (score.Adapt) once the candidates are matched, and the threshold is found among
// them. docs/scoring.md says how.
package decide

import (
	"context"
	"errors"
	"fmt"

	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/filter"
	"bitextmine/mine"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/view"
	"bitextmine/score"
	"bitextmine/score/fit"
)

// Decision is every candidate of a pair with its verdict, best first.
type Decision struct {
	score.Ranked                    // only candidates and strong cosines if no scorer decides
	Lists        *mine.Lists        // nil: a scorer decides
	Rejections   []filter.Rejection // each candidate's, whatever its score; nil: no rule applies
	Verdicts     []mine.Verdict
	Kept         int
	Threshold    float64           // the one that was used, given or found
	Cut          *record.CutReport // nil: the margin decides above a threshold that was given
	Scorer       *score.Scorer     // has the weights that decided; nil: the margin decides
	Recall       view.Recall
	Texts        *Texts // texts of the sentences that were read
	// Judged are the candidates that a judge gave a logit, by their sentences; nil: there is no judge.
	Judged map[[2]int32]Judgement
	Merge  model.Merge // merges the judge's logits with the scorer's log odds
}

// Pair scores and matches the candidates of both sides' neighbours, by the plan's scorer or by margin.
func Pair(ctx context.Context, p *view.Pair, model *model.Model, options encode.Options) (_ *Decision, err error) {
	by := newDecider(p, model, options)
	d := &Decision{Threshold: p.Plan.Settings.Threshold, Texts: by.texts}
	if d.Recall, err = p.Recall(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if !p.Plan.Settings.Scored() {
		err = by.byMargin(ctx, d)
	} else if d.Scorer, err = scorerFor(by); err == nil {
		err = by.scorer(ctx, d)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// byMargin decides by the margin, from the neighbours of both sides.
func (p *decider) byMargin(ctx context.Context, d *Decision) (err error) {
	if d.Lists, err = listsOf(ctx, p.Pair, p.Plan.Settings.K); err != nil {
		return err
	}
	if p.Plan.Settings.FindsThreshold() {
		if err := p.findThreshold(ctx, d); err != nil {
			return err
		}
	}
	return p.margin(ctx, d)
}

// decider holds the state that the ways of deciding share.
type decider struct {
	*view.Pair
	model   *model.Model
	options encode.Options
	texts   *Texts
	known   bool // the encoder was trained on both languages, or the scorer was fitted to the text

	weighed bool // the probabilities have what the strong encoder of two-stage mining adds
}

func newDecider(p *view.Pair, model *model.Model, options encode.Options) *decider {
	by := &decider{Pair: p, model: model, options: options, texts: newTexts(p, options.Threads)}
	by.known = listed(model.Languages, p.Codes())
	return by
}

// neighbourhoods reads the neighbours of both sides, as many as count for the plan's scorer or, without one, for the
// margin.
func neighbourhoods(ctx context.Context, p *view.Pair) (_ *mine.Lists, scorer *score.Scorer, err error) {
	if !p.Plan.Settings.Scored() {
		lists, err := listsOf(ctx, p, p.Plan.Settings.K)
		return lists, nil, err
	}
	if scorer, err = planScorer(p); err != nil {
		return nil, nil, err
	}
	lists, _, err := ScoredLists(ctx, p, scorer.K)
	return lists, scorer, err
}

// listsOf reads the k nearest neighbours of both sides.
func listsOf(ctx context.Context, p *view.Pair, k int) (*mine.Lists, error) {
	sides, err := neighboursOf(ctx, p)
	if err != nil {
		return nil, err
	}
	return mine.NewListsIn(p.Room(), sides[0], sides[1], k, mine.Margin(p.Plan.Settings.Margin))
}

// ScoredLists reads the k nearest neighbours of both sides for a scorer, [WithoutCopies], and returns the copies.
func ScoredLists(ctx context.Context, p *view.Pair, k int) (lists *mine.Lists, copies [][2]int32, err error) {
	sides, err := neighboursOf(ctx, p)
	if err == nil {
		copies, err = WithoutCopies(ctx, p, sides)
	}
	if err != nil {
		return nil, nil, err
	}
	lists, err = mine.NewListsIn(p.Room(), sides[0], sides[1], k, mine.Margin(p.Plan.Settings.Margin))
	return lists, copies, err
}

func neighboursOf(ctx context.Context, p *view.Pair) (sides [2]mine.Neighbours, err error) {
	for side := range sides {
		if sides[side], err = p.Neighbours(ctx, side); err != nil {
			return sides, err
		}
	}
	return sides, nil
}

// margin decides by margin or, in two-stage mining, by its product with the strong cosine.
func (p *decider) margin(ctx context.Context, d *Decision) error {
	s := p.Plan.Settings
	sources, targets, retrieval := p.Sentences[0].Len(), p.Sentences[1].Len(), mine.Retrieval(s.Retrieval)
	d.Candidates = d.Lists.Candidates()
	if s.Refine != "" {
		strong, err := strongOf(ctx, p.Pair, d.Candidates, 0, p.options.Threads)
		if err != nil {
			return err
		}
		refined := mine.Refine(d.Candidates, strong.Cosines)
		d.Candidates, d.Cosines = refined.Candidates, refined.Cosines
	}
	rejecting, err := p.newRejecting(ctx, d)
	if err != nil {
		return err
	}
	if _, err := rejecting.next(ctx, d); err != nil {
		return err
	}
	if s.Refine == "" {
		d.Verdicts = mine.Judge(d.Candidates, sources, targets, retrieval, d.Threshold)
	} else {
		d.Verdicts = mine.Refined{Candidates: d.Candidates, Cosines: d.Cosines}.Judge(sources, targets, retrieval, d.Threshold)
	}
	for _, v := range d.Verdicts {
		if v == mine.Kept {
			d.Kept++
		}
	}
	return nil
}

// scorer decides by the scorer's probabilities, merged with a judge's logits if there is one and adapted to the text.
func (p *decider) scorer(ctx context.Context, d *Decision) error {
	if err := p.rank(ctx, d); err != nil {
		return err
	}
	if p.Plan.Judge != nil && p.Plan.Settings.Scored() {
		if err := p.judged(ctx, d); err != nil {
			return err // Pair closes the decision
		}
	}
	return p.cut(ctx, d)
}

// rank gives the candidates the scorer's probabilities, by weights that follow the text, and in two-stage mining by
// what the strong encoder says.
func (p *decider) rank(ctx context.Context, d *Decision) error {
	err := p.rankFirst(ctx, d)
	if err == nil && p.Plan.Settings.RefineDoubt > 0 {
		err = p.weigh(ctx, d)
	}
	return err
}

// rankFirst gives the candidates the scorer's probabilities, by weights that follow the text. Only a scorer that was
// fitted with the strong encoder of two-stage mining looks at what that says.
func (p *decider) rankFirst(ctx context.Context, d *Decision) error {
	candidates, values, err := candidatesOf(ctx, p.Pair)
	if err != nil {
		return err
	}
	scorer := d.Scorer
	if p.model.Tokens.Output == "" && scorer.Tokens {
		scorer = scorer.WithoutTokens()
	}
	var strong score.Strong
	if scorer.Refined != nil {
		strong, err = strongOf(ctx, p.Pair, candidates, 0, p.options.Threads)
	}
	if err == nil {
		d.Ranked, err = scorer.Rank(p.Room(), candidates, values, strong)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("score candidates: %w", err), values.Close())
	}
	if d.Scorer = d.Ranked.Scorer(); p.known && d.Scorer.Refined == nil {
		d.Scorer, err = fit.ToText(&d.Ranked, p.Sentences[0].Len(), p.Sentences[1].Len(), p.texts.of(ctx))
	}
	return err
}

// Problem returns the inputs of the features of the pair's candidates; tokens may be nil.
func Problem(p *view.Pair, lists *mine.Lists, tokens score.Tokenizer, threads int) score.Problem {
	problem := score.Problem{Languages: p.Codes(), Lists: lists, Tokens: tokens, Threads: threads, Space: p.Space}
	problem.Read = func(ctx context.Context, side int, into *score.SideBuilder) error {
		return Describe(ctx, p, side, into)
	}
	if p.Plan.Settings.Refine != "" && p.Plan.Settings.RefineDoubt == 0 { // else the run learns what it adds
		problem.Strong = func(ctx context.Context, candidates []mine.Candidate) (score.Strong, error) {
			return strongOf(ctx, p, candidates, 0, threads)
		}
	}
	return problem
}

// Margins sets pairs of sentences, given by the keys of either side, against their neighbourhoods in the run. It reads
// the run's vectors and neighbour lists and encodes nothing. A pair has nil if the run's text lacks one of its
// sentences.
func Margins(ctx context.Context, p *view.Pair, keys [2][]corpus.Key) (_ []*mine.Candidate, err error) {
	var numbers [2][]int32
	for side := range numbers {
		if numbers[side], err = p.Numbers(ctx, side, keys[side]); err != nil {
			return nil, err
		}
	}
	lists, _, err := neighbourhoods(ctx, p)
	if err != nil {
		return nil, err
	}
	vectors := p.OpenVectors()
	defer func() { err = errors.Join(err, vectors.Close()) }()
	out := make([]*mine.Candidate, len(numbers[0]))
	for i := range out {
		source, target := numbers[0][i], numbers[1][i]
		if source < 0 || target < 0 {
			continue
		}
		cosine, err := vectors.Cosine(ctx, source, target)
		if err != nil {
			return nil, err
		}
		c := lists.Candidate(source, target, cosine)
		out[i] = &c
	}
	return out, nil
}
