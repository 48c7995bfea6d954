package decide

import (
	"context"
	"errors"
	"slices"

	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/filter"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/pipeline/view"
	"bitextmine/score"
)

// Explanation says why a pair has its score and why it is bitext or not.
type Explanation struct {
	Score, Cosine          float32
	SourceMean, TargetMean float32
	SourceRank, TargetRank uint8 // ranks, 0 the first; mine.Unranked: the partner is not among the k nearest
	Source, Target         ExplainedSide
	// Candidate says whether the pair was looked at: by margin, if one of the two sentences proposed it; by a scorer,
	// if one has the other among its neighbours.
	Candidate         bool
	Forward, Backward bool         // which side proposed it
	Verdict           mine.Verdict // a candidate's verdict
	Rejection         filter.Rejection
	Threshold         float64 // that was used
	// Product is, in two-stage mining, the strong cosine times the margin, which decides unless a scorer does; nil where
	// the strong encoder did not see the candidate.
	Product      *float32
	RefineCosine float32
	RefineFloor  float64 // 0: one encoder
	// Winners are the better pairs that took one of its sentences.
	Winners []ExplainedPair

	Scored        bool // a scorer decides: what follows is its
	Probability   float32
	Intercept     float64
	Contributions []score.Contribution // parts of the scorer's log odds, the largest first
	Adapted       float64              // what the text's share of translations adds to them
	Judged        *Judgement           // nil: no judge saw the pair
	ByJudge       float64              // what merging the judge's logit adds to the log odds
}

// ExplainedSide is one sentence of the pair and its neighbourhood.
type ExplainedSide struct {
	Text       string
	Neighbours []ExplainedNeighbour // the k nearest, nearest first
	// Best is the place of the neighbour of the highest margin, which the sentence proposes; -1 without neighbours.
	Best int
}

// ExplainedNeighbour is one of the k nearest sentences of the other side.
type ExplainedNeighbour struct {
	Text    string
	Cosine  float32
	Score   float32 // the margin of the pair with it
	Partner bool    // it is the other sentence of the pair
}

// ExplainedPair is another pair, by its texts. Score is its probability where a scorer decides, else what is set
// against the threshold: its margin or, in two-stage mining, the product.
type ExplainedPair struct {
	Source, Target string
	Score          float32
}

// Explainer explains pairs of sentences of a run.
type Explainer struct {
	pair     *view.Pair
	decision *Decision
	lists    *mine.Lists
	texts    [2][]string // normalised, by sentence number
}

// NewExplainer reads what explanations need. It decides again from the stored neighbours, and encodes nothing. Files
// stay open until Close.
func NewExplainer(ctx context.Context, p *view.Pair, model *model.Model, options encode.Options) (_ *Explainer, err error) {
	x := &Explainer{pair: p}
	for side := range x.texts {
		if x.texts[side], err = p.Texts(ctx, side); err != nil {
			return nil, err
		}
	}
	if x.lists, _, err = neighbourhoods(ctx, p); err != nil {
		return nil, err
	}
	if x.decision, err = Pair(ctx, p, model, options); err != nil {
		return nil, err
	}
	return x, nil
}

// Close closes what explanations are read from.
func (x *Explainer) Close() error { return x.decision.Close() }

// Explain explains a pair of sentences.
func (x *Explainer) Explain(ctx context.Context, source, target string) (*Explanation, error) {
	var at [2]int32
	for side, text := range [2]string{source, target} {
		if at[side] = int32(slices.Index(x.texts[side], corpus.Normalise(text))); at[side] < 0 {
			language := x.pair.Language(side)
			leftOut := ""
			if inputs := language.Inputs; len(inputs) > 0 && inputs[0].Exclude != nil {
				leftOut = ", unless it is one of those in " + inputs[0].Exclude.Path + ", which --exclude left out"
			}
			return nil, badinput.Errorf("the %s text of the run does not hold the sentence %q: give the sentence as it stands there%s", language.Code, text, leftOut)
		}
	}
	vectors := x.pair.OpenVectors()
	cosine, err := vectors.Cosine(ctx, at[0], at[1])
	if err = errors.Join(err, vectors.Close()); err != nil {
		return nil, err
	}
	return x.explain(at[0], at[1], cosine)
}

func (x *Explainer) explain(source, target int32, cosine float32) (*Explanation, error) {
	c := x.lists.Candidate(source, target, cosine)
	e := &Explanation{
		Score: c.Score, Cosine: c.Cosine, SourceMean: c.SourceMean, TargetMean: c.TargetMean, SourceRank: c.SourceRank, TargetRank: c.TargetRank,
		Source: x.side(0, source, target), Target: x.side(1, target, source),
		Threshold: x.decision.Threshold, Scored: x.decision.Scorer != nil,
		RefineFloor: x.pair.Plan.Settings.RefineFloor,
	}
	return e, x.verdict(e, source, target)
}

// side is sentence i of a side.
func (x *Explainer) side(side int, i, partner int32) ExplainedSide {
	lists := x.lists
	out := ExplainedSide{Text: x.texts[side][i], Best: -1}
	ids, cosines := [2]mine.Neighbours{lists.Source, lists.Target}[side].Row(int(i))
	for at, id := range ids[:lists.K] {
		if id == mine.None {
			break
		}
		n := ExplainedNeighbour{Text: x.texts[1-side][id], Cosine: cosines[at], Partner: id == partner}
		pair := [2]int32{i, id}
		if side == 1 {
			pair = [2]int32{id, i}
		}
		c := lists.Candidate(pair[0], pair[1], n.Cosine)
		n.Score = c.Score
		out.Neighbours = append(out.Neighbours, n)
		if out.Best < 0 || n.Score > out.Neighbours[out.Best].Score {
			out.Best = at
		}
	}
	return out
}

// verdict finds the pair among the candidates, and the pairs that took its place.
func (x *Explainer) verdict(e *Explanation, source, target int32) error {
	d := x.decision
	at := slices.IndexFunc(d.Candidates, func(c mine.Candidate) bool { return c.Source == source && c.Target == target })
	if at >= 0 {
		e.Candidate, e.Verdict = true, d.Verdicts[at]
		if d.Rejections != nil {
			e.Rejection = d.Rejections[at]
		}
		e.Forward, e.Backward = d.Candidates[at].Forward, d.Candidates[at].Backward
		if d.Seen(at) {
			product := d.Cosines[at] * e.Score
			e.Product, e.RefineCosine = &product, d.Cosines[at]
		}
		if e.Scored {
			e.Probability = d.Probabilities[at]
			values, err := d.Of(at)
			if err != nil {
				return err
			}
			e.Intercept, e.Contributions = d.Scorer.Contributions(values)
			e.Adapted = score.Odds(float64(e.Probability)) - e.Intercept
			for _, part := range e.Contributions {
				e.Adapted -= part.Logit
			}
			if j, ok := d.Judged[[2]int32{source, target}]; ok {
				before := score.Odds(float64(j.Before))
				e.Judged, e.ByJudge = &j, d.Merge.Odds(before, float64(j.Logit))-before
				e.Adapted -= e.ByJudge
			}
		}
		if e.Verdict != mine.Taken {
			return nil
		}
	} else if e.Scored && leavesCopiesOut(x.pair) && filter.Copied(x.texts[0][source], x.texts[1][target]) {
		e.Verdict, e.Rejection = mine.Rejected, filter.Untranslated // no candidate, see WithoutCopies
		return nil
	}
	for i, c := range d.Candidates {
		if c.Source != source && c.Target != target || !x.won(i, at) {
			continue
		}
		one := ExplainedPair{x.texts[0][c.Source], x.texts[1][c.Target], c.Score}
		if e.Scored {
			one.Score = d.Probabilities[i]
		}
		e.Winners = append(e.Winners, one)
	}
	return nil
}

// won says whether candidate i, which shares a sentence with candidate at, took it: at is -1 for a pair that is no
// candidate.
func (x *Explainer) won(i, at int) bool {
	if at < 0 {
		return x.decision.Verdicts[i] == mine.Kept
	}
	v := x.decision.Verdicts[i]
	return i < at && v != mine.Taken && v != mine.Rejected
}
