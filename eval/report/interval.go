package report

import (
	"fmt"
	"math"
	"math/rand/v2"

	"bitextmine/internal/resample"
)

// Items are the data of a figure, for resampling: one list of how right each sentence's answer is, from 0 to 1
// (accuracies, error rates); two of the ranks of gold scores and of cosines (correlations); or three of the extracted,
// correct and gold pairs of each group of source sentences (F1). All lists have the same length.
type Items [][]float64

// Figure is the accuracy, Spearman's rho or F1, in percent, of drawn items, or of all if draw is nil.
func (x Items) Figure(draw []int) float64 {
	if draw == nil {
		draw = make([]int, len(x[0]))
		for i := range draw {
			draw[i] = i
		}
	}
	if len(x) == 2 {
		return correlation(x[0], x[1], draw)
	}
	var sums [3]float64 // a sum for each list
	for l, list := range x {
		for _, at := range draw {
			sums[l] += list[at]
		}
	}
	switch {
	case len(x) == 1:
		return 100 * sums[0] / float64(len(draw))
	case sums[0]+sums[2] == 0:
		return 0
	}
	return 200 * sums[1] / (sums[0] + sums[2])
}

// correlation is Pearson's of drawn numbers, in percent; 0 if one list has no variance.
func correlation(x, y []float64, draw []int) float64 {
	var sumX, sumY, squaresX, squaresY, products float64
	for _, at := range draw {
		a, b := x[at], y[at]
		sumX, sumY = sumX+a, sumY+b
		squaresX, squaresY, products = squaresX+a*a, squaresY+b*b, products+a*b
	}
	of := float64(len(draw))
	below := (squaresX - sumX*sumX/of) * (squaresY - sumY*sumY/of)
	if below <= 0 {
		return 0
	}
	return 100 * (products - sumX*sumY/of) / math.Sqrt(below)
}

// resamples is the number of bootstrap samples of an interval.
const resamples = 500

// interval is the 95% bootstrap interval of the figure Sampled of a row; ok is false if the row has no items.
func (r *Report) interval(row Row) (low, high float64, ok bool) {
	if r.Sampled == "" || row.Items == nil {
		return 0, 0, false
	}
	rng := rand.New(rand.NewPCG(1, 0))
	all := make([]int, len(row.Items[0]))
	for i := range all {
		all[i] = i
	}
	draw, drawn := make([]int, len(all)), make([]float64, resamples)
	for i := range drawn {
		resample.Draw(rng, all, draw)
		drawn[i] = row.Items.Figure(draw)
	}
	low, high = resample.Interval(row.Items.Figure(nil), drawn)
	if r.Sampled == errorRate {
		low, high = 100-high, 100-low
	}
	return low, high, true
}

// errorRate is the column whose items say what is right.
const errorRate = "error"

// withInterval puts the interval of a row behind the figure that it is of.
func (r *Report) withInterval(cells []string, interval string) []string {
	if r.Sampled == "" {
		return cells
	}
	out := make([]string, 0, len(cells)+1)
	for i, cell := range cells {
		out = append(out, cell)
		if i > 0 && r.Columns[i-1].Name == r.Sampled {
			out = append(out, interval)
		}
	}
	return out
}

// shownWithInterval is the cells of a row as people read them.
func (r *Report) shownWithInterval(row Row) []string {
	shown := ""
	if low, high, ok := r.interval(row); ok {
		shown = fmt.Sprintf("[%.2f, %.2f]", low, high)
	}
	return r.withInterval(r.shown(row), shown)
}
