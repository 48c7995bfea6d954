package eval

import (
	"context"
	"slices"

	"bitextmine/corpus"
	"bitextmine/mine"
	"bitextmine/score"
)

// ScoredExplanation says what a scorer made of a pair.
type ScoredExplanation struct {
	Candidate   bool // one of the two sentences has the other among its neighbours; if not, the scorer never saw the pair
	Probability float32
	Intercept   float64
	Parts       []score.Contribution // to the log odds, the largest first
	// Winners are the likelier pairs that took one of its sentences; Score is their probability.
	Winners []ExplainedPair
}

// ExplainScored explains a pair of the pool's sentences, which Explain has found there, as a run with the scorer would judge it.
func (p *Pool) ExplainScored(ctx context.Context, scoring *Scoring, pair LanguagePair, source, target string) (ScoredExplanation, error) {
	var e ScoredExplanation
	lists, err := mine.NewLists(p.Lists.Source, p.Lists.Target, scoring.Scorer.K, p.Lists.Margin)
	if err != nil {
		return e, err
	}
	problem := score.Problem{
		Languages: [2]string{pair.Source, pair.Target}, Lists: lists, Tokens: scoring.Tokens, Threads: scoring.Threads,
		Read: score.Texts([2][]string{p.source.texts, p.target.texts}),
	}
	ranked, err := problem.Apply(ctx, scoring.Scorer)
	if err != nil {
		return e, err
	}
	x, y := p.source.rowOf[corpus.Normalise(source)], p.target.rowOf[corpus.Normalise(target)]
	at := slices.IndexFunc(ranked.Candidates, func(c mine.Candidate) bool { return c.Source == x && c.Target == y })
	if at < 0 {
		return e, nil
	}
	e.Candidate, e.Probability, e.Intercept = true, ranked.Probabilities[at], scoring.Scorer.Intercept
	e.Parts = scoring.Scorer.Contributions(ranked.Values.Of(at))
	verdicts := ranked.Match(p.source.rows.N, p.target.rows.N)
	for i, c := range ranked.Candidates[:at] {
		if verdicts[i] == mine.Kept && (c.Source == x || c.Target == y) {
			e.Winners = append(e.Winners, ExplainedPair{p.source.texts[c.Source], p.target.texts[c.Target], ranked.Probabilities[i], verdicts[i]})
		}
	}
	return e, nil
}
