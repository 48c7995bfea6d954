// Package statistic computes what eval's reports do not have: the time of a step, the share of a label on its own pair,
// and the means of rows over seeds, their differences seed by seed, and what may be concluded from these.
package statistic

import (
	"fmt"
	"math"
)

// Summary is the mean and spread of a row's seeds.
type Summary struct {
	Mean, Spread float64 // spread is the sample standard deviation, 0 for one seed
	N            int
}

// Summarise computes the summary of values.
func Summarise(values []float64) Summary {
	s := Summary{N: len(values)}
	for _, x := range values {
		s.Mean += x / float64(s.N)
	}
	if s.N > 1 {
		for _, x := range values {
			s.Spread += (x - s.Mean) * (x - s.Mean) / float64(s.N-1)
		}
		s.Spread = math.Sqrt(s.Spread)
	}
	return s
}

func (s Summary) String() string { return s.Format(2) }

// Format writes mean ± spread with so many decimals: of one value the value, of none nothing.
func (s Summary) Format(decimals int) string {
	switch s.N {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%.*f", decimals, s.Mean)
	}
	return fmt.Sprintf("%.*f ± %.*f", decimals, s.Mean, decimals, s.Spread)
}

// Outcome is the result of a comparison.
type Outcome int

// The outcomes.
const (
	Untested Outcome = iota // it cannot be known: too few seeds, an error as large as the claim, or for a budget's reason
	Held                    // the difference is as claimed and larger than its error
	Unclear                 // the difference is within an error that is smaller than the claim
	Contrary                // the difference has the opposite sign and is larger than its error
)

func (o Outcome) String() string { return [...]string{"not tested", "held", "not held", "contrary"}[o] }

// quantiles are the 0.975 quantiles of Student's t distribution with 1 to 30 degrees of freedom.
var quantiles = []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
	2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042}

// Decide compares the mean of differences, in the claim's direction, with its error at 95%: of a paired t test, t(n-1)
// s/sqrt(n), where s is the standard deviation of the differences over seeds.
func Decide(differences []float64, lower bool, claimed float64) (mean, error float64, o Outcome) {
	s := Summarise(differences)
	if mean = s.Mean; lower {
		mean = 0 - mean // 0 stays 0
	}
	if s.N < 2 {
		return mean, 0, Untested
	}
	error = quantiles[min(s.N-1, len(quantiles))-1] * s.Spread / math.Sqrt(float64(s.N))
	switch {
	case mean > error:
		return mean, error, Held
	case mean < -error:
		return mean, error, Contrary
	case error >= claimed:
		return mean, error, Untested
	}
	return mean, error, Unclear
}
