// Package analysis measures properties of trained encoders that the papers of their systems report: the hubs of the
// vector space, the neighbours of tokens, the quality of the vectors of a loss's own layers, and the softness of a
// teacher's labels.
package analysis

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"

	"github.com/gomlx/compute"

	"bitextmine/encode"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
	"bitextmine/train"
	"bitextmine/train/checkpoint"
	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/encoder"

	"bitextmine/train/weights"
)

// Trained is the transformer of a checkpoint, with the weights of its loss. Unlike the exported encoder, it gives
// vectors that are not normalised, and tokens.
type Trained struct {
	config     train.Config
	backend    compute.Backend
	vocabulary *tokenizer.Vocabulary
	options    data.Options
	encoder    *encoder.Transformer
	heads      map[string]*weights.Tensor
}

// Open opens the newest checkpoint of the training in dir.
func Open(dir, library string) (t *Trained, err error) {
	t = &Trained{heads: map[string]*weights.Tensor{}}
	if t.config, err = train.ReadConfig(filepath.Join(dir, "config.yaml")); err != nil {
		return nil, err
	}
	if t.config.Encoder.Kind != "transformer" {
		return nil, badinput.Errorf("%s is the training of a %s: only a transformer has tokens", dir,
			t.config.Encoder.Kind)
	}
	checkpoints := checkpoint.Dir{Path: filepath.Join(dir, "checkpoints")}
	step, err := checkpoints.Best("")
	if err != nil {
		return nil, err
	}
	spelling := t.config.Tokenizer
	spelling.File = "spm.model"
	if t.vocabulary, err = tokenizer.OpenIn(dir, spelling); err != nil {
		return nil, err
	}
	bos, eos := t.vocabulary.Ends()
	t.options = data.Options{Tokenizer: t.vocabulary, Lowercase: t.config.Tokenizer.Lowercase,
		Number: t.vocabulary.Number, BOS: bos, EOS: eos, Prefixes: t.config.Prefixes}
	if t.backend, err = device.Open("cpu", library); err == nil {
		err = t.load(checkpoints.At(step))
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// load reads the weights of a checkpoint.
func (t *Trained) load(dir string) error {
	stored, metadata, err := encoder.ReadFrozen(dir)
	if err != nil {
		return err
	}
	// An encoder that started from other weights has their shape, not the preset's.
	var was struct{ Transformer encoder.Settings }
	if err = json.Unmarshal([]byte(metadata[checkpoint.Architecture]), &was); err == nil {
		stored, err = weights.Arrange(was.Transformer.Specs(), stored)
	}
	if err != nil {
		return badinput.Errorf("%s: %w", dir, err)
	}
	if t.encoder, err = encoder.NewTransformer(was.Transformer, t.backend, stored); err != nil {
		return err
	}
	heads, _, err := weights.ReadFile(filepath.Join(dir, checkpoint.Heads), nil)
	for _, w := range heads {
		t.heads[w.Name] = w
	}
	return err
}

// Close closes the vocabulary and the device.
func (t *Trained) Close() error {
	if t.backend != nil {
		t.backend.Finalize()
	}
	t.vocabulary.Close()
	return nil
}

// together is the number of sentences that are encoded at once.
const together = 64

// vectors gives the encoder's vectors [len(texts), dim], not normalised.
func (t *Trained) vectors(ctx context.Context, language string, texts []string) ([]float32, error) {
	dim := t.encoder.Dim()
	out := make([]float32, len(texts)*dim)
	for part, err := range t.config.Bitext.Parts(t.options, language, texts, together) {
		if err != nil {
			return nil, err
		}
		of, err := t.encoder.Forward(ctx, part.Side, 0)
		if err != nil {
			return nil, err
		}
		for i, row := range part.Rows {
			copy(out[row*dim:(row+1)*dim], of[i*dim:])
		}
	}
	return out, nil
}

// tokens gives the vectors of each text's own tokens, [n, width] for each.
func (t *Trained) tokens(ctx context.Context, language string, texts []string) ([][]float32, error) {
	out, before, after := make([][]float32, len(texts)), len(t.options.BOS), len(t.options.EOS)
	for part, err := range t.config.Bitext.Parts(t.options, language, texts, together) {
		if err != nil {
			return nil, err
		}
		of, err := t.encoder.Tokens(ctx, part.Side)
		if err != nil {
			return nil, err
		}
		width, length := t.encoder.Width, part.Side.Length
		for i, row := range part.Rows {
			for place := before; place < int(part.Side.Lengths[i])-after; place++ {
				at := (i*length + place) * width
				out[row] = append(out[row], of[at:at+width]...)
			}
		}
	}
	return out, nil
}

// Projected encodes by h(u) = W1 relu(W2 u + b2) + b1, the layers below EMS's contrastive terms, in place of u.
type Projected struct {
	*Trained
	first, second dense
}

type dense struct{ weight, bias *weights.Tensor }

// Projected returns false if the training's loss has no such layers.
func (t *Trained) Projected() (Projected, bool) {
	layer := func(name string) dense {
		return dense{t.heads["heads.contrastive."+name+".weight"], t.heads["heads.contrastive."+name+".bias"]}
	}
	p := Projected{t, layer("first"), layer("second")}
	return p, p.first.weight != nil && p.second.weight != nil
}

// Name is the name of the trained encoder, and h(u).
func (p Projected) Name() string { return p.config.Name + ", h(u)" }

// Dim is the number of values of h(u).
func (p Projected) Dim() int { return p.second.weight.Shape[1] }

// Encode writes unit vectors [len(texts), Dim].
func (p Projected) Encode(ctx context.Context, language string, texts []string, dst []float32) error {
	u, err := p.vectors(ctx, language, texts)
	if err != nil {
		return err
	}
	in, out := p.encoder.Dim(), p.Dim()
	for i, text := range texts {
		hidden := p.first.of(u[i*in : (i+1)*in])
		for j, x := range hidden {
			hidden[j] = max(x, 0)
		}
		row := dst[i*out : (i+1)*out]
		copy(row, p.second.of(hidden))
		if err := encode.Unit(row); err != nil {
			return badinput.Errorf("h(u) of %q %w", text, err)
		}
	}
	return nil
}

// of computes x W + b.
func (d dense) of(x []float32) []float32 {
	sums := make([]float64, d.weight.Shape[1])
	for i, b := range d.bias.Data {
		sums[i] = float64(b)
	}
	for i, a := range x {
		for j, w := range d.weight.Row(i) {
			sums[j] += float64(a) * float64(w)
		}
	}
	out := make([]float32, len(sums))
	for i, s := range sums {
		out[i] = float32(s)
	}
	return out
}

// cosine is the product of unit vectors.
func cosine(a, b []float32) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

// softmax replaces logits by probabilities.
func softmax(x []float64) {
	largest, sum := math.Inf(-1), 0.0
	for _, v := range x {
		largest = max(largest, v)
	}
	for i, v := range x {
		x[i] = math.Exp(v - largest)
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
}
