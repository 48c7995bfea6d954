package score

import (
	"math"
	"testing"
)

func TestMeasure(t *testing.T) {
	q := Measure([]Outcome{{0.95, true, 2}, {0.95, false, 1}, {0.25, false, 1}, {1, true, 1}})
	top := q.Bins[9]
	if top.Examples != 3 || math.Abs(top.True-0.75) > 1e-9 || math.Abs(top.Probability-0.9625) > 1e-6 {
		t.Errorf("bin %+v", top)
	}
	if want := (4*(0.9625-0.75) + 0.25) / 5; math.Abs(q.Calibration-want) > 1e-6 {
		t.Errorf("calibration error %v, want %v", q.Calibration, want)
	}
	if q.Precision != 0.75 || q.Recall != 1 {
		t.Errorf("precision %v, recall %v", q.Precision, q.Recall)
	}
}

func TestThresholdFor(t *testing.T) {
	probabilities := []float32{0.5, 1, 0.75, 0.75, 0.25}
	for _, c := range []struct{ precision, want float64 }{
		{0.99, 1}, {0.8, 0.75}, {0.75, 0.5}, {0.6, 0.25},
	} {
		if got := ThresholdFor(probabilities, c.precision); got != c.want {
			t.Errorf("threshold for %v is %v, want %v", c.precision, got, c.want)
		}
	}
	if got := ThresholdFor([]float32{0.5}, 0.9); !(got > 1) {
		t.Errorf("no pair is certain enough, yet the threshold is %v", got)
	}
}

// TestBestExpected: the threshold stands between two scores, never between equal ones, and nothing is kept where
// nothing is likely.
func TestBestExpected(t *testing.T) {
	for name, c := range map[string]struct {
		scores, probabilities []float32
		expected, want        float64
	}{
		"between":         {[]float32{1.5, 1.4, 1.2, 1.1}, []float32{1, 0.9, 0.1, 0}, 2, (1.4 + 1.2) / 2},
		"a tie is whole":  {[]float32{1.5, 1.25, 1.25, 1}, []float32{1, 0.9, 0, 0}, 2, 1.125},
		"all of them":     {[]float32{2, 1}, []float32{1, 1}, 2, math.Nextafter(1, 0)},
		"nothing likely":  {[]float32{2, 1}, []float32{0, 0}, 0, 2},
		"one likely pair": {[]float32{2, 1.5, 1}, []float32{0, 0.9, 0}, 0.9, 1.25},
		"no pair":         {nil, nil, 0, 0},
	} {
		if got := BestExpected(c.scores, c.probabilities, c.expected, 1); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
