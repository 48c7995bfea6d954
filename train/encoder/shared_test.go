package encoder

import (
	"math"
	"testing"

	"bitextmine/train/data"
	"bitextmine/train/objective"
	"bitextmine/train/weights"
)

// With an objective that also reads the table of words, the loss along the gradient must change as the gradients of all tensors say, and the table's
// gradient must not pass for one of few rows. Two batches add up.
func TestStepSharesTheWords(t *testing.T) {
	s, ctx := small(nil), limited(t)
	settings := objective.Defaults("ems")
	settings.Contrastive, settings.SharedEmbedding, settings.LanguageToken = false, true, false
	settings.Vocabulary, settings.Table = s.Vocabulary, Words
	o, err := objective.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	tr := make1(t, s, "go")
	heads := append(lively(o.Heads(s.Width)), tr.byName[Words])
	all := append(tr.Weights(), heads[:len(heads)-1]...)
	step := tr.NewStep(o, heads)
	b := &data.Batch{Source: sentences(s, 1, 4, 5), Target: sentences(s, 2, 4, 5)}
	loss := func() float64 {
		values, err := step.Run(ctx, b, 0)
		if err != nil {
			t.Fatal(err)
		}
		return float64(values[0].Value)
	}
	loss()
	once := append([]float32(nil), tr.byName[Words].Grad...)
	loss()
	for i, x := range tr.byName[Words].Grad {
		if math.Abs(float64(x-2*once[i])) > 1e-5 {
			t.Fatalf("number %d of the table's gradient is %v after two batches, %v after one", i, x, once[i])
		}
	}
	if tr.byName[Words].Touched != nil {
		t.Error("a gradient of every row passes for one of few")
	}
	direction, slope := map[*weights.Tensor][]float32{}, 0.0
	for _, w := range all {
		direction[w] = append([]float32(nil), w.Grad...)
		for _, d := range w.Grad {
			slope += float64(d) * float64(d) / 2 // of two batches
		}
	}
	along := func(by float32) float64 {
		for w, d := range direction {
			for i := range d {
				w.Data[i] += by * d[i]
			}
		}
		return loss()
	}
	h := float32(1e-2 / math.Sqrt(slope))
	above := along(h)
	below := along(-2 * h)
	if got := (above - below) / float64(2*h); math.Abs(got-slope) > 0.02*slope {
		t.Errorf("the slope along the gradient is %v instead of %v", got, slope)
	}
}
