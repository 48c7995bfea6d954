package view

import (
	"math"
	"testing"
)

// TestRecall: cells count by their pairs, exact ones too, and the side with the lower recall is told.
func TestRecall(t *testing.T) {
	least := 0.8
	small, large, old := Measured(100, 0.9, 1), Measured(900, 1, 0.95), Recall{Least: &least}
	var merged, r Recall
	merged.add(small, 0, 100)
	merged.add(large, 0, 900)
	r.add(merged, 0, 1000)
	if mean := r.Mean(); mean == nil || math.Abs(*mean-0.99) > 1e-12 || *r.Least != 0.9 {
		t.Errorf("one side: %v, at least %v", mean, r.Least)
	}
	r.add(large, 1, 900)
	r.add(Recall{}, 1, 100)
	if mean := r.Mean(); math.Abs(*mean-0.955) > 1e-12 || *r.Least != 0.9 {
		t.Errorf("both sides: %v, at least %v", *mean, *r.Least)
	}
	r.add(old, 1, 1000)
	if mean := r.Mean(); math.Abs(*mean-(2000-45-200)/2000.0) > 1e-12 || *r.Least != 0.8 {
		t.Errorf("with a record of the least alone: %v, at least %v", *mean, *r.Least)
	}
	var other Recall // the same in another order
	for _, of := range []Recall{old, large} {
		other.add(of, 1, 1000)
	}
	other.add(Recall{}, 1, 100)
	if other.Pairs[1] != r.Pairs[1] || other.Missed[1] != r.Missed[1] {
		t.Errorf("in another order %v of %v, not %v of %v", other.Missed[1], other.Pairs[1], r.Missed[1], r.Pairs[1])
	}
	if mean := old.Mean(); *mean != 0.8 {
		t.Errorf("of the least alone: %v", *mean)
	}
	if (&Recall{}).Mean() != nil {
		t.Error("an exact search has a recall")
	}
}
