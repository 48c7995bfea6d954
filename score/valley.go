package score

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/optimize"
)

// A mixture is fitted to at least minMixed matched pairs (bench/results/scoring-2026-11-29.md has what 300 give), if at
// most maxMixedShare of them are expected to be translations: else wrong ones are not seen. Where it expects over
// MixedTimes as many translations as the prior shift does, or as few, one of its two kinds may stand for both, or for
// pairs between the two: it is believed less and less, and from the square of that on not at all. Before weights have
// followed the text UnseenTimes as many are believed: of a language that a scorer has not seen, most translations are
// below its expectations (bench/results/scoring-2026-11-29.md).
//
// A mixture that keeps its kinds apart is believed whatever the shift says: of formulas (laws, catalogues, messages)
// translations are as far below a scorer's expectations as their margins are small, but far above wrong pairs. At most
// maxApartDoubt of the smaller kind may be in doubt, which is at least minApart pairs; translations may be at most
// maxApart of all, as a text without any otherwise falls into two kinds of wrong pairs.
const (
	minMixed      = 100
	minMixedPairs = 20
	maxMixedShare = 0.9
	maxApartDoubt = 0.42
	minApart      = 50
	maxApart      = 0.5

	MixedTimes  = 1.5
	UnseenTimes = 2.5

	valleyStep   = 0.1  // width of a bin of log odds in a fit
	modeStep     = 0.25 // and where the mode of wrong pairs is looked for
	modeSmooth   = 2    // bins on either side that are averaged there
	priorReach   = 4    // the shift is trusted as one observation at every half from -priorReach to priorReach
	priorStep    = 0.5
	shiftWeight  = 0.5
	rightFrom    = 2 // the posterior's lowest place is below these log odds
	lnSqrt2Pi    = 0.9189385332046727
	minPosterior = 1e-6

	// skew is how many times as far translations are spread below their mode as above it: some are hard to tell. Chosen
	// of 1, 1.25, 1.5, 2 and 3 on FLORES devtest with a quarter to all of it translated, and on seven languages injected
	// into other text: 1.5 and 2 lose least to the best threshold.
	skew = 1.5
)

// valley is a distribution of the log odds of matched pairs above the mode of the wrong ones: those of wrong pairs are
// normal, and those of translations are two halves of normal distributions, wider below; both are cut off at the mode
// of the wrong ones. What is below it is wrong and would only spoil the fit.
type valley struct {
	from            float64 // the mode
	place, scale    float64 // the wrong ones' distribution; place is relative to from
	mean, deviation float64 // the translations' mode, and the deviation above it
	share           float64 // log odds of the share of translations

	// Logarithms that densities have at any log odds: by kind, of the scale, of what is not cut off and of the share.
	wrong, right struct{ scale, above, share float64 }
}

// logs returns the log densities of both kinds at some log odds, each times its share.
func (v *valley) logs(x float64) (wrong, right float64) {
	z := (x - v.from - v.place) / v.scale
	wrong = -z*z/2 - v.wrong.scale - lnSqrt2Pi - v.wrong.above + v.wrong.share
	spread := v.deviation
	if x < v.mean {
		spread *= skew
	}
	z = (x - v.mean) / spread
	right = -z*z/2 - v.right.scale - lnSqrt2Pi - v.right.above + v.right.share
	return wrong, right
}

// above is the share of the translations' distribution that is above the mode of wrong pairs.
func (v *valley) above() float64 {
	part := 2 / (1 + skew) // both halves together; the upper one has half of this
	if z := (v.mean - v.from) / v.deviation; z < 0 {
		return part * math.Exp(logNormal(z))
	}
	return 1 - skew*part*math.Exp(logNormal((v.from-v.mean)/(skew*v.deviation)))
}

// valleyOf reads a mixture from numbers that may have any value.
func valleyOf(w []float64, from float64) valley {
	v := valley{from: from, scale: math.Exp(w[0]), mean: w[1], deviation: math.Exp(w[2]), share: w[3], place: w[4]}
	v.wrong.scale, v.right.scale = math.Log(v.scale), math.Log((skew*v.deviation+v.deviation)/2)
	v.wrong.above, v.right.above = logNormal(v.place/v.scale), math.Log(v.above())
	v.wrong.share, v.right.share = logLogistic(-v.share), logLogistic(v.share)
	return v
}

// penalty keeps the numbers where those of every measured text are, by weak normal priors.
func (v *valley) penalty() float64 {
	square := func(x float64) float64 { return x * x / 2 }
	return square(math.Log(v.scale/1.5)/0.7) + square((v.mean-3)/2.5) + square(math.Log(v.deviation/2)/0.4) + square(v.place/1.5)
}

// logLogistic is the logarithm of Logistic.
func logLogistic(x float64) float64 { return min(x, 0) - math.Log1p(math.Exp(-math.Abs(x))) }

// logNormal is the logarithm of the normal distribution's cumulative density.
func logNormal(x float64) float64 {
	if x < -30 { // erfc underflows soon
		return -x*x/2 - math.Log(-x) - lnSqrt2Pi
	}
	return math.Log(math.Erfc(-x/math.Sqrt2) / 2)
}

// mode is the most frequent log odds of wrong pairs, by the shifted probabilities.
func (h *oddsHistogram) mode(shift float64) float64 {
	const n = 2 * oddsBound / modeStep
	var wrong [int(n)]float64
	for i, count := range h.counts {
		x := h.center(i)
		wrong[int((x+oddsBound)/modeStep)] += count * Logistic(-x-shift)
	}
	best, at := -1.0, 0
	for i := range wrong {
		sum := 0.0
		for j := max(0, i-modeSmooth); j <= min(len(wrong)-1, i+modeSmooth); j++ {
			sum += wrong[j]
		}
		if sum > best {
			best, at = sum, i
		}
	}
	return -oddsBound + (float64(at)+0.5)*modeStep
}

// believed is the weight of a mixture that expects so many translations where the shift expects others.
func (h *oddsHistogram) believed(c *curve, expected, shifted, times float64) float64 {
	if expected > shifted*times && expected >= minApart && expected <= maxApart*h.total {
		doubt := 0.0
		for i, count := range h.counts {
			if count > 0 {
				of := c.at(h.center(i))
				doubt += count * min(of, 1-of)
			}
		}
		if doubt <= maxApartDoubt*expected {
			return 1
		}
	}
	if shifted < minMixedPairs {
		return 0
	}
	bound := MixedTimes
	beyond := shifted / (MixedTimes * expected)
	if expected > shifted {
		bound, beyond = times, expected/(times*shifted)
	}
	return max(0, min(1, 1-math.Log(beyond)/math.Log(bound)))
}

// mixed fits the mixture, and returns its posterior as a curve and the number of translations that it expects.
func (h *oddsHistogram) mixed(shift float64) (*curve, float64) {
	from := h.mode(shift)
	var places, counts []float64
	for i, count := range h.counts {
		x := h.center(i)
		if x < from {
			continue
		}
		bin := int((x - from) / valleyStep)
		for len(places) <= bin {
			places, counts = append(places, from+(float64(len(places))+0.5)*valleyStep), append(counts, 0)
		}
		counts[bin] += count
	}
	loss := func(w []float64) float64 {
		v := valleyOf(w, from)
		sum := v.penalty() + shiftWeight*v.against(shift)
		for i, count := range counts {
			if count > 0 {
				wrong, right := v.logs(places[i])
				high, low := max(wrong, right), min(wrong, right)
				sum -= count * (high + math.Log1p(math.Exp(low-high)))
			}
		}
		if math.IsNaN(sum) {
			return math.Inf(1)
		}
		return sum
	}
	best := mostLikely(loss, 1e-5, [][]float64{
		{math.Log(1.5), 3, math.Log(2), -2.5, 0}, {math.Log(1.5), 3, math.Log(2), 0, 0}, {math.Log(1.5), 3, math.Log(2), 3, 0},
	})
	if best == nil {
		return nil, 0
	}
	found := valleyOf(best, from)
	c := found.curve(places)
	expected := 0.0
	for i, count := range h.counts {
		expected += count * c.at(h.center(i))
	}
	return c, expected
}

// against is how much less likely the mixture makes the outcomes that the shifted probabilities expect.
func (v *valley) against(shift float64) float64 {
	sum := 0.0
	for z := -float64(priorReach); z <= priorReach; z += priorStep {
		x := z - shift
		if x <= v.from {
			continue
		}
		p, q := Logistic(z), max(minPosterior, min(1-minPosterior, v.posterior(x)))
		sum += p*math.Log(p/q) + (1-p)*math.Log((1-p)/(1-q))
	}
	return sum
}

// posterior is the probability of a translation at some log odds.
func (v *valley) posterior(x float64) float64 {
	wrong, right := v.logs(x)
	return Logistic(right - wrong)
}

// curve is a probability by a scorer's log odds, which never decreases: values at from and from there in steps.
type curve struct {
	from   float64
	places []float64
	values []float64
}

// curve returns the posterior from the mode on: constant up to its lowest place, and never lower than before it.
func (v *valley) curve(places []float64) *curve {
	c := &curve{from: v.from, places: append([]float64{v.from}, places...)}
	lowest := 0
	for i, x := range c.places {
		c.values = append(c.values, v.posterior(x))
		if x < rightFrom && c.values[i] < c.values[lowest] {
			lowest = i
		}
	}
	for i := range c.values {
		if i < lowest {
			c.values[i] = c.values[lowest]
		} else if i > 0 {
			c.values[i] = max(c.values[i], c.values[i-1])
		}
	}
	return c
}

// at interpolates. Below the mode probabilities fall as the scorer's do.
func (c *curve) at(x float64) float64 {
	if x < c.from {
		return c.values[0] * Logistic(x) / Logistic(c.from)
	}
	at := 0
	if x >= c.places[1] {
		at = 1 + int((x-c.places[1])/valleyStep)
	}
	if at+1 >= len(c.places) {
		return c.values[len(c.values)-1]
	}
	part := (x - c.places[at]) / (c.places[at+1] - c.places[at])
	part = max(0, min(1, part))
	return c.values[at] + part*(c.values[at+1]-c.values[at])
}

// simplexSize is the first steps of the search for the most likely mixture, in units of its numbers.
const simplexSize = 0.2

// mostLikely looks for the numbers with the lowest loss from several starts at the same time, until a hundred steps win
// less than enough. Of equal losses the first start's holds. It returns nil if no start leads anywhere.
func mostLikely(loss func(w []float64) float64, enough float64, starts [][]float64) (numbers []float64) {
	results := make([]*optimize.Result, len(starts))
	var all sync.WaitGroup
	for i, start := range starts {
		all.Go(func() {
			settings := &optimize.Settings{MajorIterations: 2000, Converger: &optimize.FunctionConverge{Absolute: enough, Iterations: 100}}
			method := &optimize.NelderMead{SimplexSize: simplexSize}
			if result, err := optimize.Minimize(optimize.Problem{Func: loss}, start, settings, method); err == nil {
				results[i] = result
			}
		})
	}
	all.Wait()
	best := math.Inf(1)
	for _, r := range results {
		if r != nil && r.F < best {
			best, numbers = r.F, r.X
		}
	}
	return numbers
}
