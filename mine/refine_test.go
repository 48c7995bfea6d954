package mine

import (
	"slices"
	"testing"
)

// TestRefine: the product decides between promising pairs, and the others come after them, whatever their margins.
func TestRefine(t *testing.T) {
	candidates := []Candidate{
		{Source: 0, Target: 0, Score: 1.5, Forward: true, Backward: true},
		{Source: 0, Target: 1, Score: 1.4, Backward: true},
		{Source: 1, Target: 0, Score: 1.3, Forward: true},
		{Source: 2, Target: 2, Score: 1.25, Forward: true, Backward: true},
		{Source: 3, Target: 3, Score: 1.1, Forward: true, Backward: true},
		{Source: 2, Target: 3, Score: 1.05, Forward: true},
	}
	r := Refine(slices.Clone(candidates), []float32{0.5, 0.75, 0.75, 0.5, NotRefined, NotRefined})
	var order [][2]int32
	for i, c := range r.Candidates {
		order = append(order, [2]int32{c.Source, c.Target})
		if refined := r.Cosines[i] != NotRefined; refined != (c.Score > 0) {
			t.Errorf("pair %d-%d has the score %v and the strong cosine %v", c.Source, c.Target, c.Score, r.Cosines[i])
		}
	}
	if want := [][2]int32{{0, 1}, {1, 0}, {0, 0}, {2, 2}, {2, 3}, {3, 3}}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	for _, c := range []struct {
		threshold float64
		want      []Verdict
	}{
		{0.9, []Verdict{Kept, Kept, Taken, BelowThreshold, Taken, BelowFloor}},
		{0.6, []Verdict{Kept, Kept, Taken, Kept, Taken, BelowFloor}},
		{-2, []Verdict{Kept, Kept, Taken, Kept, Taken, BelowFloor}},
	} {
		if got := r.Judge(4, 4, Max, c.threshold); !slices.Equal(got, c.want) {
			t.Errorf("threshold %v: verdicts %v, want %v", c.threshold, got, c.want)
		}
	}
	if got, want := r.Judge(4, 4, Intersect, 0), []Verdict{NotProposed, NotProposed, Kept, Kept, NotProposed, BelowFloor}; !slices.Equal(got, want) {
		t.Errorf("intersect: verdicts %v, want %v", got, want)
	}
}
