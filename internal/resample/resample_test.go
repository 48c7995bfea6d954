package resample

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestInterval: the mean of 400 values of deviation 1 has an interval of about 1.96 / 20 to both sides.
func TestInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values, sample, means := make([]float64, 400), make([]float64, 400), make([]float64, 1000)
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	mean := func(of []float64) (sum float64) {
		for _, v := range of {
			sum += v / float64(len(of))
		}
		return sum
	}
	for i := range means {
		Draw(rng, values, sample)
		means[i] = mean(sample)
	}
	low, high := Interval(mean(values), means)
	if math.Abs(high-low-2*0.098) > 0.03 || low > mean(values) || high < mean(values) {
		t.Errorf("%v to %v of %v", low, high, mean(values))
	}
	if low, high := Interval(3, nil); low != 3 || high != 3 {
		t.Errorf("without samples: %v to %v", low, high)
	}
}
