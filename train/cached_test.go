package train

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/encoder"
	"bitextmine/train/objective"
	"bitextmine/train/weights"
)

// sentences are n sentences of 1 to length words.
func sentences(seed uint64, n, length, words int) data.Side {
	rng := rand.New(rand.NewPCG(seed, 0))
	s := data.Side{N: n, Length: length, IDs: make([]int32, n*length), Lengths: make([]int32, n), Languages: make([]uint16, n)}
	for i := range n {
		s.Lengths[i] = 1 + rng.Int32N(int32(length))
		for p := range int(s.Lengths[i]) {
			s.IDs[i*length+p] = rng.Int32N(int32(words))
		}
	}
	return s
}

// A batch that is encoded chunk by chunk must give the gradients that it gives in one graph; also where an objective reads the encoder's words.
func TestCachedIsFused(t *testing.T) {
	ems := objective.Defaults("ems")
	ems.MLPDim, ems.LanguageDim = 4, 3
	shared := ems
	shared.SharedEmbedding = true
	muse := objective.Defaults("muse")
	muse.Negatives = 2
	for name, s := range map[string]objective.Settings{"contrastive": objective.Defaults("contrastive"), "muse": muse, "ems": ems, "ems, shared words": shared} {
		t.Run(name, func(t *testing.T) {
			timer := time.AfterFunc(time.Minute, func() { panic(t.Name() + " hangs") })
			defer timer.Stop()
			model := encoder.Defaults()
			model.Layers, model.Heads, model.Width, model.FFN, model.Dropout, model.MaxTokens, model.Vocabulary = 1, 2, 8, 12, 0, 6, 40
			s.Dim, s.Vocabulary, s.Languages, s.Table = model.Width, model.Vocabulary, []string{"en"}, encoder.Words
			loss, err := objective.New(s)
			if err != nil {
				t.Fatal(err)
			}
			b := &data.Batch{Source: sentences(1, 5, 6, 40), Target: sentences(2, 5, 4, 40)}
			if s.Negatives > 0 {
				negatives := sentences(3, 5*s.Negatives, 6, 40)
				b.Negatives = &negatives
			}
			chunked, chunkedHeads, chunkedTerms := gradients(t, s, model, loss, b, 2)
			fused, fusedHeads, fusedTerms := gradients(t, s, model, loss, b, 0)
			for i := range fusedTerms {
				if got, want := chunkedTerms[i], fusedTerms[i]; got.Name != want.Name || math.Abs(float64(got.Value-want.Value)) > 1e-5 {
					t.Errorf("the term %v instead of %v", got, want)
				}
			}
			for i, want := range append(fused, fusedHeads...) {
				same(t, append(chunked, chunkedHeads...)[i], want)
			}
		})
	}
}

// gradients are those of a new transformer's tensors and heads after two batches; a chunk of 0 is the fused step.
func gradients(t *testing.T, s objective.Settings, model encoder.Settings, loss objective.Objective, b *data.Batch, chunk int) (all, heads []*weights.Tensor, terms []encoder.Value) {
	t.Helper()
	backend, err := device.Open("go", "")
	if err != nil {
		t.Fatal(err)
	}
	transformer, err := encoder.NewTransformer(model, backend, newTensors(model.Specs(), 4))
	if err != nil {
		t.Fatal(err)
	}
	all = transformer.Weights()
	heads = newTensors(loss.Heads(model.Width), 5)
	read := heads
	if s.NeedsTable() {
		read = append(read, all[0]) // Words
	}
	var step stepper = transformer.NewStep(loss, read)
	if chunk > 0 {
		step = &cached{encoder: transformer, objective: loss, heads: read, backend: backend, chunk: chunk, programs: map[shape]*lossProgram{}}
	}
	for range 2 {
		if terms, err = step.Run(t.Context(), b, 0); err != nil {
			t.Fatal(err)
		}
	}
	return all, heads, terms
}

// same wants a gradient within 1e-4 of the largest value wanted, and as many rows touched.
func same(t *testing.T, got, want *weights.Tensor) {
	t.Helper()
	var most float64
	for _, x := range want.Grad {
		most = max(most, math.Abs(float64(x)))
	}
	for i, x := range want.Grad {
		if d := math.Abs(float64(got.Grad[i] - x)); !(d <= 1e-4*most+1e-7) {
			t.Errorf("%s: the gradient %d is %g, want %g", want.Name, i, got.Grad[i], x)
			return
		}
	}
	if (got.Touched == nil) != (want.Touched == nil) || len(got.Touched) != len(want.Touched) {
		t.Errorf("%s: rows touched %v, want %v", want.Name, got.Touched, want.Touched)
	}
}
