package encoder

import (
	"math"
	"slices"
	"testing"

	"bitextmine/train/layers"
	"bitextmine/train/traintest"
	"bitextmine/train/weights"
)

// apart is the length of got - want over want's.
func apart(got, want []float32) float64 {
	var difference, length float64
	for i := range want {
		d := float64(got[i]) - float64(want[i])
		difference, length = difference+d*d, length+float64(want[i])*float64(want[i])
	}
	return math.Sqrt(difference / length)
}

// TestBFloat16Step: vectors and every gradient are within 3% of float32's, by their length (seen: up to 1.4%; a number
// of 8 bits is off by up to 0.4%), and are not float32's own. Without a seed they are float32's.
func TestBFloat16Step(t *testing.T) {
	const tolerance, seed = 0.03, 9
	for name, change := range variants {
		t.Run(name, func(t *testing.T) {
			s, ctx := small(change), traintest.Limited(t)
			s.Width, s.FFN = 32, 64
			rounded := s
			rounded.Precision = layers.BFloat16
			side := traintest.Sentences(5, 6, 7, s.Vocabulary)
			dVectors := traintest.Random(6, side.N*s.Dim())
			full, half := calm(t, s), calm(t, rounded)
			pass := func(tr *Transformer, seed uint64) []float32 {
				v, err := tr.Forward(ctx, side, seed)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			if !slices.Equal(pass(half, 0), pass(full, 0)) {
				t.Error("an evaluation is not float32's")
			}
			check := func(what string, got, want []float32) {
				if d := apart(got, want); !(d <= tolerance) || d == 0 {
					t.Errorf("%s is off by %.4f of its length, want more than 0 and at most %v", what, d, tolerance)
				}
			}
			check("vectors", pass(half, seed), pass(full, seed))
			for _, tr := range []*Transformer{full, half} {
				if err := tr.Backward(ctx, side, seed, dVectors); err != nil {
					t.Fatal(err)
				}
			}
			// A bias of keys has no gradient but rounding; the last norm's bias gets its own before any product.
			last := map[layers.Norm]string{layers.PostNorm: "layers.1.ffn.norm.bias", layers.PreNorm: "final.norm.bias"}[s.Norm]
			exempt := []string{"layers.0.attention.key.bias", "layers.1.attention.key.bias", last, "projection.bias"}
			for i, w := range half.Weights() {
				if !slices.Contains(exempt, w.Name) {
					check(w.Name, w.Grad, full.Weights()[i].Grad)
				}
			}
		})
	}
}

// calm is a transformer in pure Go with weights as they are when training has begun.
func calm(t *testing.T, s Settings) *Transformer {
	t.Helper()
	all := make([]*weights.Tensor, 0, len(s.Specs()))
	for _, spec := range s.Specs() {
		w := weights.New(spec, 3)
		for i, x := range traintest.Random(uint64(len(all)), len(w.Data)) {
			w.Data[i] += 0.1 * x
		}
		all = append(all, w)
	}
	tr, err := NewTransformer(s, open(t, "go"), all)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}
