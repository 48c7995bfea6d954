package score

import (
	"cmp"
	"math"
	"slices"

	"bitextmine/internal/heaps"
	"bitextmine/score/feature"
)

// Of short sentences other features tell translations than of long ones: there are few tokens to cover, and neighbours
// say less. Terms may have weights for these. Their log odds are not comparable with those of long candidates, among
// which wrong ones lie elsewhere, so they only decide the order of candidates of one length: these share their
// probabilities out among themselves anew. Weights that follow a text (fit.ToText) know how long its sentences are, and
// are taken as they are.
//
// Length is the number of tokens of the shorter sentence. Up to fullyShort the weights count in full, from longEnough
// on not at all: of 16 and 24, 16 is better on most texts (bench/results/scoring-2026-11-29.md).
const (
	fullyShort = 4
	longEnough = 16
)

var tokens = feature.Index("tokens")

// Shortness is how much the weights for short candidates count, from 0 to 1, by a candidate's values.
func Shortness(values []float32) float64 {
	low, high := math.Log1p(fullyShort), math.Log1p(longEnough)
	return max(0, min(1, (high-math.Log1p(length(values)))/(high-low)))
}

// length is the number of tokens of the shorter sentence, which the feature has the logarithm of.
func length(values []float32) float64 { return math.Round(math.Expm1(float64(values[tokens]))) }

// varies reports whether the order of short candidates has weights of its own.
func (s *Scorer) varies() bool {
	return s.Tokens && s.Refined == nil && !s.Followed && slices.ContainsFunc(s.Terms, func(t Term) bool { return t.Short != 0 })
}

// A key has the length in its upper 4 bits, then 28 bits of the log odds, then the candidate's place.
const (
	lengthShift = 60
	placeBits   = 32
)

// shortKey is a number that is larger for a candidate of more tokens, and of as many for one with higher log odds. A
// candidate that is not short has none.
func (s *Scorer) shortKey(place int, values []float32) (key uint64, ok bool) {
	z, short := 0.0, Shortness(values)
	if short == 0 {
		return 0, false
	}
	for i := range s.Terms {
		t := &s.Terms[i]
		z += (t.Weight + short*t.Short) * t.Standard(float64(values[i]))
	}
	return uint64(length(values))<<lengthShift | uint64(heaps.Bits(float32(z)))>>4<<placeBits | uint64(place), true
}

// deal shares the probabilities of the candidates of each length out among them, in the order of their keys.
func (r *Ranked) deal(keys []uint64) {
	slices.SortFunc(keys, func(a, b uint64) int {
		if a>>placeBits != b>>placeBits {
			return cmp.Compare(a, b)
		}
		return r.Candidates[uint32(b)].Compare(r.Candidates[uint32(a)])
	})
	for lo := 0; lo < len(keys); {
		hi := lo
		for ; hi < len(keys) && keys[hi]>>lengthShift == keys[lo]>>lengthShift; hi++ {
			r.spare[hi] = r.Probabilities[uint32(keys[hi])]
		}
		slices.Sort(r.spare[lo:hi])
		for i := lo; i < hi; i++ {
			r.Probabilities[uint32(keys[i])] = r.spare[i]
		}
		lo = hi
	}
}
