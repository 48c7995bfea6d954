package encoder

import (
	"context"
	"fmt"
	"math"

	"github.com/gomlx/compute"

	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/weights"
)

// Transformer is an encoder of transformer layers. The rows of its tables are looked up and their gradients added on the host, so that a step moves a
// batch's rows and never a vocabulary's; everything else is one graph. It is not for concurrent use.
type Transformer struct {
	Settings
	backend compute.Backend
	tensors []*weights.Tensor          // as Specs
	byName  map[string]*weights.Tensor // the same
	inner   []*weights.Tensor          // those that enter the graph: all but the tables
	sines   []float32                  // [max tokens, width] of sinusoidal positions
	graphs  graphs
}

// NewTransformer makes a transformer on a device. tensors must be those of Specs, as weights.New or a reader of published weights made them; it learns
// by changing them.
func NewTransformer(s Settings, backend compute.Backend, tensors []*weights.Tensor) (*Transformer, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	t := &Transformer{Settings: s, backend: backend, tensors: tensors, byName: map[string]*weights.Tensor{}}
	for _, w := range tensors {
		t.byName[w.Name] = w
	}
	if err := weights.Match(s.Specs(), tensors); err != nil {
		return nil, err
	}
	for _, w := range tensors {
		if w.Name != Words && w.Name != positions && w.Name != types {
			t.inner = append(t.inner, w)
		}
	}
	if s.Positions == Sinusoidal {
		t.sines = s.sinusoids()
	}
	return t, nil
}

// Weights are the tensors in the order of Specs.
func (t *Transformer) Weights() []*weights.Tensor { return t.tensors }

// Dim is the length of a vector.
func (t *Transformer) Dim() int { return t.Width }

// Forward gives the vectors [n, dim], not normalised, of one side. seed fixes the dropout; 0 means none and float32, as in evaluation.
func (t *Transformer) Forward(ctx context.Context, side data.Side, seed uint64) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, err := t.batch([]data.Side{side}, seed)
	if err != nil {
		return nil, err
	}
	out, err := t.graphs.run(t, "forward", b, nil)
	if err != nil {
		return nil, fmt.Errorf("encode %d sentences of %d tokens: %w", side.N, side.Length, err)
	}
	return out[0], nil
}

// Backward adds to the gradients of the weights, given those of Forward's vectors, [n, dim]; side and seed must be Forward's. It computes the side again.
func (t *Transformer) Backward(ctx context.Context, side data.Side, seed uint64, dVectors []float32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(dVectors) != side.N*t.Width {
		return fmt.Errorf("gradient of %d vectors: %d values instead of %d", side.N, len(dVectors), side.N*t.Width)
	}
	b, err := t.batch([]data.Side{side}, seed)
	if err != nil {
		return err
	}
	out, err := t.graphs.run(t, "backward", b, dVectors)
	if err != nil {
		return fmt.Errorf("gradient of %d sentences of %d tokens: %w", side.N, side.Length, err)
	}
	t.addGradients(b, out)
	return nil
}

// addGradients takes the gradients of the embedded tokens and of the inner weights, in that order.
func (t *Transformer) addGradients(b *batch, grads [][]float32) {
	t.unembed(b, grads[0])
	for i, w := range t.inner {
		w.AddGradient(grads[1+i])
	}
}

func add(dst, src []float32) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] += src[i]
	}
}

// batch is one or more sides, one under the other, as the graph takes them.
type batch struct {
	n, length int
	ids       []int32 // [n, length]
	lengths   []int32 // [n]
	seed      uint64
	embedded  []float32 // [n, length, width]: words, positions and types added up; zero where padded
}

// training says that the pass is one of a training step, and not of an evaluation.
func (b *batch) training() bool { return b.seed != 0 }

// batch lays sides under each other, padded to the longest, and looks their tokens up.
func (t *Transformer) batch(sides []data.Side, seed uint64) (*batch, error) {
	b := &batch{seed: seed}
	for _, s := range sides {
		b.n += s.N
		b.length = max(b.length, s.Length)
	}
	if b.length > t.MaxTokens {
		return nil, badinput.Errorf("a batch has sentences of %d tokens but max_tokens is %d: cut them, or raise max_tokens", b.length, t.MaxTokens)
	}
	b.ids = make([]int32, b.n*b.length)
	b.lengths = make([]int32, 0, b.n)
	row := 0
	for _, s := range sides {
		for i := range s.N {
			copy(b.ids[row*b.length:], s.IDs[i*s.Length:(i+1)*s.Length])
			row++
		}
		b.lengths = append(b.lengths, s.Lengths...)
	}
	return b, t.embed(b)
}

// wordScale is what words are multiplied with.
func (s Settings) wordScale() float64 {
	if s.Positions == Sinusoidal {
		return math.Sqrt(float64(s.Width))
	}
	return 1
}

// sinusoids is [max tokens, width]: sines in the first half of a row and cosines in the second, the wavelengths 2π to 10000·2π. (The paper
// interleaves them, which is the same up to the order of the columns.)
func (s Settings) sinusoids() []float32 {
	out := make([]float32, s.MaxTokens*s.Width)
	half := (s.Width + 1) / 2
	for p := range s.MaxTokens {
		for i := range s.Width {
			angle := float64(p) * math.Pow(10000, -float64(i%half)/float64(half))
			if i < half {
				out[p*s.Width+i] = float32(math.Sin(angle))
			} else {
				out[p*s.Width+i] = float32(math.Cos(angle))
			}
		}
	}
	return out
}
