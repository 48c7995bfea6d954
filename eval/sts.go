package eval

import (
	"cmp"
	"math"
	"slices"

	"bitextmine/encode/embedding"
)

// STS is semantic textual similarity as evaluated in SemEval 2012-2017 and SICK.
var STS = Protocol{"sts", [2]string{
	"Correlation of the cosine of each pair with its gold score, in percent: Pearson (SemEval's measure) and Spearman (the embedding papers').",
	"Per set; a year's mean weights its sets by their pairs, as SemEval averages them; \"all\" is one correlation over the year's pairs together.",
}}

// STSSet is the pairs of one test set: the gold score and the cosine of each.
type STSSet struct {
	Year, Name   string
	Gold, Cosine []float64
}

// Correlation is Pearson's r and Spearman's rho in percent over n pairs.
type Correlation struct {
	Pearson, Spearman float64
	Pairs             int
}

// Cosines returns the cosine of each pair of rows of two matrices [n, dim] in float16 or float32.
func Cosines(a, b embedding.Matrix) []float64 {
	out := make([]float64, a.N)
	x, y := make([]float32, a.Dim), make([]float32, b.Dim)
	for i := range out {
		a.Float32(x, i, i+1)
		b.Float32(y, i, i+1)
		out[i] = float64(embedding.Dot(x, y))
	}
	return out
}

// Correlate computes the correlation of a set's cosines with gold.
func (s STSSet) Correlate() Correlation {
	return Correlation{
		Pearson:  100 * pearson(s.Gold, s.Cosine),
		Spearman: 100 * pearson(ranks(s.Gold), ranks(s.Cosine)),
		Pairs:    len(s.Gold),
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

// Together joins sets into one, for SemEval 2012's ALL and SentEval's "all".
func Together(sets []STSSet) STSSet {
	var all STSSet
	for _, s := range sets {
		all.Year = s.Year
		all.Gold = append(all.Gold, s.Gold...)
		all.Cosine = append(all.Cosine, s.Cosine...)
	}
	all.Name = "all"
	return all
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
