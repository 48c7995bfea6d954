package ems

import (
	"math/rand/v2"
	"slices"

	"bitextmine/train/data"
)

// mask returns both sides with one word masked in every sentence of two or more words. The seed and the step determine
// the words.
func (e *ems) mask(b *data.Batch) []data.Side {
	rng := rand.New(rand.NewPCG(e.Seed, uint64(b.Step)))
	views := make([]data.Side, 2)
	for at := range views {
		views[at] = b.Views[at]
		views[at].IDs = slices.Clone(b.Views[at].IDs)
		for i := range views[at].N {
			e.maskSentence(rng, views[at].Sentence(i))
		}
	}
	return views
}

func (e *ems) maskSentence(rng *rand.Rand, ids []int32) {
	if places := e.words.Places(ids); len(places) >= 2 {
		ids[places[rng.IntN(len(places))]] = e.Mask
	}
}

// masked returns the word of a sentence that its view masks, or nothing. The mask is a special token and so never a
// word itself.
func masked(sentence, view []int32) []int32 {
	for p, id := range sentence {
		if view[p] != id {
			return []int32{id}
		}
	}
	return nil
}
