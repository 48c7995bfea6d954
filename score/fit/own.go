package fit

import (
	"context"
	"fmt"
	"slices"

	"bitextmine/mine"
	"bitextmine/score"
	"bitextmine/score/feature"
	"bitextmine/score/inject"
)

// ownGroup is the group of examples that are no known pairs' but the text's own. No fold leaves them out.
const ownGroup = -1

// ownSentences is the number of source sentences whose candidates a scorer is adapted to, about: those of more change
// little.
const ownSentences = 20000

// maxOwnWeight is the largest weight of one of the text's own candidates, relative to 1 for an example of a whole pair:
// few sentences do not outweigh the examples.
const maxOwnWeight = 3

// MinSentences is the smallest number of sentences on a side that a scorer is fitted to on the way: with fewer, the
// injected ones would be most of the text.
const MinSentences = 200

// autoShare is the share of sentences with a translation that a scorer fitted on the way expects: between the few
// percent of comparable corpora and the most of parallel ones. bench/results/scoring.md has what came of it.
const autoShare = 0.3

// Own returns the features of candidates of the host's own sentences, with nothing injected: of all of them or, where
// there are many sentences, of every nth source sentence. Sentences are in the order of their keys, so this is random.
func Own(ctx context.Context, host *inject.Host) (feature.Values, error) {
	lists, err := mine.NewLists(host.Lists[0], host.Lists[1], host.K, mine.Ratio)
	if err != nil {
		return nil, fmt.Errorf("candidates of the text's own: %w", err)
	}
	every := int32(len(host.Texts[0])/ownSentences + 1)
	problem := score.Problem{
		Languages: host.Languages, Lists: lists, Tokens: host.Tokens, Read: host.Read, Threads: host.Threads,
		Only: func(c *mine.Candidate) bool { return c.Source%every == 0 },
	}
	_, values, err := problem.Candidates(ctx)
	if err != nil {
		return nil, fmt.Errorf("candidates of the text's own: %w", err)
	}
	return values, nil
}

// OnTheWay fits the scorer of a run on the examples of a set and on its text's own candidates. What a scorer learns of
// vectors from known pairs holds in other text, too, but what it learns of lengths, marks or tokens holds in text of
// their kind. So the known pairs tell by the vectors which of the text's own candidates are translations, and these
// count as much as the known pairs when all features are fitted. They are few, and of one language: what is not of
// vectors stays near the weights of base, a scorer fitted on many, if the encoder has vectors of tokens as base's has.
func OnTheWay(set *Set, base *score.Scorer) (*score.Scorer, error) {
	all, err := join([]*Set{set}, autoShare)
	if err != nil {
		return nil, err
	}
	if set.Tokens {
		all.near = base
	}
	unpaired := all.unpairedWeight(autoShare)
	if err := addOwn(all, set.Own, unpaired); err != nil {
		return nil, err
	}
	scorer, err := all.fit(nil, unpaired)
	if err != nil {
		return nil, err
	}
	return named(scorer, score.Auto, autoShare, []*Set{set}), nil
}

// addOwn adds candidates of the text itself, which are true if they probably are by the features of vectors.
func addOwn(e *Examples, values feature.Values, unpaired float64) error {
	byVectors, err := fitVectors(e, unpaired)
	if err != nil {
		return err
	}
	n := values.Len()
	for i := range n {
		e.True = append(e.True, byVectors.Logit(values.Of(i)[:feature.OfVectors]) > 0)
	}
	e.Values = append(e.Values, values...)
	e.Group = append(e.Group, slices.Repeat([]int32{ownGroup}, n)...)
	e.Unpaired, e.NearMiss = append(e.Unpaired, make([]bool, n)...), append(e.NearMiss, make([]bool, n)...)
	if e.Strong != nil {
		e.Strong = append(e.Strong, slices.Repeat([]float32{mine.NotRefined}, n)...)
	}
	if e.Labelled != nil {
		e.Labelled = append(e.Labelled, make([]bool, n)...)
	}
	return nil
}

// fitVectors fits a scorer on the features of vectors only.
func fitVectors(e *Examples, unpaired float64) (*score.Scorer, error) {
	rows := make([]int, len(e.True))
	for i := range rows {
		rows[i] = i
	}
	s := &score.Scorer{}
	var err error
	s.Intercept, s.Terms, err = e.fitRows(rows, e.weight(unpaired), feature.All[:feature.OfVectors], func(i int) []float32 {
		return e.Values.Of(i)[:feature.OfVectors]
	})
	return s, err
}

// ownWeight is the weight of each of the text's own candidates: together they weigh as much as the known pairs'
// examples, of the given weights, if no single one gets more than maxOwnWeight.
func ownWeight(e *Examples, weight func(i int) float64) float64 {
	known, own := 0.0, 0
	for i, group := range e.Group {
		if group == ownGroup {
			own++
		} else {
			known += weight(i)
		}
	}
	return min(maxOwnWeight, known/float64(max(1, own)))
}
