package fit

import (
	"slices"
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/score"
	"bitextmine/score/feature"
)

// DefaultShare is the default share of sentences that have a translation. Comparable corpora have a few percent,
// crawled sites many more. An error by a factor of two shifts the log odds by 0.7.
const DefaultShare = 0.1

// Scorer fits a scorer on one or more sets of examples, which must be of one encoder. share is the expected share of
// the corpora's sentences that have a translation. The features in without get the weight 0.
func Scorer(name string, sets []*Set, share float64, without []string) (*score.Scorer, error) {
	if !(share > 0 && share < 1) {
		return nil, badinput.Errorf("share = %g must be between 0 and 1: the part of the corpora's sentences that has a translation", share)
	}
	var all Examples
	first := sets[0]
	for _, set := range sets {
		if set.Encoder != first.Encoder || set.K != first.K || set.Tokens != first.Tokens {
			return nil, badinput.Errorf("examples of encoder %s with k = %d and of %s with k = %d cannot make one scorer: make all with the same settings",
				first.Encoder.Name, first.K, set.Encoder.Name, set.K)
		}
		all.Add(set.Examples)
	}
	for _, unused := range without {
		at := slices.Index(feature.Names(), unused)
		if at < 0 {
			return nil, badinput.Errorf("without = %s is not a feature; the features are %s", unused, strings.Join(feature.Names(), ", "))
		}
		for i := range all.Values.Len() {
			all.Values.Of(i)[at] = 0 // a constant feature gets no weight
		}
	}
	scorer, err := all.fit(all.unpairedWeight(share))
	if err != nil {
		return nil, err
	}
	scorer.Share = share
	scorer.Name, scorer.Encoder, scorer.K, scorer.Tokens = name, first.Encoder, first.K, first.Tokens
	for _, set := range sets {
		scorer.FittedOn = append(scorer.FittedOn, set.Known)
	}
	return scorer, nil
}
