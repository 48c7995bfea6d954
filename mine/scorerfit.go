package mine

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// MinPlanted is the least number of planted pairs that a scorer is fitted on: below it, weights of so many features are noise.
const MinPlanted = 100

// folds is in how many parts planted pairs are cut to measure a fit on pairs that it has not seen.
const folds = 5

// penalty is the L2 weight: that of half the squared length of the weights beside the summed loss. On some 10^4 examples
// it only keeps collinear features (cosine, its margins) from growing large weights of opposite sign.
const penalty = 1

// Examples are candidates of known standing, from planted pairs.
type Examples struct {
	Values FeatureValues
	True   []bool
	Group  []int32 // the planted pair that each belongs to: a fold holds whole pairs
	Alone  []bool  // it is of a sentence planted without its translation
}

// Add joins the examples of another planting; groups are kept apart.
func (e *Examples) Add(more Examples) {
	base := int32(0)
	for _, g := range e.Group {
		base = max(base, g+1)
	}
	e.Values = append(e.Values, more.Values...)
	e.True = append(e.True, more.True...)
	e.Alone = append(e.Alone, more.Alone...)
	for _, g := range more.Group {
		e.Group = append(e.Group, base+g)
	}
}

// Weigh returns how much an example of a sentence planted alone counts, where one of a pair planted whole counts 1, so that a share of
// the planted sentences has a translation, as is expected of the corpora. Without one or the other sort it is 1.
func (e *Examples) Weigh(share float64) float64 {
	alone := 0
	for _, a := range e.Alone {
		if a {
			alone++
		}
	}
	if alone == 0 || alone == len(e.Alone) {
		return 1
	}
	return float64(len(e.Alone)-alone) / float64(alone) * (1 - share) / share
}

// Fit fits the terms of a scorer and measures how well they do on pairs left out; alone is the weight of examples of sentences planted
// alone. The same examples in the same order give the same scorer, bit for bit, on one kind of machine.
func Fit(e Examples, alone float64) (*Scorer, error) {
	if e.Values.Len() != len(e.True) || len(e.Group) != len(e.True) || len(e.Alone) != len(e.True) {
		return nil, fmt.Errorf("fit scorer: %d, %d, %d and %d examples", e.Values.Len(), len(e.True), len(e.Group), len(e.Alone))
	}
	if !(alone > 0) {
		return nil, fmt.Errorf("fit scorer: the weight %v of sentences planted alone must be above 0", alone)
	}
	weight := func(i int) float64 {
		if e.Alone[i] {
			return alone
		}
		return 1
	}
	all := func(int32) bool { return true }
	s, err := fit(e, weight, all)
	if err != nil {
		return nil, err
	}
	held := make([]Judged, 0, len(e.True))
	for fold := range int32(folds) {
		part, err := fit(e, weight, func(group int32) bool { return group%folds != fold })
		if err != nil {
			return nil, fmt.Errorf("fold %d: %w", fold, err)
		}
		for i, group := range e.Group {
			if group%folds == fold {
				held = append(held, Judged{part.Probability(e.Values.Of(i)), e.True[i], weight(i)})
			}
		}
	}
	s.Quality = Measure(held)
	return s, nil
}

// fit fits on the examples of some groups.
func fit(e Examples, weight func(i int) float64, in func(group int32) bool) (*Scorer, error) {
	var rows []int
	positive := 0
	for i, group := range e.Group {
		if in(group) {
			rows = append(rows, i)
			if e.True[i] {
				positive++
			}
		}
	}
	if positive == 0 || positive == len(rows) {
		return nil, errors.New("fit scorer: the examples are all true or all false")
	}
	s := &Scorer{Format: scorerFormat, Terms: standardise(e.Values, rows)}
	x := make([]float64, 0, len(rows)*(features+1)) // standardised, with a last column of ones
	y, counts := make([]float64, 0, len(rows)), make([]float64, 0, len(rows))
	for _, i := range rows {
		for t, value := range e.Values.Of(i) {
			x = append(x, (float64(value)-s.Terms[t].Mean)/s.Terms[t].Deviation)
		}
		x = append(x, 1)
		label := 0.0
		if e.True[i] {
			label = 1
		}
		y, counts = append(y, label), append(counts, weight(i))
	}
	weights, err := regress(x, y, counts)
	if err != nil {
		return nil, err
	}
	for t := range s.Terms {
		s.Terms[t].Weight = weights[t]
	}
	s.Intercept = weights[features]
	return s, nil
}

// standardise takes each feature's mean and standard deviation over the rows; a feature that never varies gets a deviation of 1, so
// that its weight comes out as 0.
func standardise(values FeatureValues, rows []int) []Term {
	terms := make([]Term, features)
	for t, f := range Features {
		sum, squares := 0.0, 0.0
		for _, i := range rows {
			sum += float64(values.Of(i)[t])
		}
		mean := sum / float64(len(rows))
		for _, i := range rows {
			d := float64(values.Of(i)[t]) - mean
			squares += d * d
		}
		deviation := math.Sqrt(squares / float64(len(rows)))
		if deviation < 1e-9 {
			deviation = 1
		}
		terms[t] = Term{Feature: f.Name, Version: f.Version, Mean: mean, Deviation: deviation}
	}
	return terms
}

// regression is a logistic regression: x [n, features+1], each row counting as counts says, with the L2 penalty on all weights but the last.
type regression struct {
	x, y, counts []float64
	n            float64 // sum of counts: keeps loss and gradient of the size of one example's
}

const width = features + 1

func (r *regression) logit(w []float64, i int) float64 {
	z := 0.0
	for t, v := range r.x[i*width : (i+1)*width] {
		z += w[t] * v
	}
	return z
}

func (r *regression) loss(w []float64) float64 {
	loss := 0.0
	for i := range r.y {
		z := r.logit(w, i)
		// log(1 + exp(z)) - y z, without overflow
		loss += r.counts[i] * (math.Max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - r.y[i]*z)
	}
	for _, v := range w[:features] {
		loss += penalty * v * v / 2
	}
	return loss / r.n
}

func (r *regression) gradient(grad, w []float64) {
	clear(grad)
	for i := range r.y {
		d := r.counts[i] * (logistic(r.logit(w, i)) - r.y[i])
		for t, v := range r.x[i*width : (i+1)*width] {
			grad[t] += d * v
		}
	}
	for t := range grad {
		if t < features {
			grad[t] += penalty * w[t]
		}
		grad[t] /= r.n
	}
}

func (r *regression) hessian(hess *mat.SymDense, w []float64) {
	hess.Zero()
	h := hess.RawSymmetric()
	for i := range r.y {
		p := logistic(r.logit(w, i))
		row := r.x[i*width : (i+1)*width]
		for a, v := range row {
			scaled := r.counts[i] * p * (1 - p) * v
			for b := a; b < width; b++ {
				h.Data[a*h.Stride+b] += scaled * row[b]
			}
		}
	}
	for a := range width {
		if a < features {
			h.Data[a*h.Stride+a] += penalty
		}
		for b := a; b < width; b++ {
			h.Data[a*h.Stride+b] /= r.n
		}
	}
}

// regress returns the weights [features+1] that minimise the loss, by Newton's method.
func regress(x, y, counts []float64) ([]float64, error) {
	r := &regression{x: x, y: y, counts: counts}
	for _, count := range counts {
		r.n += count
	}
	problem := optimize.Problem{Func: r.loss, Grad: r.gradient, Hess: r.hessian}
	settings := &optimize.Settings{GradientThreshold: 1e-9, MajorIterations: 100}
	result, err := optimize.Minimize(problem, make([]float64, width), settings, &optimize.Newton{})
	// Newton's last line search may find nothing lower where rounding already decides; the gradient says whether it is the minimum.
	if result == nil || len(result.X) != width {
		return nil, fmt.Errorf("fit scorer: %w", err)
	}
	gradient := make([]float64, width)
	r.gradient(gradient, result.X)
	for _, g := range gradient {
		if !(math.Abs(g) < 1e-6) {
			return nil, fmt.Errorf("fit scorer: no minimum was found (%v)", result.Status)
		}
	}
	return result.X, nil
}
