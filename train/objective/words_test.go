package objective

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	words := Training{Vocabulary: 5, Special: []int32{1, 4}}.Words()
	if want := []int{1, 3, 4}; !slices.Equal(words.Places([]int32{1, 0, 4, 3, 2, 5, -1}), want) {
		t.Errorf("words are at %v, want %v", words.Places([]int32{1, 0, 4, 3, 2, 5, -1}), want)
	}
	for id, want := range map[int32]bool{-1: false, 0: true, 1: false, 3: true, 4: false, 5: false} {
		if words.Has(id) != want {
			t.Errorf("token %d is a word: %v", id, !want)
		}
	}
}

func TestRoundUp(t *testing.T) {
	for _, c := range [][3]int{{0, 5, 1}, {1, 5, 1}, {4, 5, 4}, {0, 160, 10}, {1, 160, 10}, {10, 160, 10}, {11, 160, 20}, {160, 160, 160}, {16, 175, 20}} {
		if got := RoundUp(c[0], c[1]); got != c[2] {
			t.Errorf("%d of %d are rounded up to %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

func TestWeightsOfTerms(t *testing.T) {
	rises := Weight{From: 1, To: 3, Steps: 4}
	for step, want := range map[int]float64{0: 1, 1: 1.5, 3: 2.5, 4: 3, 5: 3, 100: 3} {
		if got := rises.At(step); got != want {
			t.Errorf("the weight at step %d is %v, want %v", step, got, want)
		}
	}
	if got := Fixed(0.7).At(0); got != 0.7 {
		t.Errorf("a fixed weight is %v", got)
	}
}
