package optimiser

import (
	"math"

	"bitextmine/train/weights"
)

// eachPart calls do, from several goroutines, for ranges of t.Data that together cover the rows with gradients.
func eachPart(t *weights.Tensor, do func(lo, hi int)) {
	rows, width := t.Rows(), len(t.Data)/t.Rows()
	if t.Touched != nil {
		rows = len(t.Touched)
	}
	weights.Parallel(rows, width, func(from, to int) {
		if t.Touched == nil {
			do(from*width, to*width)
			return
		}
		for _, r := range t.Touched[from:to] {
			do(int(r)*width, (int(r)+1)*width)
		}
	})
}

// squaresOf is the square of the L2 norm of all gradients in float64, summed over each row and then over the rows in
// order.
func squaresOf(tensors []*weights.Tensor) float64 {
	var sum float64
	for _, t := range tensors {
		width := len(t.Data) / t.Rows()
		squares := make([]float64, t.Rows())
		eachPart(t, func(lo, hi int) {
			for r := lo / width; r < hi/width; r++ {
				for _, g := range t.Grad[r*width : (r+1)*width] {
					squares[r] += float64(g) * float64(g)
				}
			}
		})
		for _, s := range squares {
			sum += s
		}
	}
	return sum
}

func scaleGradients(tensors []*weights.Tensor, by float32) {
	for _, t := range tensors {
		eachPart(t, func(lo, hi int) {
			for i := range t.Grad[lo:hi] {
				t.Grad[lo+i] *= by
			}
		})
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
