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

// adafactor is Adafactor (Shazeer and Stern, 2018) without momentum and with the schedule's rate unchanged. The second
// moment of a matrix is stored as its row and column means; its decay is 1 - step^-0.8. An update with a root mean
// square above 1 is scaled down to 1.
type adafactor struct{ Settings }

const (
	tinySquare = 1e-30 // added to squared gradients (epsilon 1 in the paper)
	decayPower = -0.8
)

func (a adafactor) moments(t *weights.Tensor) []weights.Spec {
	if len(t.Shape) < 2 {
		return []weights.Spec{{Name: "adafactor.v/" + t.Name, Shape: t.Shape}}
	}
	return []weights.Spec{
		{Name: "adafactor.rows/" + t.Name, Shape: []int{t.Rows()}},
		{Name: "adafactor.columns/" + t.Name, Shape: []int{len(t.Data) / t.Rows()}},
	}
}

func (a adafactor) update(t *weights.Tensor, state []*weights.Tensor, rate float64, step int) {
	beta := 1 - math.Pow(float64(step), decayPower)
	var root func(i int) float64 // root of the second moment at index i
	if len(state) == 1 {
		v := state[0].Data
		for i, g := range t.Grad {
			v[i] = float32(beta*float64(v[i]) + (1-beta)*(float64(g)*float64(g)+tinySquare))
		}
		root = func(i int) float64 { return math.Sqrt(float64(v[i])) }
	} else {
		root = factored(t, state[0].Data, state[1].Data, beta)
	}
	var sum float64
	for i, g := range t.Grad {
		u := float64(g) / root(i)
		sum += u * u
	}
	scale := rate / max(1, math.Sqrt(sum/float64(len(t.Data))))
	decay := rate * a.WeightDecay
	if t.NoDecay {
		decay = 0
	}
	for i, g := range t.Grad {
		t.Data[i] = float32(float64(t.Data[i])*(1-decay) - scale*float64(g)/root(i))
	}
}

// factored updates the means of squares. It returns the root of their product divided by the mean of the row means.
func factored(t *weights.Tensor, rows, columns []float32, beta float64) func(int) float64 {
	width := len(columns)
	byColumn := make([]float64, width)
	var mean float64
	for r := range rows {
		var row float64
		for c, g := range t.Grad[r*width : (r+1)*width] {
			square := float64(g)*float64(g) + tinySquare
			row += square
			byColumn[c] += square
		}
		rows[r] = float32(beta*float64(rows[r]) + (1-beta)*row/float64(width))
		mean += float64(rows[r])
	}
	mean /= float64(len(rows))
	for c := range columns {
		columns[c] = float32(beta*float64(columns[c]) + (1-beta)*byColumn[c]/float64(len(rows)))
	}
	return func(i int) float64 { return math.Sqrt(float64(rows[i/width]) / mean * float64(columns[i%width])) }
}
