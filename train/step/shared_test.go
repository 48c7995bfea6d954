package step

import (
	"math"
	"testing"

	"bitextmine/train/data"
	"bitextmine/train/encoder"
	"bitextmine/train/objective"
	_ "bitextmine/train/objective/ems"
	"bitextmine/train/traintest"
	"bitextmine/train/weights"
)

// With an objective that also reads the table of words, the loss along the gradient must change as the gradients of all
// tensors say, and the table's gradient must not pass for one of few rows. Two batches add up.
func TestStepSharesTheWords(t *testing.T) {
	ctx := traintest.Limited(t)
	tr, backend := small(t, "go", 0)
	section, err := objective.Default("ems").With(map[string]any{"contrastive": false, "shared_embedding": true, "language_token": false})
	if err != nil {
		t.Fatal(err)
	}
	o, err := section.Build(objective.Training{Dim: width, Width: width, Vocabulary: vocabulary, Languages: []string{"en"}, Table: encoder.Words})
	if err != nil {
		t.Fatal(err)
	}
	table := words(tr)
	heads := append(lively(o.Heads()), table)
	all := append(tr.Weights(), heads[:len(heads)-1]...)
	step := New(tr, o, heads, backend, Options{})
	b := &data.Batch{Views: []data.Side{traintest.Sentences(1, 4, 5, vocabulary), traintest.Sentences(2, 4, 5, vocabulary)}}
	loss := func() float64 {
		values, err := step.Run(ctx, b, 1)
		if err != nil {
			t.Fatal(err)
		}
		return float64(values[0].Value)
	}
	loss()
	once := append([]float32(nil), table.Grad...)
	loss()
	for i, x := range table.Grad {
		if math.Abs(float64(x-2*once[i])) > 1e-5 {
			t.Fatalf("number %d of the table's gradient is %v after two batches, %v after one", i, x, once[i])
		}
	}
	if table.Touched != nil {
		t.Error("a gradient of every row passes for one of few")
	}
	direction, slope := map[*weights.Tensor][]float32{}, 0.0
	for _, w := range all {
		direction[w] = append([]float32(nil), w.Grad...)
		for _, d := range w.Grad {
			slope += float64(d) * float64(d) / 2 // sum of two batches
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
