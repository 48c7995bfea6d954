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

// Times is the effect on a scale of so many times.
func (e Effect) Times(factor float64) Effect {
	return Effect{e.Mean * factor, e.Error * factor, e.Seeds, e.BySeed * factor, e.BySentence * factor}
}

// resamples is the number of draws of a bootstrap.
const resamples = 10000

// Compare computes the mean difference over seeds and its error. The standard error over seeds is that of their mean,
// the one over sentences a bootstrap's. The error is the quantile of Student's t at the degrees of freedom of Welch and
// Satterthwaite, of which sentences have infinitely many.
func Compare(seeds []Seed) Effect {
	e := Effect{Seeds: len(seeds)}
	if len(seeds) == 0 {
		return e
	}
	each := make([]float64, len(seeds))
	for i, s := range seeds {
		each[i] = s.difference(nil)
	}
	e.Mean, e.BySentence = stat.Mean(each, nil), bySentence(seeds)
	if n := len(seeds); n > 1 {
		e.BySeed = stat.StdDev(each, nil) / math.Sqrt(float64(n))
		e.Error = Quantile(e.BySeed, e.BySentence, n) * math.Hypot(e.BySeed, e.BySentence)
	}
	return e
}

// bySentence is the standard error over sentences: the standard deviation of the mean over seeds when the sentences are
// drawn again. Languages with as many sentences share their draws, because FLORES and NTREX have the same sentences in
// all.
func bySentence(seeds []Seed) float64 {
	draws := map[int][]int{}
	var lengths []int
	shares := true // figures are means over sentences
	for _, x := range seeds[0].Better {
		shares = shares && len(x) == 1
		if n := len(x[0]); draws[n] == nil {
			lengths, draws[n] = append(lengths, n), make([]int, n)
		}
	}
	if shares {
		return ofShares(seeds, lengths)
	}
	rng, means := rand.New(rand.NewPCG(1, 33)), make([]float64, resamples)
	for b := range means {
		for _, n := range lengths {
			for i := range draws[n] {
				draws[n][i] = rng.IntN(n)
			}
		}
		for _, s := range seeds {
			means[b] += s.difference(draws) / float64(len(seeds))
		}
	}
	return stat.StdDev(means, nil)
}

// ofShares is what bySentence draws, in closed form, of answers of which the figures are shares: the root of a
// sentence's variance divided by their number, summed over lengths.
func ofShares(seeds []Seed, lengths []int) float64 {
	sum := 0.0
	for _, n := range lengths {
		points := make([]float64, n) // a sentence's difference in points, the mean over seeds and languages
		for _, s := range seeds {
			for l, x := range s.Better {
				if len(x[0]) != n {
					continue
				}
				for i, answer := range x[0] {
					points[i] += 100 * (answer - s.Worse[l][0][i]) / float64(len(seeds)*len(s.Better))
				}
			}
		}
		sum += stat.PopVariance(points, nil) / float64(n)
	}
	return math.Sqrt(sum)
}

// Quantile returns the quantile of Student's t for an interval at 95%, of standard errors over n seeds and over many
// sentences.
func Quantile(bySeed, bySentence float64, n int) float64 {
	if bySeed == 0 {
		return distuv.UnitNormal.Quantile(0.975)
	}
	share := bySeed * bySeed / (bySeed*bySeed + bySentence*bySentence)
	const many = 1e9 // degrees of freedom; with more of them gonum's quantile is wrong
	return distuv.StudentsT{Sigma: 1, Nu: min(float64(n-1)/(share*share), many)}.Quantile(0.975)
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
