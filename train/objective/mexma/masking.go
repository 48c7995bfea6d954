package mexma

import (
	"math"
	"math/rand/v2"
	"slices"

	"bitextmine/train/data"
)

// masking is a batch as it is encoded: the clean sides, then masked copies, source before target. Without symmetry it
// is one clean and one masked side, and for each pair a lot decides which sentence is in which.
type masking struct {
	views  []data.Side
	hidden []hidden // the masked tokens of each masked view
}

// hidden are the masked tokens of a view, also those that BERT's replacement leaves as they are.
type hidden struct {
	rows, places []int
	ids          []int32 // the original tokens
}

// mask masks a batch. The seed and the step determine it.
func (m *mexma) mask(b *data.Batch) masking {
	rng := rand.New(rand.NewPCG(m.Seed, uint64(b.Step)))
	clean := []data.Side{b.Views[data.SourceView], b.Views[data.TargetView]}
	toMask := clean
	if !m.Symmetric {
		first, second := swapped(rng, clean[0], clean[1])
		clean, toMask = []data.Side{first}, []data.Side{second}
	}
	out := masking{views: slices.Clone(clean)}
	for _, side := range toMask {
		side.IDs = slices.Clone(side.IDs)
		var h hidden
		for i := range side.N {
			ids := side.Sentence(i)
			for _, p := range m.lot(rng, ids) {
				h.rows, h.places, h.ids = append(h.rows, i), append(h.places, p), append(h.ids, ids[p])
				ids[p] = m.replacement(rng, ids[p])
			}
		}
		out.views, out.hidden = append(out.views, side), append(out.hidden, h)
	}
	return out
}

// lot draws the places of a sentence that are masked: round(masking x words) of them, at least one.
func (m *mexma) lot(rng *rand.Rand, sentence []int32) []int {
	places := m.words.Places(sentence)
	if len(places) == 0 {
		return nil
	}
	count := max(1, int(math.Round(m.Masking*float64(len(places)))))
	for i := range count { // the first steps of a Fisher-Yates shuffle
		j := i + rng.IntN(len(places)-i)
		places[i], places[j] = places[j], places[i]
	}
	slices.Sort(places[:count])
	return places[:count]
}

// replacement is the token in place of a masked one.
func (m *mexma) replacement(rng *rand.Rand, id int32) int32 {
	if m.Replacement == Mask {
		return m.Training.Mask
	}
	switch draw := rng.IntN(10); {
	case draw < 8:
		return m.Training.Mask
	case draw == 8:
		return m.anyWord(rng)
	default:
		return id
	}
}

// anyWord is a random token that is a word.
func (m *mexma) anyWord(rng *rand.Rand) int32 {
	for {
		if id := rng.Int32N(int32(m.Vocabulary)); m.words.Has(id) {
			return id
		}
	}
}

// swapped exchanges the sentences of about half of the pairs.
func swapped(rng *rand.Rand, a, b data.Side) (data.Side, data.Side) {
	first, second := blank(a.N, max(a.Length, b.Length)), blank(a.N, max(a.Length, b.Length))
	for i := range a.N {
		x, y := a, b
		if rng.IntN(2) == 1 {
			x, y = b, a
		}
		put(first, i, x)
		put(second, i, y)
	}
	return first, second
}

func blank(n, length int) data.Side {
	return data.Side{N: n, Length: length, IDs: make([]int32, n*length), Lengths: make([]int32, n)}
}

// put copies sentence i of a side.
func put(to data.Side, i int, from data.Side) {
	to.Lengths[i] = int32(copy(to.IDs[i*to.Length:(i+1)*to.Length], from.Sentence(i)))
}
