package wacse

import (
	"math"
	"slices"
	"testing"

	"bitextmine/train/objective/objectivetest"
	"bitextmine/train/words"
)

// TestMask: linked words alone are masked, each in some step, whole and the same the second time. What each predicts is
// the other side's tokens, with the share of those that are not masked.
func TestMask(t *testing.T) {
	all := objectivetest.Read[golden](t)
	w := build(t, all, "{name: wacse, masking: 0.5}")
	seen := map[[3]int]bool{} // view, row, place
	for step := range 60 {
		b := all.batch()
		b.Step = step
		views, targets := w.mask(b)
		again, _ := w.mask(b)
		for view := range 2 {
			clean, masked := b.Views[view], views[2+view]
			if !slices.Equal(clean.IDs, all.batch().Views[view].IDs) || !slices.Equal(views[view].IDs, clean.IDs) {
				t.Fatalf("step %d changed its batch", step)
			}
			if !slices.Equal(masked.IDs, again[2+view].IDs) {
				t.Fatalf("step %d masks other words the second time", step)
			}
			for at, id := range masked.IDs {
				if id != clean.IDs[at] {
					seen[[3]int{view, at / clean.Length, at % clean.Length}] = true
				}
			}
		}
		for _, of := range targets {
			if views[2+of.view].Sentence(of.row)[of.place] != w.Training.Mask {
				t.Fatalf("step %d: %+v is predicted by a token that is not masked", step, of)
			}
		}
	}
	want := map[[3]int]bool{
		{0, 0, 1}: true, {0, 0, 2}: true, {0, 0, 3}: true, {0, 1, 1}: true,
		{1, 0, 1}: true, {1, 0, 2}: true, {1, 0, 3}: true, {1, 1, 2}: true, {1, 1, 3}: true,
	}
	if len(seen) != len(want) {
		t.Errorf("in 60 steps the tokens %v were masked, want %v", seen, want)
	}
	for at := range want {
		if !seen[at] {
			t.Errorf("in 60 steps token %v was not masked", at)
		}
	}
}

// TestPredictions: the longer of two words is clipped.
func TestPredictions(t *testing.T) {
	other := []int32{1, 5, 6, 7, 2}
	for _, c := range []struct {
		masked, word words.Span
		want         []target
	}{
		{words.Span{Begin: 2, End: 4}, words.Span{Begin: 1, End: 4}, []target{{1, 3, 2, 5, 2}, {1, 3, 3, 6, 2}}},
		{words.Span{Begin: 2, End: 5}, words.Span{Begin: 3, End: 4}, []target{{1, 3, 2, 7, 2}}},
	} {
		if got := predictions(1, 3, c.masked, other, c.word, 2); !slices.Equal(got, c.want) {
			t.Errorf("%v for %v: %v, want %v", c.word, c.masked, got, c.want)
		}
	}
}

// TestShareOfDrawnWords: the expected sum over drawn words is that over all linked ones.
func TestShareOfDrawnWords(t *testing.T) {
	all := objectivetest.Read[golden](t)
	w := build(t, all, "{name: wacse, masking: 0.5}")
	const steps = 3000
	sums := map[[3]int]float64{} // sum of each target, by view, row and predicted token
	for step := range steps {
		b := all.batch()
		b.Step = step
		_, targets := w.mask(b)
		for _, of := range targets {
			sums[[3]int{of.view, of.row, int(of.id)*100 + of.place}] += float64(of.share) / steps
		}
	}
	w.Masking = 1
	_, targets := w.mask(all.batch())
	if len(sums) != len(targets) {
		t.Errorf("%d targets, want %d", len(sums), len(targets))
	}
	for _, of := range targets {
		if sum := sums[[3]int{of.view, of.row, int(of.id)*100 + of.place}]; of.share != 1 || math.Abs(sum-1) > 0.1 {
			t.Errorf("%+v counts %.3f times on average", of, sum)
		}
	}
}
