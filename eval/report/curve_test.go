package report

import (
	"math"
	"testing"
)

// TestBestThreshold follows bucc.py by hand.
func TestBestThreshold(t *testing.T) {
	scored := func(marks string, scores ...float64) []Scored {
		var out []Scored
		for i, s := range scores {
			out = append(out, Scored{Score: s, Correct: marks[i] == '+'})
		}
		return out
	}
	for _, c := range []struct {
		name      string
		pairs     []Scored
		gold      int
		threshold float64
		extracted int
	}{
		{"midpoint to the next score", scored("++--", 1.4, 1.3, 1.1, 1.0), 2, 1.2, 2},
		{"the first of equal F1", scored("+--+", 4, 3, 2, 1), 2, 3.5, 1}, // 2/3 after one pair and after four
		{"the last pair: its own score", scored("-+", 1.4, 1.3), 1, 1.3, 2},
		{"nothing is correct", scored("--", 1.4, 1.3), 2, 0, 0},
		{"nothing was mined", nil, 2, 0, 0},
		{"a tie over the threshold", scored("+-", 1.2, 1.2), 1, 1.2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			threshold, best := BestThreshold(CurveOf(c.pairs, c.gold))
			if math.Abs(threshold-c.threshold) > 1e-12 || best.Extracted != c.extracted {
				t.Errorf("threshold %v after %d pairs, want %v after %d", threshold, best.Extracted, c.threshold, c.extracted)
			}
		})
	}
}

// TestThresholdCurve: the best F1 of pairs of equal score is one that a threshold gives.
func TestThresholdCurve(t *testing.T) {
	var pairs []Scored
	for i := range 30 {
		p := Scored{Score: 0.9, Correct: i < 13}
		if i >= 10 {
			p.Score = 0.7
		}
		pairs = append(pairs, p)
	}
	curve := ThresholdCurveOf(pairs, 13)
	threshold, best := BestThreshold(curve)
	if again := Extract(pairs, 13, threshold); len(curve) != 2 || math.Abs(threshold-0.8) > 1e-12 || again != best || again.Extracted != 10 {
		t.Errorf("threshold %v with %+v, extracting again gives %+v; curve %v", threshold, best, again, curve)
	}
}
