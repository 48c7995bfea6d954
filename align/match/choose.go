package match

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"bitextmine/internal/spill"
)

// rounds is how often pairs are chosen: at first every document is a rival of every other one.
const rounds = 2

// choice is the state of choosing pairs among candidates.
type choice struct {
	documents  [2][]Document
	candidates [][2]int32
	each       func(do func(k int, found Bests)) error
	options    Options
	addresses  [2][]string
	meta       *metadata
	scores     []scores // one for each candidate
	order      []int32  // room for the order of candidates
	rivals     [2]*rivals
}

// scores are those of a candidate.
type scores struct {
	biMax, score float64
	preference   float64 // score, less what other documents have of the sentences
}

// Choose takes pairs from candidates, which are in order, the best first. each calls do with the best cosines of all
// candidates in their order; it is called several times. What grows with sentences and candidates is in room.
func Choose(
	ctx context.Context, room *spill.Arena, documents [2][]Document, candidates [][2]int32,
	each func(do func(k int, found Bests)) error, o Options,
) ([]Pair, error) {
	w := &choice{
		documents: documents, candidates: candidates, each: each, options: o, meta: newMetadata(documents),
		addresses: [2][]string{stripped(documents[0]), stripped(documents[1])},
	}
	var failed [4]error
	w.scores, failed[0] = spill.Make[scores](room, len(candidates))
	w.order, failed[1] = spill.Make[int32](room, len(candidates))
	for side := range w.rivals {
		w.rivals[side], failed[2+side] = newRivals(room, documents[side], side)
	}
	if err := errors.Join(failed[:]...); err != nil {
		return nil, err
	}
	var pairs []int32
	for round := range rounds {
		if err := w.prefer(ctx, round, pairs); err != nil {
			return nil, err
		}
		pairs = w.oneToOne()
	}
	chosen := make([]Pair, len(pairs))
	for i, k := range pairs {
		chosen[i] = w.pair(k)
	}
	slices.SortStableFunc(chosen, func(a, b Pair) int { return cmp.Compare(b.Score, a.Score) })
	return chosen, nil
}

// pair is a candidate with what its score is made of.
func (w *choice) pair(k int32) Pair {
	c := w.candidates[k]
	return Pair{
		Source: int(c[0]), Target: int(c[1]), Score: w.scores[k].score, BiMax: w.scores[k].biMax, SameURL: w.sameURL(c),
		Metadata: w.options.MetaBonus * w.meta.sum(c),
	}
}

func (w *choice) sameURL(c [2]int32) bool {
	return w.addresses[0][c[0]] != "" && w.addresses[0][c[0]] == w.addresses[1][c[1]]
}

// score computes a candidate's score.
func (w *choice) score(k int, found Bests) {
	c, s := w.candidates[k], &w.scores[k]
	s.biMax = found.biMax()
	if s.score = s.biMax; w.sameURL(c) {
		s.score += w.options.URLBonus
	}
	metadata := w.options.MetaBonus * w.meta.sum(c)
	s.score += metadata
}

// prefer computes the preference of every candidate by the pairs of the round before.
func (w *choice) prefer(ctx context.Context, round int, pairs []int32) error {
	var partner [2][]int32 // partner of each document by side; -1: none
	if round > 0 {
		partner = w.partners(pairs)
	}
	for _, r := range w.rivals {
		r.clear()
	}
	err := w.each(func(k int, found Bests) {
		if round == 0 {
			w.score(k, found)
		}
		for side, r := range w.rivals {
			r.add(w.candidates[k], found, partner[1-side])
		}
	})
	if err = errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	err = w.each(func(k int, found Bests) {
		c, s := w.candidates[k], &w.scores[k]
		s.preference = s.score - w.rivals[0].excess(c, found) - w.rivals[1].excess(c, found)
	})
	return errors.Join(err, ctx.Err())
}

// partners are the documents that those of each side are paired with; -1: none.
func (w *choice) partners(pairs []int32) (of [2][]int32) {
	for side := range of {
		of[side] = make([]int32, len(w.documents[side]))
		for d := range of[side] {
			of[side][d] = -1
		}
	}
	for _, k := range pairs {
		c := w.candidates[k]
		of[0][c[0]], of[1][c[1]] = c[1], c[0]
	}
	return of
}

// oneToOne takes candidates by preference, each document once. Ties are broken by the documents' numbers.
func (w *choice) oneToOne() (pairs []int32) {
	order := w.order[:0]
	for k := range w.scores {
		if !(w.scores[k].score < w.options.MinScore) {
			order = append(order, int32(k))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(w.scores[b].preference, w.scores[a].preference), cmp.Compare(a, b))
	})
	taken := [2][]bool{make([]bool, len(w.documents[0])), make([]bool, len(w.documents[1]))}
	for _, k := range order {
		c := w.candidates[k]
		if taken[0][c[0]] || taken[1][c[1]] {
			continue
		}
		taken[0][c[0]], taken[1][c[1]] = true, true
		pairs = append(pairs, k)
	}
	return pairs
}
