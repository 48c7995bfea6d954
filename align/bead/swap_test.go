package bead

import (
	"slices"
	"testing"
)

// TestSwapped: two sentences that change places are beads of their own, and each sentence is in one bead.
func TestSwapped(t *testing.T) {
	t.Parallel()
	a, b := sentences("a", 8), sentences("b", 8)
	b[3], b[4] = b[4], b[3]
	got, err := Align(t.Context(), side(a...), side(b...), DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for i, bead := range got.Beads {
		if bead.Source != (Span{i, 1}) || bead.Target != (Span{[]int{0, 1, 2, 4, 3, 5, 6, 7}[i], 1}) || bead.Cosine < 0.999 {
			t.Errorf("bead %d: %+v", i, bead)
		}
	}
	if len(got.Beads) != 8 {
		t.Errorf("%d beads, want 8", len(got.Beads))
	}
	// A sentence of which one half stands in the next is no swap.
	shifted := []string{a[0], a[1] + " " + halves(a[2])[0], halves(a[2])[1], a[3]}
	if got := align(t, shifted, sentences("b", 4), DefaultOptions()); !slices.ContainsFunc(got.Beads, func(b Bead) bool { return b.Source.Count == 2 }) {
		t.Errorf("beads %s", types(got.Beads))
	}
}
