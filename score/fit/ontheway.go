package fit

import (
	"bitextmine/encode/model"
	"bitextmine/score"
)

// MinSentences is the smallest number of sentences on a side that a scorer is fitted to on the way: with fewer, the
// injected ones would be most of the text.
const MinSentences = 200

// autoShare is the share of sentences with a translation that a scorer fitted on the way expects: between the few
// percent of comparable corpora and the most of parallel ones. bench/results/scoring.md has what came of it.
const autoShare = 0.3

// OnTheWay fits the scorer of a run on a set of examples. With a strong encoder beside one that the program has a
// scorer for, that scorer stays but for its share, and what the strong one adds is fitted.
func OnTheWay(set *Set, encoder *model.Model) (*score.Scorer, error) {
	sets := []*Set{set}
	ships, err := score.Ships(encoder)
	if err != nil {
		return nil, err
	}
	if !ships {
		return adapted(set)
	}
	base, _, err := score.Load(score.Default, set.K, encoder)
	if err != nil {
		return nil, err
	}
	base.Share = autoShare
	return Refine(base.Scorer, score.Auto, sets)
}
