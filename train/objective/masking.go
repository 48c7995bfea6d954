package objective

import (
	"fmt"
	"math/rand/v2"

	"bitextmine/train/data"
)

// Preparer is an objective that changes a batch before it is encoded. The trainer calls Prepare once for each batch, then encodes it, and asks for its
// Inputs before it prepares another.
type Preparer interface {
	// Prepare changes the ids of the batch, which it may, as a batch's slices are its own.
	Prepare(b *data.Batch)
}

// masked is what Prepare took out of a batch.
type masked struct {
	batch *data.Batch
	sides [2][]hidden // source, target; nil before
}

// hidden is a token that was masked.
type hidden struct{ place, id int32 }

// of is the id masked in sentence i of a side, or -1.
func (m masked) of(side, i int) int32 {
	if m.sides[side] == nil {
		return -1
	}
	return m.sides[side][i].id
}

// Prepare masks one word of every sentence that has two or more. Only ugt does so. The seed and the step choose the words.
func (e *ems) Prepare(b *data.Batch) {
	if e.s.Reconstruction != UGT {
		return
	}
	rng := rand.New(rand.NewPCG(e.s.Seed, uint64(b.Step)))
	e.masked = masked{batch: b}
	for at, side := range []*data.Side{&b.Source, &b.Target} {
		for i := range side.N {
			e.masked.sides[at] = append(e.masked.sides[at], e.mask(rng, side.IDs[i*side.Length:][:side.Lengths[i]]))
		}
	}
}

func (e *ems) mask(rng *rand.Rand, ids []int32) hidden {
	var places []int32
	for p, id := range ids {
		if int(id) < len(e.special) && !e.special[id] {
			places = append(places, int32(p))
		}
	}
	if len(places) < 2 {
		return hidden{-1, -1}
	}
	place := places[rng.IntN(len(places))]
	h := hidden{place, ids[place]}
	ids[place] = e.s.Mask
	return h
}

// sentence is sentence i of a side without padding and as it was before it was masked.
func (e *ems) sentence(side *data.Side, at, i int) ([]int32, error) {
	ids := append([]int32(nil), side.IDs[i*side.Length:][:side.Lengths[i]]...)
	if e.masked.of(at, i) >= 0 {
		ids[e.masked.sides[at][i].place] = e.masked.sides[at][i].id
	}
	for _, id := range ids {
		if id < 0 || int(id) >= e.s.Vocabulary {
			return nil, fmt.Errorf("a batch has the token %d but the vocabulary has %d", id, e.s.Vocabulary)
		}
	}
	return ids, nil
}
