package train

import (
	"context"
	"math"
	"slices"
	"testing"

	"bitextmine/train/encoder"
	"bitextmine/train/layers"
)

// TestCachedGradients: a batch in chunks has the gradients of a batch that goes through at once, each of them the same
// one's that a fused graph gives.
func TestCachedGradients(t *testing.T) {
	for _, objective := range []func(*Config){by("contrastive", nil), by("ems", nil), by("ems", set{"shared_embedding": true})} {
		ctx := limited(t)
		plain := func(c *Config) { c.Encoder.Transformer.Dropout = 0 }
		fused := gradients(ctx, t, all(transformer, objective, plain))
		whole := gradients(ctx, t, all(transformer, objective, plain, func(c *Config) { c.Chunk = 16 }))
		chunks := gradients(ctx, t, all(transformer, objective, plain, func(c *Config) { c.Chunk = 6 }))
		same(t, "cached beside fused", fused, whole)
		same(t, "chunks", fused, chunks)
	}
}

// TestCachedDropout: each chunk's dropout is the same in the pass that gives vectors and in that which gives gradients.
// By finite differences: without it they would be those of another function.
func TestCachedDropout(t *testing.T) {
	ctx := limited(t)
	config, o := tiny(t, all(transformer, func(c *Config) { c.Chunk, c.Bitext.BatchSize, c.Encoder.Transformer.Dropout = 3, 8, 0.3 }))
	tr := takenUp(ctx, t, config, o)
	batch := tr.batches.Next()
	loss := func() (sum float64) {
		values, err := tr.steps.Run(ctx, batch, layers.Seed(1, 0, 0))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			sum += v.Weight * float64(v.Value)
		}
		return sum
	}
	loss()
	directions := map[string][]float32{}
	for _, w := range tr.encoder.Weights() {
		directions[w.Name] = slices.Clone(w.Grad) // the next loss adds to it
	}
	for _, w := range tr.encoder.Weights() {
		// Along its gradient the loss grows by the gradient's length.
		direction, squared := directions[w.Name], 0.0
		for _, x := range direction {
			squared += float64(x) * float64(x)
		}
		if squared < 1e-6 {
			continue
		}
		length := math.Sqrt(squared)
		by := 0.02 / max(1, length) // little enough for a steep loss, whose cosines are divided by 0.05
		step := float32(by / length)
		move := func(times float32) {
			for i := range w.Data {
				w.Data[i] += times * step * direction[i]
			}
		}
		move(1)
		up := loss()
		move(-2)
		down := loss()
		move(1)
		if got := (up - down) / (2 * by); math.Abs(got-length) > 0.02*length {
			t.Errorf("%s: the loss grows by %v along its gradient, whose length is %v", w.Name, got, length)
		}
	}
}

// gradients are those of the first batch, by tensor.
func gradients(ctx context.Context, t *testing.T, change func(*Config)) map[string][]float32 {
	t.Helper()
	config, o := tiny(t, change)
	tr := takenUp(ctx, t, config, o)
	if _, err := tr.steps.Run(ctx, tr.batches.Next(), layers.Seed(1, 0, 0)); err != nil {
		t.Fatal(err)
	}
	all := map[string][]float32{}
	for _, w := range append(tr.encoder.Weights(), tr.heads...) {
		all[w.Name] = w.Grad
		if w.Name == encoder.Words && config.Objective.Needs().Table && w.Touched != nil {
			t.Errorf("with a shared table only %d rows count as touched", len(w.Touched))
		}
	}
	return all
}

// same compares gradients by the largest difference beside the tensor's largest number.
func same(t *testing.T, what string, want, got map[string][]float32) {
	t.Helper()
	if len(want) != len(got) || len(want) == 0 {
		t.Fatalf("%s: %d tensors, want %d", what, len(got), len(want))
	}
	for name, w := range want {
		var most, off float64
		for i := range w {
			most = max(most, math.Abs(float64(w[i])))
			off = max(off, math.Abs(float64(w[i]-got[name][i])))
		}
		if !(off <= 1e-5*max(1, most)) {
			t.Errorf("%s: the gradient of %s is off by %v; its largest number is %v", what, name, off, most)
		}
	}
}
