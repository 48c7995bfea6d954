package word

import (
	"math"
	"testing"
)

// TestPrior: the prior of each predicted word sums to its mass, falls with the distance, and is the transpose of the
// other direction's prior of the turned shape.
func TestPrior(t *testing.T) {
	var p, q prior
	for _, s := range []shape{{1, 1}, {5, 3}, {3, 8}, {40, 37}} {
		p.fill(s, false, 4, 0.92)
		q.fill(shape{s.m, s.n}, true, 4, 0.92)
		for j := range s.m {
			sum := 0.0
			for i := range s.n {
				at := i*s.m + j
				sum += p.probs[at]
				if want := math.Abs(float64(i+1)/float64(s.n) - float64(j+1)/float64(s.m)); p.distances[at] != want {
					t.Errorf("%v: the distance of %d and %d is %v, want %v", s, i, j, p.distances[at], want)
				}
				if i > 0 {
					ratio := math.Exp(-4 * (p.distances[at] - p.distances[at-s.m]))
					if math.Abs(p.probs[at]/p.probs[at-s.m]-ratio) > 1e-12 {
						t.Errorf("%v: %d and %d do not follow from the distances", s, i, j)
					}
				}
				if p.probs[at] != q.probs[j*s.n+i] {
					t.Errorf("%v: the directions differ at %d, %d", s, i, j)
				}
			}
			if math.Abs(sum-0.92) > 1e-12 {
				t.Errorf("%v: the probabilities for %d sum to %v", s, j, sum)
			}
		}
	}
}

func TestExpectedDistance(t *testing.T) {
	var p prior
	for _, s := range []shape{{1, 1}, {1, 4}, {7, 3}, {3, 8}, {20, 20}} {
		for _, tension := range []float64{0.1, 4, 14} {
			p.fill(s, false, tension, 1)
			want := 0.0
			for at, v := range p.probs {
				want += v * p.distances[at]
			}
			if got := expectedDistance(s.m, s.n, tension); math.Abs(got-want) > 1e-9 {
				t.Errorf("%v, tension %v: %v, want %v", s, tension, got, want)
			}
		}
	}
}

// TestExpDigamma: ψ(1) = -γ, ψ(1/2) = -γ - 2 ln 2, ψ(x+1) = ψ(x) + 1/x, and the derivative of the log gamma function.
func TestExpDigamma(t *testing.T) {
	const gamma = 0.57721566490153286061
	for _, c := range []struct{ x, want float64 }{{1, -gamma}, {0.5, -gamma - 2*math.Ln2}, {2, 1 - gamma}} {
		if got := math.Log(expDigamma(c.x)); math.Abs(got-c.want) > 1e-11 {
			t.Errorf("ψ(%v) is %v, want %v", c.x, got, c.want)
		}
	}
	for _, x := range []float64{0.01, 0.3, 3, 5.9999, 6, 17.5, 1e4, 1e9} {
		if got, want := math.Log(expDigamma(x+1)), math.Log(expDigamma(x))+1/x; math.Abs(got-want) > 1e-10*max(1, 1/x) {
			t.Errorf("ψ(%v+1) is %v, want %v", x, got, want)
		}
		h := x * 1e-4
		above, _ := math.Lgamma(x + h)
		below, _ := math.Lgamma(x - h)
		if got, want := math.Log(expDigamma(x)), (above-below)/(2*h); math.Abs(got-want) > 1e-5*max(1, math.Abs(want)) {
			t.Errorf("ψ(%v) is %v, the derivative of lgamma %v", x, got, want)
		}
	}
}
