// Package statistic computes what eval's reports do not have: the difference of two systems with its error over seeds
// and sentences, what may be concluded from it, the time of a step, and the share of a label on its own pair.
package statistic

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Outcome is the result of a comparison.
type Outcome int

// The outcomes.
const (
	Untested Outcome = iota // it cannot be known
	Held                    // the difference is as claimed, larger than its error, and may be as large as in the paper
	Smaller                 // it is as claimed and larger than its error, but surely smaller than in the paper
	NotHeld                 // it may be 0, and is surely smaller than in the paper
	Contrary                // it has the opposite sign and is larger than its error
)

func (o Outcome) String() string {
	return [...]string{"not tested", "held", "held, smaller", "not held", "contrary"}[o]
}

// Seed is the items of two systems with one seed, by language.
type Seed struct{ Better, Worse []Items }

func (s Seed) difference(draws map[int][]int) (sum float64) {
	for i, x := range s.Better {
		draw := draws[len(x[0])]
		sum += (x.of(draw) - s.Worse[i].of(draw)) / float64(len(s.Better))
	}
	return sum
}

// Effect is the difference of two systems in points, in the claim's direction.
type Effect struct {
	Mean, Error float64 // Mean ± Error is its interval at 95%
	Seeds       int
	// standard errors of the mean over seeds and over sentences
	BySeed, BySentence float64
}

// resamples is the number of draws of a bootstrap.
const resamples = 500

// Compare computes the mean difference over seeds and its error. The standard errors over seeds and over sentences are
// those of two bootstraps, the former enlarged by n/(n-1), which a bootstrap of n values lacks. Languages with as many
// sentences share their draws, because FLORES and NTREX have the same sentences in all. The error is the quantile of
// Student's t at the degrees of freedom of Welch and Satterthwaite, of which sentences have infinitely many.
func Compare(seeds []Seed) Effect {
	e := Effect{Seeds: len(seeds)}
	each := make([]float64, len(seeds))
	for i, s := range seeds {
		each[i] = s.difference(nil)
	}
	if len(seeds) == 0 {
		return e
	}
	e.Mean = stat.Mean(each, nil)
	rng, means := rand.New(rand.NewPCG(1, 33)), make([]float64, resamples)
	var lengths []int
	draws := map[int][]int{}
	for _, x := range seeds[0].Better {
		if n := len(x[0]); draws[n] == nil {
			lengths, draws[n] = append(lengths, n), make([]int, n)
		}
	}
	for b := range means {
		for _, n := range lengths {
			for i := range draws[n] {
				draws[n][i] = rng.IntN(n)
			}
		}
		means[b] = 0
		for _, s := range seeds {
			means[b] += s.difference(draws) / float64(len(seeds))
		}
	}
	e.BySentence = stat.StdDev(means, nil)
	if len(seeds) > 1 {
		for b := range means {
			means[b] = 0
			for range each {
				means[b] += each[rng.IntN(len(each))] / float64(len(each))
			}
		}
		n := float64(len(each))
		e.BySeed = stat.StdDev(means, nil) * math.Sqrt(n/(n-1))
		e.Error = Quantile(e.BySeed, e.BySentence, len(seeds)) * math.Hypot(e.BySeed, e.BySentence)
	}
	return e
}

// Quantile returns the quantile of Student's t for an interval at 95%, of standard errors over n seeds and over many
// sentences.
func Quantile(bySeed, bySentence float64, n int) float64 {
	if bySeed == 0 {
		return distuv.UnitNormal.Quantile(0.975)
	}
	share := bySeed * bySeed / (bySeed*bySeed + bySentence*bySentence)
	return distuv.StudentsT{Sigma: 1, Nu: float64(n-1) / (share * share)}.Quantile(0.975)
}

// Outcome compares an effect with the paper's. claimed is 0 where the paper gives no size.
func (e Effect) Outcome(claimed float64) Outcome {
	switch {
	case e.Seeds < 2:
		return Untested
	case e.Mean < -e.Error:
		return Contrary
	case e.Mean > e.Error && claimed > 0 && e.Mean+e.Error < claimed:
		return Smaller
	case e.Mean > e.Error:
		return Held
	case e.Mean+e.Error < claimed:
		return NotHeld
	}
	return Untested
}

func (e Effect) String() string {
	switch e.Seeds {
	case 0:
		return "no rows"
	case 1:
		return fmt.Sprintf("%+.2f, one seed", e.Mean)
	}
	return fmt.Sprintf("%+.2f ± %.2f", e.Mean, e.Error)
}

// Summary writes the mean of values and, of several, their standard deviation.
func Summary(values []float64, decimals int) string {
	switch len(values) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%.*f", decimals, values[0])
	}
	mean, spread := stat.MeanStdDev(values, nil)
	return fmt.Sprintf("%.*f ± %.*f", decimals, mean, decimals, spread)
}
