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
	all, err := join(sets, share)
	if err != nil {
		return nil, err
	}
	for _, unused := range without {
		at := feature.Index(unused)
		if at < 0 {
			return nil, badinput.Errorf("without = %s is not a feature; the features are %s", unused, strings.Join(feature.Names(), ", "))
		}
		for i := range all.Values.Len() {
			all.Values.Of(i)[at] = 0 // a constant feature gets no weight
		}
	}
	scorer, err := all.fit(nil, all.unpairedWeight(share))
	if err != nil {
		return nil, err
	}
	return named(scorer, name, share, sets), nil
}

// named adds to a scorer that was fitted without a base what it was fitted on.
func named(s *score.Scorer, name string, share float64, sets []*Set) *score.Scorer {
	first := sets[0]
	s.Share = share
	s.Name, s.Encoder, s.K, s.Tokens = name, first.Encoder, first.K, first.Tokens
	return described(s, sets)
}

// Refine fits what the strong encoder of two-stage mining adds to a scorer, on sets of examples with its cosines. All
// else of the scorer stays, also the share that it expects.
func Refine(base *score.Scorer, name string, sets []*Set) (*score.Scorer, error) {
	all, err := join(sets, base.Share)
	if err != nil {
		return nil, err
	}
	first := sets[0]
	switch {
	case first.Refine == nil:
		return nil, badinput.Errorf("the examples have no cosines of a strong encoder, which is all that is fitted where a scorer is the base: name it with --refine")
	case base.Encoder.Digest != first.Encoder.Digest || base.K != first.K:
		return nil, badinput.Errorf("the base was fitted on encoder %s with k = %d, the examples are of %s with k = %d: fit a scorer without a base",
			base.Encoder.Name, base.K, first.Encoder.Name, first.K)
	}
	scorer, err := all.fit(base, all.unpairedWeight(base.Share))
	if err != nil {
		return nil, err
	}
	scorer.Name = name
	return described(scorer, sets), nil
}

// described adds to a scorer what it was fitted on.
func described(s *score.Scorer, sets []*Set) *score.Scorer {
	if refine := sets[0].Refine; refine != nil {
		s.Refined.Encoder, s.Refined.Floor = refine.Encoder, refine.Floor
	}
	s.FittedOn = slices.Clone(s.FittedOn)
	for _, set := range sets {
		s.FittedOn = append(s.FittedOn, set.Known)
	}
	return s
}

// join puts the examples of sets together, which must be of one kind.
func join(sets []*Set, share float64) (*Examples, error) {
	if !(share > 0 && share < 1) {
		return nil, badinput.Errorf("share = %g must be between 0 and 1: the part of the corpora's sentences that has a translation", share)
	}
	all := &Examples{}
	first := sets[0]
	for _, set := range sets {
		if set.Encoder != first.Encoder || set.K != first.K || set.Tokens != first.Tokens {
			return nil, badinput.Errorf("examples of encoder %s with k = %d and of %s with k = %d cannot make one scorer: make all with the same settings",
				first.Encoder.Name, first.K, set.Encoder.Name, set.K)
		}
		if (set.Refine == nil) != (first.Refine == nil) || set.Refine != nil && *set.Refine != *first.Refine {
			return nil, badinput.Errorf("examples of two-stage mining with different strong encoders or floors cannot make one scorer: make all with the same --refine and --refine-floor")
		}
		all.Add(set.Examples)
	}
	return all, nil
}
