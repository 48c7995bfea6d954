package eval

import (
	"cmp"
	"math"
	"slices"
)

// Correlation is Pearson's r and Spearman's rho in percent over n pairs.
type Correlation struct {
	Pearson, Spearman float64
	Pairs             int
}

// CorrelationOf is the correlation of two lists of figures, which have the same length.
func CorrelationOf(gold, figures []float64) Correlation {
	return Correlation{
		Pearson:  100 * pearson(gold, figures),
		Spearman: 100 * pearson(ranks(gold), ranks(figures)),
		Pairs:    len(gold),
	}
}

// WeightedMean averages correlations weighted by their numbers of pairs. This is SemEval's figure for a year.
func WeightedMean(sets []Correlation) Correlation {
	var mean Correlation
	for _, c := range sets {
		mean.Pearson += c.Pearson * float64(c.Pairs)
		mean.Spearman += c.Spearman * float64(c.Pairs)
		mean.Pairs += c.Pairs
	}
	if mean.Pairs > 0 {
		mean.Pearson /= float64(mean.Pairs)
		mean.Spearman /= float64(mean.Pairs)
	}
	return mean
}

// pearson returns the correlation of x and y, or 0 if one of them is constant.
func pearson(x, y []float64) float64 {
	var mx, my float64
	for i := range x {
		mx += x[i]
		my += y[i]
	}
	n := float64(len(x))
	mx, my = mx/n, my/n
	var xy, xx, yy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xy += dx * dy
		xx += dx * dx
		yy += dy * dy
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

// ranks returns the rank of each value, from 1. Equal values get the mean of their ranks.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	out := make([]float64, len(values))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for _, at := range order[i:j] {
			out[at] = float64(i+1+j) / 2
		}
		i = j
	}
	return out
}
