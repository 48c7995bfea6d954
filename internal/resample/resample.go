// Package resample draws bootstrap samples and takes intervals from figures of them.
package resample

import (
	"math/rand/v2"
	"slices"
)

// Draw fills into with values of from, drawn with replacement.
func Draw[T any](rng *rand.Rand, from, into []T) {
	for i := range into {
		into[i] = from[rng.IntN(len(from))]
	}
}

// Interval is the 95% interval of a figure by its values in samples, which are sorted in place: from the 2.5th to the
// 97.5th percentile. It contains the figure itself. Without samples it is the figure alone.
func Interval(figure float64, drawn []float64) (low, high float64) {
	if len(drawn) == 0 {
		return figure, figure
	}
	slices.Sort(drawn)
	at := func(q float64) float64 { return drawn[int(q*float64(len(drawn)-1))] }
	return min(figure, at(0.025)), max(figure, at(0.975))
}
