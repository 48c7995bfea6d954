package optimiser

import (
	"math"

	"bitextmine/train/weights"
)

// adam is Adam (Kingma and Ba, 2015), AdamW (Loshchilov and Hutter, 2019) if the decay is decoupled, and AMSGrad (Reddi
// et al., 2018) if the largest second moment so far divides in place of the last, as PyTorch has it.
//
// If a batch touched only few rows of a table, the other rows and their moments do not change ("lazy" Adam): the
// moments of a word do not decay while it does not occur.
type adam struct{ Settings }

func (a adam) moments(t *weights.Tensor) []weights.Spec {
	specs := []weights.Spec{{Name: "adam.m/" + t.Name, Shape: t.Shape}, {Name: "adam.v/" + t.Name, Shape: t.Shape}}
	if a.Kind == "amsgrad" {
		specs = append(specs, weights.Spec{Name: "adam.largest/" + t.Name, Shape: t.Shape})
	}
	return specs
}

// corrections are the factors of the first and the second moment.
func (a adam) corrections(rate float64, step int) (c1, c2 float32) {
	return float32(rate / (1 - math.Pow(a.Beta1, float64(step)))), float32(1 / (1 - math.Pow(a.Beta2, float64(step))))
}

// decay returns the factor of the weights that is added to the gradient, and the factor that shrinks them.
func (a adam) decay(t *weights.Tensor, rate float64) (l2, shrink float32) {
	switch {
	case t.NoDecay:
		return 0, 1
	case a.Kind == "adamw":
		return 0, float32(1 - rate*a.WeightDecay)
	}
	return float32(a.WeightDecay), 1
}

func (a adam) update(t *weights.Tensor, state []*weights.Tensor, rate float64, step int) {
	b1, b2 := float32(a.Beta1), float32(a.Beta2)
	c1, c2 := a.corrections(rate, step)
	eps := float32(a.Epsilon)
	l2, shrink := a.decay(t, rate)
	eachPart(t, func(lo, hi int) {
		w, g, m, v := t.Data[lo:hi], t.Grad[lo:hi], state[0].Data[lo:hi], state[1].Data[lo:hi]
		divides := v
		if len(state) == 3 {
			divides = state[2].Data[lo:hi]
		}
		for i, x := range w {
			d := g[i] + l2*x
			m[i] = b1*m[i] + (1-b1)*d
			v[i] = b2*v[i] + (1-b2)*d*d
			divides[i] = max(divides[i], v[i]) // Adam divides by v[i] itself
			w[i] = shrink*x - c1*m[i]/(float32(math.Sqrt(float64(c2*divides[i])))+eps)
		}
	})
}
