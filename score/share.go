package score

import (
	"math"

	"bitextmine/mine"
)

// The ways in which probabilities are adapted to a text.
const (
	ByScorer  = "scorer"  // they are the scorer's: too few pairs to estimate a share from
	ByShift   = "shift"   // prior shift alone
	ByMargins = "margins" // the distribution of the margins: no scorer, or one that expects less
	ByMixture = "mixture" // the distribution of the log odds, with the prior shift as its prior
	ByStrong  = "strong"  // one of these, and then what the strong encoder of two-stage mining adds
)

const (
	// DefaultPrior is the share of translations among the matched pairs that a scorer expects whose file has no prior.
	// Of seven languages any six choose this or 0.07 for the other one.
	DefaultPrior = 0.1
	// MinUnknownPrecision is the expected precision at a cut that is found where the encoder does not know one of the
	// languages: its probabilities are then worth less, and few wrong pairs do more harm than few pairs.
	MinUnknownPrecision = 0.8
	// minPrior and maxPrior bound what a scorer expects.
	minPrior, maxPrior = 0.01, 0.5
	// followedRight is the part of surest pairs that is right where weights followed the text
	// (bench/results/scoring-2026-11-26.md).
	followedRight = 0.98
	// refinedRight is the part that is right of the surest pairs among those in doubt that the strong encoder of
	// two-stage mining confirms (bench/results/two-stage-2026-11-28.md).
	refinedRight = 0.95
	// minAdapted is how many matched pairs a share is estimated from.
	minAdapted = 50
	// mostly is the share of translations among matched pairs above which the mixture takes hard translations for wrong
	// pairs, which it hardly sees: then it only raises probabilities. On eleven texts of packages and programs F1 is 2.5
	// higher on average, and 0.3 lower in one (bench/results/cut-2026-11-25.md).
	mostly = 0.6
	// minShare and maxShare bound the estimated share of translations among matched pairs.
	minShare, maxShare = 0.001, 0.999

	oddsStep  = 0.02 // width of a bin of log odds
	oddsBound = 16   // log odds of a float32 probability are within it
	oddsBins  = 2 * oddsBound / oddsStep
)

// PriorOf is the share of translations among matched pairs that the scorer expects. Its file states it of the
// candidates that it was fitted on, of which a text has several for each matched pair.
func (s *Scorer) PriorOf(candidates, matched int) float64 {
	if s.Prior <= 0 || matched == 0 {
		return DefaultPrior
	}
	return max(minPrior, min(maxPrior, s.Prior*float64(candidates)/float64(matched)))
}

// Adapted maps a scorer's probabilities to those that hold in one text, whose share of translations is unknown. The map
// never decreases, so it keeps the order of candidates.
type Adapted struct {
	By     string
	Pairs  float64 // expected translations among the matched pairs
	shift  float64 // added to the log odds
	curve  *curve  // nil: only the shift
	weight float64 // share of the curve in the probability, the rest is the shift's
	most   bool    // most matched pairs are translations: the higher of both probabilities holds
	raised float64 // added to the log odds of all that
	right  float64 // part of what looks like a translation that is one
}

// Adapt estimates from the probabilities of matched pairs what part of them are translations, and adapts them. prior is
// the share among matched pairs that the scorer expects. The share is the most likely one by EM (Saerens, Latinne and
// Decaestecker 2002, "Adjusting the Outputs of a Classifier to New a Priori Probabilities"). A mixture may expect at
// most so many times as many as the shift; with 0 the shift is all.
func Adapt(probabilities []float32, prior, times float64) *Adapted {
	return adapt(probabilities, prior, times, 1)
}

// Adapt adapts the probabilities of matched pairs as the function Adapt does, but by the shift alone where the text has
// many near misses, which lie between its two kinds, and where the encoder does not know one of the languages. Where
// the margins keep translations apart, at least so many are expected.
func (r *Ranked) Adapt(verdicts []mine.Verdict, prior float64, known bool) (*Adapted, error) {
	right := 1.0
	if r.many {
		right = r.right
	}
	if r.scorer.Followed {
		right *= followedRight
	}
	matched := r.Matched(verdicts)
	if !known || r.many {
		return adapt(matched, prior, 0, right), nil
	}
	a := adapt(matched, prior, MixedTimes, right)
	pairs, weight, err := r.apart(verdicts, a.Pairs)
	if weight > 0 && a.By != ByScorer {
		a.raise(matched, a.Pairs+weight*(pairs-a.Pairs))
	}
	return a, err
}

// Settled are the probabilities of matched pairs that Ranked.Refine has adapted: they stay.
func Settled(probabilities []float32) *Adapted {
	return &Adapted{By: ByStrong, Pairs: Sum(probabilities), right: 1}
}

func adapt(probabilities []float32, prior, times, right float64) *Adapted {
	a := &Adapted{By: ByScorer, right: right}
	if len(probabilities) >= minAdapted {
		h := newOddsHistogram(probabilities)
		share := h.shift(prior)
		a.By, a.shift = ByShift, Odds(share)-Odds(prior)
		if times > 0 && h.total >= minMixed && share <= maxMixedShare {
			curve, expected := h.mixed(a.shift)
			if weight := h.believed(curve, expected, share*h.total, times); weight > 0 {
				a.By, a.curve, a.weight, a.most = ByMixture, curve, weight, share > mostly
			}
		}
	}
	a.Pairs = a.sum(probabilities)
	return a
}

// Of returns the adapted probability of a candidate whose probability is p.
func (a *Adapted) Of(p float32) float32 {
	if a.By == ByScorer || a.By == ByStrong {
		return float32(a.right) * p
	}
	of := Logistic(Odds(float64(p)) + a.shift)
	if a.curve != nil {
		shifted := of
		if of = a.weight*a.curve.at(Odds(float64(p))) + (1-a.weight)*shifted; a.most {
			of = max(of, shifted)
		}
	}
	if a.raised > 0 {
		of = Logistic(Odds(of) + a.raised)
	}
	return float32(a.right * of)
}

// Odds is the log odds of a probability, within what a stored one can tell.
func Odds(p float64) float64 { return max(-oddsBound, min(oddsBound, math.Log(p/(1-p)))) }

// oddsHistogram counts log odds in bins, so that an estimate costs the same for any number of pairs.
type oddsHistogram struct {
	counts [oddsBins]float64
	total  float64
}

func newOddsHistogram(probabilities []float32) *oddsHistogram {
	h := &oddsHistogram{total: float64(len(probabilities))}
	for _, p := range probabilities {
		h.counts[min(oddsBins-1, int((Odds(float64(p))+oddsBound)/oddsStep))]++
	}
	return h
}

// center is the middle of a bin.
func (h *oddsHistogram) center(i int) float64 { return -oddsBound + (float64(i)+0.5)*oddsStep }

// shift is the most likely share of translations, within bounds, if odds are as many times those of the scorer as the
// share's are those of the prior.
func (h *oddsHistogram) shift(prior float64) float64 {
	const rounds, enough = 2000, 1e-9
	share := prior
	for range rounds {
		by, expected := Odds(share)-Odds(prior), 0.0
		for i, count := range h.counts {
			if count > 0 {
				expected += count * Logistic(h.center(i)+by)
			}
		}
		last := share
		if share = max(minShare, min(maxShare, expected/h.total)); math.Abs(share-last) < enough {
			break
		}
	}
	return share
}

// Sum is the number of translations that probabilities make one expect.
func Sum(probabilities []float32) (sum float64) {
	for _, p := range probabilities {
		sum += float64(p)
	}
	return sum
}

// Cut returns the lowest adapted probability that is kept for the highest expected F-beta. probabilities belong to
// the matched pairs, best first, and their sum is the number of true pairs in all. Where even that F-beta is below one
// half, a kept pair is more likely right than not.
func Cut(probabilities []float32, beta float64) float64 {
	expected := Sum(probabilities)
	threshold, best, sum := 0.5, 0.5, 0.0
	for i, p := range probabilities {
		sum += float64(p)
		if i+1 < len(probabilities) && probabilities[i+1] == p {
			continue
		}
		if f := (1 + beta*beta) * sum / (float64(i+1) + beta*beta*expected); f > best {
			best, threshold = f, float64(p)
		}
	}
	return threshold
}
