package score

import "math"

const (
	minMargins = 500  // no distribution is fitted to fewer margins
	marginBins = 1000 // margins are counted in so many bins, so that a fit costs the same for any corpus
	mostWrong  = 1.06 // LASER's threshold, below which most margins of wrong pairs are: 0.93 to 0.99 were seen
)

// mixture is a distribution of margins: those of wrong pairs are Gumbel-distributed, as highest values of many are, and
// those of translations are normal.
type mixture struct {
	place, scale    float64 // the wrong ones' distribution
	mean, deviation float64 // the translations' distribution
	share           float64 // share of translations
}

// valid says whether translations are spread at least as far as wrong pairs and well above them, and wrong pairs are
// where those of any text are: their sentences' other neighbours are about as near.
func (m *mixture) valid() bool {
	return m.place < mostWrong && m.deviation >= m.scale && m.mean >= m.place+3*m.scale
}

// densities returns the densities of both kinds of pairs at a margin, each times its share.
func (m *mixture) densities(x float64) (wrong, right float64) {
	z := (x - m.place) / m.scale
	wrong = (1 - m.share) / m.scale * math.Exp(-z-math.Exp(-z))
	z = (x - m.mean) / m.deviation
	right = m.share / m.deviation / math.Sqrt(2*math.Pi) * math.Exp(-z*z/2)
	return wrong, right
}

// MarginProbabilities estimates from the margins of matched pairs, best first, how probably each pair is a translation:
// nothing but their distribution is known. ok is false if that does not tell two kinds of pairs.
func MarginProbabilities(margins []float32) (probabilities []float32, ok bool) {
	if len(margins) < minMargins {
		return nil, false
	}
	return MarginKinds(margins)
}

// MarginKinds is MarginProbabilities for any number of margins.
func MarginKinds(margins []float32) (probabilities []float32, ok bool) {
	if len(margins) == 0 {
		return nil, false
	}
	probabilities, _, ok = marginMixture(margins)
	return probabilities, ok
}

// marginMixture is MarginKinds, with the distribution.
func marginMixture(margins []float32) (probabilities []float32, m mixture, ok bool) {
	if m, ok = fitMixture(margins); !ok {
		return nil, m, false
	}
	probabilities = make([]float32, len(margins))
	for i, margin := range margins {
		x := float64(margin)
		if wrong, right := m.densities(x); right > 0 {
			probabilities[i] = float32(right / (wrong + right))
		}
		if x < m.place+2*m.scale && probabilities[i] < 0.5 {
			probabilities[i] = 0
			break // the bulk of the wrong pairs; the normal distribution is wider than that of translations is
		}
	}
	return probabilities, m, true
}

// fitMixture is the most likely mixture of margins, which are in descending order.
func fitMixture(margins []float32) (mixture, bool) {
	n := len(margins)
	quantile := func(q float64) float64 { return float64(margins[n-1-int(q*float64(n-1))]) }
	low, high := quantile(0.001), float64(margins[0])
	if !(high > low) {
		return mixture{}, false
	}
	width := (high - low) / marginBins
	counts := make([]float64, marginBins)
	sum, squares := 0.0, 0.0
	for _, margin := range margins {
		x := float64(margin)
		counts[max(0, min(marginBins-1, int((x-low)/width)))]++
		sum, squares = sum+x, squares+x*x
	}
	spread := math.Sqrt(max(0, squares/float64(n)-(sum/float64(n))*(sum/float64(n))))
	center := quantile(0.37) // where a Gumbel distribution has its peak
	loss := func(w []float64) float64 {
		m := mixtureOf(w, center, spread)
		if !m.valid() {
			return math.Inf(1)
		}
		loss := 0.0
		for i, count := range counts {
			if count > 0 {
				wrong, right := m.densities(low + (float64(i)+0.5)*width)
				loss -= count * math.Log(max(math.SmallestNonzeroFloat64, wrong+right))
			}
		}
		return loss / float64(n)
	}
	var starts [][]float64
	for _, q := range []float64{0.9, 0.97, 0.99} {
		starts = append(starts, []float64{0, math.Log(0.6), max((quantile(q)-center)/spread+1, 2), 0, -2.5})
	}
	for _, q := range []float64{0.02, 0.1, 0.25} { // wrong pairs are about as many as translations, or fewer
		starts = append(starts, []float64{(quantile(q) - center) / spread, math.Log(0.3), (quantile(0.6) - center) / spread, math.Log(0.7), 1})
	}
	best := mostLikely(loss, 1e-7, starts)
	if best == nil {
		return mixture{}, false
	}
	return mixtureOf(best, center, spread), true
}

// mixtureOf reads a mixture from numbers that may have any value, in units of the margins' spread.
func mixtureOf(w []float64, center, spread float64) mixture {
	return mixture{
		place: center + w[0]*spread, scale: spread * math.Exp(w[1]),
		mean: center + w[2]*spread, deviation: spread * math.Exp(w[3]), share: Logistic(w[4]),
	}
}
