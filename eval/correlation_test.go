package eval

import (
	"math"
	"testing"
)

func nearCorrelation(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

// TestByHand: gold 1 2 3 and cosines 1 3 2 give r = 1/2 either way. Equal values get the mean of their ranks.
func TestByHand(t *testing.T) {
	got := CorrelationOf([]float64{1, 2, 3}, []float64{0.1, 0.3, 0.2})
	if !nearCorrelation(got.Pearson, 50) || !nearCorrelation(got.Spearman, 50) || got.Pairs != 3 {
		t.Errorf("%+v, want 50 and 50 over 3", got)
	}
	// Ranks 1.5 1.5 3 against 1 2 3: rho = 1.5 / sqrt(1.5 * 2).
	tied := CorrelationOf([]float64{2, 2, 5}, []float64{0.1, 0.2, 0.9})
	if !nearCorrelation(tied.Spearman, 100*1.5/math.Sqrt(3)) {
		t.Errorf("Spearman with a tie = %v", tied.Spearman)
	}
	for _, c := range []Correlation{CorrelationOf([]float64{3, 3}, []float64{1, 2}), CorrelationOf([]float64{1, 2}, []float64{3, 3})} {
		if row := correlationRow("", c); row.Cells[0] != nil || row.Cells[1] != nil || row.Cells[2] != 2 {
			t.Errorf("a correlation with equal values: %+v", row)
		}
	}
	year := WeightedMean([]Correlation{{Pairs: 50, Undefined: true}, {Pearson: 80, Spearman: 60, Pairs: 300}, {Pearson: 40, Spearman: 20, Pairs: 100}})
	if !nearCorrelation(year.Pearson, 70) || !nearCorrelation(year.Spearman, 50) || year.Pairs != 400 {
		t.Errorf("mean weighted by pairs = %+v, want 70 and 50 over 400", year)
	}
}
