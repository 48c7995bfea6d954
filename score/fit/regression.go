package fit

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"bitextmine/encode/model"
	"bitextmine/internal/parallel"
	"bitextmine/score"
)

// penalty is the L2 weight: the factor of half the squared length of the weights, relative to the summed loss. With
// about 10^4 examples it only prevents collinear features (cosine and margins) from getting large weights of opposite
// sign.
const penalty = 1

// regression is a logistic regression: x [n, width], rows weighted by counts, with an L2 penalty on all weights but the
// intercept, which is the last one.
type regression struct {
	x, y, counts []float64
	offset       []float64 // [n] log odds that stay as they are; nil: 0
	fixed        bool      // there is no intercept, and all weights have a penalty
	// near are weights that the penalty pulls to, and pull its factor for each; nil: 0 and 1
	near, pull []float64
	width      int     // number of weights: one for each feature, and the intercept
	n          float64 // sum of counts; divided by it, loss and gradient have the size of one example's
	last       evaluation
}

// evaluation is what weights say of each example; loss, gradient and Hessian of the same weights share it.
type evaluation struct {
	weights               []float64
	losses, probabilities []float64 // [n]
}

func (r *regression) row(i int) []float64 { return r.x[i*r.width:][:r.width] }

// steepness is the second derivative of an example's loss by its logit, where it was evaluated last.
func (r *regression) steepness(i int) float64 {
	p := r.last.probabilities[i]
	return r.counts[i] * p * (1 - p)
}

func (r *regression) logit(w []float64, i int) float64 {
	z := 0.0
	if r.offset != nil {
		z = r.offset[i]
	}
	for t, v := range r.row(i) {
		z += w[t] * v
	}
	return z
}

// penalised is the number of weights with a penalty.
func (r *regression) penalised() int {
	if r.fixed {
		return r.width
	}
	return r.width - 1
}

// from is how far a weight is from where the penalty pulls it, and the penalty's factor.
func (r *regression) from(w []float64, t int) (distance, factor float64) {
	if r.near == nil {
		return w[t], penalty
	}
	return w[t] - r.near[t], penalty * r.pull[t]
}

// evaluate computes what weights say of each example, unless that was done last.
func (r *regression) evaluate(w []float64) *evaluation {
	e := &r.last
	if slices.Equal(e.weights, w) {
		return e
	}
	n := len(r.y)
	e.weights = append(e.weights[:0], w...)
	e.losses, e.probabilities = slices.Grow(e.losses[:0], n)[:n], slices.Grow(e.probabilities[:0], n)[:n]
	parallel.Ranges(n, r.width, func(from, to int) {
		for i := from; i < to; i++ {
			z := r.logit(w, i)
			// log(1 + exp(z)) - y z, without overflow
			e.losses[i] = r.counts[i] * (math.Max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - r.y[i]*z)
			e.probabilities[i] = score.Logistic(z)
		}
	})
	return e
}

func (r *regression) loss(w []float64) float64 {
	loss := 0.0
	for _, l := range r.evaluate(w).losses {
		loss += l
	}
	for t := range w[:r.penalised()] {
		v, factor := r.from(w, t)
		loss += factor * v * v / 2
	}
	return loss / r.n
}

func (r *regression) gradient(grad, w []float64) {
	clear(grad)
	for i, p := range r.evaluate(w).probabilities {
		floats.AddScaled(grad, r.counts[i]*(p-r.y[i]), r.row(i))
	}
	for t := range grad {
		if t < r.penalised() {
			v, factor := r.from(w, t)
			grad[t] += factor * v
		}
		grad[t] /= r.n
	}
}

// addProducts adds what examples are to a row of the Hessian.
func (r *regression) addProducts(h []float64, stride, a int, rows *[4][]float64, steep *[4]float64) {
	sums := h[a*stride:][a:r.width]
	w, x, y, z := rows[0][a:][:len(sums)], rows[1][a:][:len(sums)], rows[2][a:][:len(sums)], rows[3][a:][:len(sums)]
	ws, xs, ys, zs := steep[0]*w[0], steep[1]*x[0], steep[2]*y[0], steep[3]*z[0]
	for b := range sums {
		sums[b] = sums[b] + ws*w[b] + xs*x[b] + ys*y[b] + zs*z[b]
	}
}

func (r *regression) hessian(hess *mat.SymDense, w []float64) {
	hess.Zero()
	h, n := hess.RawSymmetric(), len(r.evaluate(w).probabilities)
	half := (r.width + 1) / 2 // each long row goes with a short one, so that all ranges have as many sums
	parallel.Ranges(half, n*(r.width+1), func(from, to int) {
		for i := 0; i < n; i += 4 { // four at once, because reading and writing the sums takes long
			var rows [4][]float64
			var steep [4]float64
			for k := range rows {
				rows[k] = r.row(min(i+k, n-1))
				if i+k < n {
					steep[k] = r.steepness(i + k)
				}
			}
			for a := from; a < to; a++ {
				r.addProducts(h.Data, h.Stride, a, &rows, &steep)
				if other := r.width - 1 - a; other != a {
					r.addProducts(h.Data, h.Stride, other, &rows, &steep)
				}
			}
		}
	})
	for a := range r.width {
		if a < r.penalised() {
			_, factor := r.from(w, a)
			h.Data[a*h.Stride+a] += factor
		}
		for b := a; b < r.width; b++ {
			h.Data[a*h.Stride+b] /= r.n
		}
	}
}

// regress returns the weights [width] that minimise the loss, by Newton's method.
func regress(x, y, counts []float64) ([]float64, error) {
	return (&regression{x: x, y: y, counts: counts, width: len(x) / len(y)}).minimise()
}

// minimise returns the weights with the lowest loss.
func (r *regression) minimise() ([]float64, error) {
	for _, count := range r.counts {
		r.n += count
	}
	problem := optimize.Problem{Func: r.loss, Grad: r.gradient, Hess: r.hessian}
	settings := &optimize.Settings{GradientThreshold: 1e-9, MajorIterations: 100}
	result, err := optimize.Minimize(problem, make([]float64, r.width), settings, &optimize.Newton{})
	// Newton's last line search may find no lower value because of rounding. The gradient then shows whether this is
	// the minimum.
	if result == nil || len(result.X) != r.width {
		return nil, fmt.Errorf("fit scorer: %w", err)
	}
	gradient := make([]float64, r.width)
	r.gradient(gradient, result.X)
	for _, g := range gradient {
		if !(math.Abs(g) < 1e-6) {
			return nil, fmt.Errorf("fit scorer: no minimum was found (%v)", result.Status)
		}
	}
	return result.X, nil
}

const (
	// firstWeight is the weight of the first encoder's log odds beside the strong encoder's. Both see the same pairs,
	// so they are not independent. Of two strong encoders the one chooses 0.7, at which the other loses 0.1, and the
	// other at most 0.6 (bench/results/two-stage-2026-11-28.md).
	firstWeight = 0.6
	// minStrong is how many translations, and how many other pairs, must be expected among the candidates for the
	// strong encoder's weights to be fitted.
	minStrong = 20
	// maxStrong is about how many candidates are looked at: more change little.
	maxStrong = 100_000
)

// Strong fits what a strong encoder adds to a scorer on a text's own candidates, which the scorer has ranked. How much
// its cosine and its margin tell is learnt from the scorer's adapted probabilities: these are right often enough, and
// no known pairs are needed. The result adds the log odds of both, for the share of translations among the candidates
// that the strong encoder has seen. It is nil where the probabilities do not tell of both kinds of pairs, or the strong
// encoder nothing of them.
func Strong(r *score.Ranked, adapted *score.Adapted) (*score.Refined, error) {
	if r.Distances == nil {
		return nil, nil
	}
	var seen []int
	for i := range r.Candidates {
		if r.Seen(i) {
			seen = append(seen, i)
		}
	}
	var values [][]float32
	var y, counts []float64
	expected := 0.0
	for at, every := 0, len(seen)/maxStrong+1; at < len(seen); at += every {
		i := seen[at]
		values = append(values, []float32{r.Cosines[i], r.Distances[i]})
		y, counts = append(y, float64(adapted.Of(r.Probabilities[i]))), append(counts, 1)
		expected += y[len(y)-1]
	}
	n := float64(len(y))
	if expected < minStrong || n-expected < minStrong {
		return nil, nil
	}
	terms := standardise(score.RefinedFeatures[1:], score.Numbers(0, len(y)), func(i int32) []float32 { return values[i] })
	x := make([]float64, 0, len(y)*(len(terms)+1))
	for _, v := range values {
		x = appendStandard(x, terms, v)
	}
	weights, err := regress(x, y, counts)
	if err != nil {
		return nil, err
	}
	for t := range terms {
		terms[t].Weight = weights[t]
	}
	if !(weights[1] > 0) { // the margin's weight must be positive, because a strong encoder is asked for high margins
		return nil, nil
	}
	first := score.RefinedFeatures[0]
	return &score.Refined{
		Intercept: weights[len(terms)],
		Terms: append([]score.Term{{
			Feature: first.Name, Version: first.Version, Mean: math.Log(expected / (n - expected)), Deviation: 1, Weight: firstWeight,
		}}, terms...),
	}, nil
}

// minJudged is how many pairs a judge must have seen for its weight to be learnt on them.
const minJudged = 100

// Judged returns how a judge's logits are merged with a scorer's log odds in a text. The judge's weight is learnt from
// the pairs that it saw, whose adapted probabilities by the scorer are given: a judge that does not agree with them in
// this text gets little weight, and one that contradicts them none. The intercept is such that the judge on the whole
// expects as many translations as the scorer. ok is false where there are too few pairs to learn from.
func Judged(logits, probabilities []float64) (_ model.Merge, ok bool, err error) {
	n, expected := float64(len(logits)), 0.0
	for _, p := range probabilities {
		expected += p
	}
	if len(logits) < minJudged || expected < minStrong || n-expected < minStrong {
		return model.Merge{}, false, nil
	}
	x, counts := make([]float64, 0, 2*len(logits)), make([]float64, len(logits))
	for i, z := range logits {
		x, counts[i] = append(x, z, 1), 1
	}
	w, err := regress(x, probabilities, counts)
	switch {
	case err != nil:
		return model.Merge{}, false, err
	case w[0] <= 0:
		return model.Merge{Scorer: 1}, true, nil
	}
	return model.Merge{Scorer: 1, Judge: w[0], Intercept: w[1] - math.Log(expected/(n-expected))}, true, nil
}
