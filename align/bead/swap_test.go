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

// TestCrossingsInWeakBeads: passages that changed places are listed though weak beads have their sentences, but not
// where a good bead has them.
func TestCrossingsInWeakBeads(t *testing.T) {
	t.Parallel()
	a, b := sentences("a", 30), sentences("b", 30)
	b = slices.Concat(b[:4], b[8:12], b[4:8], b[12:])
	x := &aligner{Options: DefaultOptions()}
	var err error
	if x.source, err = side(a...).open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if x.target, err = side(b...).open(t.Context()); err != nil {
		t.Fatal(err)
	}
	compare(x.source.level, x.target.level, x.Samples)
	inOrder := func(cosine float32) (beads []Bead) {
		for i := range a {
			beads = append(beads, Bead{Source: Span{i, 1}, Target: Span{i, 1}, Cosine: cosine})
		}
		return beads
	}
	got := x.crossings(inOrder(weakBead - 0.1))
	if len(got) != 2 || got[0].Source != (Span{4, 4}) || got[0].Target != (Span{8, 4}) || got[1].Source != (Span{8, 4}) || got[1].Target != (Span{4, 4}) {
		t.Errorf("crossings %+v", got)
	}
	if got := x.crossings(inOrder(weakBead + 0.1)); len(got) != 0 {
		t.Errorf("of good beads: crossings %+v", got)
	}
}
