package calibration

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWilson: intervals as R's binom.confint(method = "wilson") gives them.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		successes, n int
		low, high    float64
	}{
		{8, 10, 0.4902, 0.9433},
		{0, 20, 0, 0.1611},
		{20, 20, 0.8389, 1},
		{95, 100, 0.8882, 0.9785},
		{0, 0, 0, 1},
	} {
		got := Wilson(c.successes, c.n)
		if math.Abs(got.Low-c.low) > 5e-5 || math.Abs(got.High-c.high) > 5e-5 || got.Value != float64(c.successes)/float64(max(1, c.n)) {
			t.Errorf("%d of %d: %+v, not [%.4f, %.4f]", c.successes, c.n, got, c.low, c.high)
		}
	}
}

// mined draws pairs whose chance to be right rises with their score, and labels for a share of them.
func mined(seed uint64, pairs int, share float64) (labels []Label, scores []float64, right func(threshold float64) float64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	var all []Label
	for range pairs {
		score := rng.Float64()
		l := Label{Score: score, Accepted: rng.Float64() < 0.4+0.6*score}
		all, scores = append(all, l), append(scores, score)
		if rng.Float64() < share {
			labels = append(labels, l)
		}
	}
	return labels, scores, func(threshold float64) float64 {
		n, accepted := 0.0, 0.0
		for _, l := range all {
			if l.Score >= threshold {
				n++
				if l.Accepted {
					accepted++
				}
			}
		}
		return accepted / n
	}
}

// TestBandsFindTheTruth: in 95 of 100 intervals stands the precision of all pairs from a band up.
func TestBandsFindTheTruth(t *testing.T) {
	inside, looked := 0, 0
	for seed := range uint64(100) {
		labels, scores, right := mined(seed, 5000, 0.05)
		bands := Bands(labels, scores)
		if len(bands) < 8 || len(bands) > maxBands {
			t.Fatalf("%d bands of %d labels", len(bands), len(labels))
		}
		for _, b := range bands {
			if b.Labelled < minBandLabels || b.Kept < b.Pairs {
				t.Fatalf("band %+v", b)
			}
			looked++
			if truth := right(b.Low); b.Above.Low <= truth && truth <= b.Above.High {
				inside++
			}
		}
	}
	if share := float64(inside) / float64(looked); share < 0.93 || share > 0.99 {
		t.Errorf("%.3f of the intervals have the truth", share)
	}
}

// TestBandsOfMorePairs: what stands for many pairs counts for more; pairs below the lowest label are in no band.
func TestBandsOfMorePairs(t *testing.T) {
	var labels []Label
	var scores []float64
	for range 10 {
		labels = append(labels, Label{Score: 0.5}, Label{Score: 0.9, Accepted: true})
	}
	for range 90 {
		scores = append(scores, 0.95, 0.1)
	}
	for range 10 {
		scores = append(scores, 0.6)
	}
	bands := Bands(labels, scores)
	if len(bands) != 2 || bands[0].Pairs != 10 || bands[1].Pairs != 90 || bands[0].Kept != 100 || math.Abs(bands[0].Above.Value-0.9) > 1e-12 {
		t.Fatalf("%+v", bands)
	}
	if b, ok := BandForPrecision(bands, 0.95); !ok || b.Low != 0.9 {
		t.Errorf("for 0.95: %+v %v", b, ok)
	}
	if b, ok := BandForPrecision(bands, 0.9); !ok || b.Low != 0.5 {
		t.Errorf("for 0.9: %+v %v", b, ok)
	}
	if _, ok := BandForPrecision(Bands(labels[:1], scores), 0.1); ok {
		t.Error("pairs that are all wrong have a precision of 0.1")
	}
	if Bands(nil, scores) != nil {
		t.Error("bands without labels")
	}
}
