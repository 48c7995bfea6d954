package step

import (
	"math"
	"testing"

	"bitextmine/internal/pjrt/pjrttest"
	"bitextmine/train/data"
	"bitextmine/train/traintest"
	"bitextmine/train/weights"
)

// TestPluginComputesTheSame: a step through a PJRT plugin gives the terms and gradients of GoMLX's own backend, with
// dropout too.
func TestPluginComputesTheSame(t *testing.T) {
	plugin := "xla:" + pjrttest.Plugin(t)
	for _, chunk := range []int{0, 3} {
		var want []float32
		for _, name := range []string{"go", plugin} {
			b := &data.Batch{Step: 3, Views: []data.Side{traintest.Sentences(1, 3, 5, vocabulary), traintest.Sentences(2, 3, 7, vocabulary)}}
			head := weights.New(product{}.Heads()[0], 1)
			tr, backend := small(t, name, 0.1)
			values, err := New(tr, product{}, []*weights.Tensor{head}, backend, Options{Chunk: chunk}).Run(t.Context(), b, 1)
			if err != nil {
				t.Fatal(err)
			}
			var got []float32
			for _, v := range values {
				got = append(got, v.Value)
			}
			for _, w := range append(tr.Weights(), head) {
				got = append(got, w.Grad...)
			}
			if want == nil {
				want = got
				continue
			}
			for i, x := range want {
				if off := math.Abs(float64(got[i] - x)); !(off <= 1e-5*(1+math.Abs(float64(x)))) {
					t.Fatalf("chunk %d: number %d is %v on the plugin, %v in Go", chunk, i, got[i], x)
				}
			}
		}
	}
}
