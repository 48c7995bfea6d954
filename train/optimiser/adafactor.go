package optimiser

import (
	"math"

	"bitextmine/train/weights"
)

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
