package calibration

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drawn simulates mining with known truth: n sources, m of them with a translation. Correct pairs score about 1.3,
// wrong ones about 1.
func drawn(seed uint64, n, m, injected int) (c Outcomes, truth func(threshold float64) (precision, recall float64)) {
	rng := rand.New(rand.NewPCG(seed, 7))
	right := func() Pair {
		score := 1.3 + 0.1*rng.NormFloat64()
		if rival := 1.0 + 0.08*rng.NormFloat64(); rival > score {
			return Pair{Right: math.Inf(-1), Wrong: rival}
		}
		return Pair{Right: score, Wrong: math.Inf(-1)}
	}
	wrong := func() float64 {
		if rng.IntN(3) == 0 {
			return math.Inf(-1) // its best partner was taken
		}
		return 1.0 + 0.08*rng.NormFloat64()
	}
	c.Sources = n
	var good []float64
	found := func(score float64) {
		if !math.IsInf(score, -1) {
			c.Found = append(c.Found, score)
		}
	}
	for range m {
		p := right()
		found(p.Right)
		found(p.Wrong)
		good = append(good, p.Right)
	}
	for range n - m {
		found(wrong())
	}
	for range injected {
		c.Whole = append(c.Whole, right())
		c.Unpaired = append(c.Unpaired, wrong())
	}
	return c, func(threshold float64) (float64, float64) {
		correct, kept := 0.0, 0.0
		for _, s := range good {
			if s > threshold {
				correct++
			}
		}
		for _, s := range c.Found {
			if s > threshold {
				kept++
			}
		}
		return correct / max(1, kept), correct / float64(m)
	}
}

// TestCalibrationFindsTheTruth checks on simulated mining that the truth is in or close to the interval.
func TestCalibrationFindsTheTruth(t *testing.T) {
	outside, looked := 0, 0
	for seed := range uint64(5) {
		c, truth := drawn(seed, 20_000, 800, 150)
		for _, e := range c.Estimate(200, 1) {
			if e.Kept < 200 {
				continue
			}
			precision, recall := truth(e.Threshold)
			looked += 2
			if precision < e.Precision.Low-0.02 || precision > e.Precision.High+0.02 {
				outside++
			}
			if recall < e.Recall.Low-0.02 || recall > e.Recall.High+0.02 {
				outside++
			}
			if e.Threshold > 1.25 && math.Abs(e.Precision.Value-precision) > 0.15 {
				t.Errorf("seed %d, threshold %.3f: precision %.3f, in truth %.3f", seed, e.Threshold, e.Precision.Value, precision)
			}
		}
	}
	if outside*8 > looked {
		t.Errorf("%d of %d figures lie outside their 95%% intervals", outside, looked)
	}
}

// TestMisfit: injected pairs that are easier or harder to find than the text's own contradict it, those of its kind do
// not.
func TestMisfit(t *testing.T) {
	alarms := 0
	for seed := range uint64(60) {
		c, _ := drawn(seed, 20_000, 800, 150)
		if _, ok := c.Misfit(c.Estimate(200, 1)); ok {
			alarms++
		}
		if seed > 5 {
			continue
		}
		for _, easier := range []float64{0.15, -0.15} {
			c, _ := drawn(seed, 20_000, 800, 300)
			for i := range c.Whole {
				c.Whole[i].Right += easier
			}
			if e, ok := c.Misfit(c.Estimate(200, 1)); !ok {
				t.Errorf("seed %d, pairs easier by %g: %+v", seed, easier, e)
			}
		}
	}
	if alarms > 2 {
		t.Errorf("%d of 60 texts are contradicted by pairs of their own kind", alarms)
	}
}

// counted are outcomes by score, from 0.82 in steps of 0.04.
type counted struct {
	sources, injected             int
	found, right, wrong, unpaired []int
}

func (h counted) outcomes() Outcomes {
	c := Outcomes{Sources: h.sources}
	each := func(counts []int, add func(score float64)) {
		for b, n := range counts {
			for range n {
				add(0.82 + 0.04*float64(b))
			}
		}
	}
	each(h.found, func(s float64) { c.Found = append(c.Found, s) })
	each(h.right, func(s float64) { c.Whole = append(c.Whole, Pair{s, notFound}) })
	each(h.wrong, func(s float64) { c.Whole = append(c.Whole, Pair{notFound, s}) })
	each(h.unpaired, func(s float64) { c.Unpaired = append(c.Unpaired, s) })
	for len(c.Whole) < h.injected {
		c.Whole = append(c.Whole, Pair{notFound, notFound})
	}
	for len(c.Unpaired) < h.injected {
		c.Unpaired = append(c.Unpaired, notFound)
	}
	return c
}

// TestMisfitOfRealText: short sentences of a phrase book contradict a text of which they make the precision 0.98 where
// it is 0.68; sentences like the text, whose estimate is right, do not.
func TestMisfitOfRealText(t *testing.T) {
	for name, c := range map[string]struct {
		counted
		contradicts bool
	}{
		"harder pairs, Chinese": {counted{
			12340, 579,
			[]int{9, 38, 128, 497, 1533, 2552, 2334, 1358, 530, 227, 134, 88, 86, 100, 95, 80, 76, 47, 32, 27, 15, 19},
			[]int{0, 0, 0, 0, 1, 3, 8, 32, 32, 57, 63, 69, 61, 46, 42, 48, 33, 17, 19, 6, 5, 2},
			[]int{0, 0, 0, 3, 5, 5, 4, 0, 0, 2, 1},
			[]int{4, 6, 19, 34, 64, 83, 93, 43, 34, 16, 7, 6, 0, 1},
		}, true},
		"pairs of its kind, French": {counted{
			18425, 499,
			[]int{18, 52, 188, 684, 2130, 3635, 2996, 1614, 717, 296, 182, 77, 75, 64, 75, 78, 115, 89, 91, 64, 51, 80},
			[]int{0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 8, 5, 18, 24, 34, 50, 64, 57, 82, 51, 46, 57},
			nil,
			[]int{0, 1, 1, 29, 54, 93, 94, 51, 33, 10, 4},
		}, false},
	} {
		o := c.outcomes()
		if e, ok := o.Misfit(o.Estimate(500, 1)); ok != c.contradicts {
			t.Errorf("%s: contradicted %v at %+v", name, ok, e)
		}
	}
}

func TestCalibrationChooses(t *testing.T) {
	c, truth := drawn(3, 20_000, 800, 300)
	estimates := c.Estimate(100, 1)
	best := BestF1(estimates)
	precision, recall := truth(best.Threshold)
	atBest := 2 * precision * recall / (precision + recall)
	for _, e := range estimates {
		if p, r := truth(e.Threshold); p+r > 0 && 2*p*r/(p+r) > atBest+0.05 {
			t.Errorf("threshold %.3f has F1 %.3f in truth, the chosen %.3f only %.3f", e.Threshold, 2*p*r/(p+r), best.Threshold, atBest)
		}
	}
	wanted, ok := ForPrecision(estimates, 0.9)
	if p, _ := truth(wanted.Threshold); !ok || math.Abs(p-0.9) > 0.08 {
		t.Errorf("threshold %.3f for a precision of 0.9 has %.3f in truth (%v)", wanted.Threshold, p, ok)
	}
	if wanted.Kept == 0 || wanted.Precision.Low > wanted.Precision.Value || wanted.Precision.High < wanted.Precision.Value {
		t.Errorf("%+v", wanted)
	}
}

func TestCalibrationIsRepeatable(t *testing.T) {
	c, _ := drawn(1, 2000, 200, 60)
	a, b := c.Estimate(50, 9), c.Estimate(50, 9)
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("%+v and %+v", a[i], b[i])
		}
	}
	for i := 1; i < len(a); i++ {
		if a[i].Threshold <= a[i-1].Threshold || a[i].Kept > a[i-1].Kept || a[i].Recall.Value > a[i-1].Recall.Value {
			t.Fatalf("recall and kept must fall with the threshold: %+v, %+v", a[i-1], a[i])
		}
	}
}

func TestForPrecisionOutOfReach(t *testing.T) {
	estimates := []Estimate{{Threshold: 1, Kept: 10, Precision: Interval{Value: 0.5}}, {Threshold: 2, Kept: 5, Precision: Interval{Value: 0.7}}}
	if e, ok := ForPrecision(estimates, 0.9); ok {
		t.Errorf("%+v", e)
	}
	if e, ok := ForPrecision(estimates, 0.4); !ok || e.Threshold != 1 {
		t.Errorf("%+v %v", e, ok)
	}
	estimates = append(estimates, Estimate{Threshold: 3, Kept: 2}, Estimate{Threshold: 4, Precision: Interval{Value: 1}})
	if e, ok := ForPrecision(estimates, 0.6); !ok || e.Threshold != 2 {
		t.Errorf("a threshold of two pairs hides that of five: %+v %v", e, ok)
	}
	if e, ok := ForPrecision(estimates, 0.9); ok {
		t.Errorf("a threshold that no pair reaches is taken: %+v", e)
	}
}
