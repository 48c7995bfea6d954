package fit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

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
}

func (r *regression) logit(w []float64, i int) float64 {
	z := 0.0
	if r.offset != nil {
		z = r.offset[i]
	}
	for t, v := range r.x[i*r.width : (i+1)*r.width] {
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

func (r *regression) loss(w []float64) float64 {
	loss := 0.0
	for i := range r.y {
		z := r.logit(w, i)
		// log(1 + exp(z)) - y z, without overflow
		loss += r.counts[i] * (math.Max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - r.y[i]*z)
	}
	for t := range w[:r.penalised()] {
		v, factor := r.from(w, t)
		loss += factor * v * v / 2
	}
	return loss / r.n
}

func (r *regression) gradient(grad, w []float64) {
	clear(grad)
	for i := range r.y {
		d := r.counts[i] * (score.Logistic(r.logit(w, i)) - r.y[i])
		for t, v := range r.x[i*r.width : (i+1)*r.width] {
			grad[t] += d * v
		}
	}
	for t := range grad {
		if t < r.penalised() {
			v, factor := r.from(w, t)
			grad[t] += factor * v
		}
		grad[t] /= r.n
	}
}

func (r *regression) hessian(hess *mat.SymDense, w []float64) {
	hess.Zero()
	h := hess.RawSymmetric()
	for i := range r.y {
		p := score.Logistic(r.logit(w, i))
		row := r.x[i*r.width : (i+1)*r.width]
		for a, v := range row {
			scaled := r.counts[i] * p * (1 - p) * v
			for b := a; b < r.width; b++ {
				h.Data[a*h.Stride+b] += scaled * row[b]
			}
		}
	}
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
