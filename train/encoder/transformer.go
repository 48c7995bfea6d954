package encoder

import (
	"context"
	"fmt"
	"math"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	g "github.com/gomlx/gomlx/core/graph"

	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/layers"
	"bitextmine/train/weights"
)

// Transformer is an encoder of transformer layers. The rows of its tables are looked up and their gradients added on
// the host, so that a step moves a batch's rows and never a vocabulary's; everything else is one graph. It is not for
// concurrent use.
type Transformer struct {
	Settings
	resident device.Resident // has the inner weights; nil: they are on the host. Backward needs them there

	backend compute.Backend
	tensors []*weights.Tensor          // the tensors of Specs, in its order
	byName  map[string]*weights.Tensor // the same
	inner   []*weights.Tensor          // the tensors that enter the graph: all but the tables
	sines   []float32                  // [max tokens, width] of sinusoidal positions
	graphs  graphs
	build   Build
}

// Build is Settings.Build, or what an encoder of another graph has in its place.
type Build func(s Settings, params map[string]*g.Node, embedded, lengths *g.Node, dropout *layers.Dropout) Encoded

// NewTransformer makes a transformer on a device. tensors must be those of Specs, as weights.New or a reader of
// published weights made them; it learns by changing them.
func NewTransformer(s Settings, backend compute.Backend, tensors []*weights.Tensor) (*Transformer, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := weights.Match(s.Specs(), tensors); err != nil {
		return nil, err
	}
	t := WithGraph(s, backend, tensors, Settings.Build)
	if s.Positions == Sinusoidal {
		t.sines = layers.Sinusoids(s.MaxTokens, s.Width)
	}
	return t, nil
}

// WithGraph makes a transformer of another graph than that of its settings. Its first tensor is the table of words;
// all others enter the graph.
func WithGraph(s Settings, backend compute.Backend, tensors []*weights.Tensor, build Build) *Transformer {
	t := &Transformer{Settings: s, backend: backend, tensors: tensors, byName: map[string]*weights.Tensor{}, build: build}
	for _, w := range tensors {
		t.byName[w.Name] = w
		if w.Name != Words && w.Name != positions && w.Name != types {
			t.inner = append(t.inner, w)
		}
	}
	return t
}

// Inner are the weights that enter the graph: all but the tables.
func (t *Transformer) Inner() []*weights.Tensor { return t.inner }

// LearnsTables reports whether the tables are not frozen, so that embedded tokens need gradients.
func (t *Transformer) LearnsTables() bool { return !t.byName[Words].Frozen }

// Keep leaves the inner weights on a device, which has their values and takes their gradients.
func (t *Transformer) Keep(resident device.Resident) { t.resident = resident }

// Weights are the tensors in the order of Specs.
func (t *Transformer) Weights() []*weights.Tensor { return t.tensors }

// Forward gives the vectors [n, dim], not normalised, of one side. seed fixes the dropout; 0 means none and float32, as
// in evaluation.
func (t *Transformer) Forward(ctx context.Context, side data.Side, seed uint64) ([]float32, error) {
	p, err := onePass(ctx, t, side, seed)
	if err != nil {
		return nil, err
	}
	out, err := t.graphs.run(p, "forward", nil)
	if err != nil {
		return nil, fmt.Errorf("encode %d sentences of %d tokens: %w", side.N, side.Length, err)
	}
	return out[0], nil
}

// Tokens gives the vectors [n, length, width] of the tokens of one side after the last layer, as in evaluation. What
// stands after a sentence's length means nothing.
func (t *Transformer) Tokens(ctx context.Context, side data.Side) ([]float32, error) {
	p, err := onePass(ctx, t, side, 0)
	if err != nil {
		return nil, err
	}
	out, err := t.graphs.run(p, "tokens", nil)
	if err != nil {
		return nil, fmt.Errorf("tokens of %d sentences of %d tokens: %w", side.N, side.Length, err)
	}
	return out[0], nil
}

// Backward adds to the gradients of the weights, given those of Forward's vectors, [n, dim]; side and seed must be
// Forward's. It computes the side again.
func (t *Transformer) Backward(ctx context.Context, side data.Side, seed uint64, dVectors []float32) error {
	if t.resident != nil {
		return fmt.Errorf("gradient of %d vectors: the weights are on the device, where this step does not put gradients", side.N)
	}
	if len(dVectors) != side.N*t.Dim() {
		return fmt.Errorf("gradient of %d vectors: %d values instead of %d", side.N, len(dVectors), side.N*t.Dim())
	}
	p, err := onePass(ctx, t, side, seed)
	if err != nil {
		return err
	}
	out, err := t.graphs.run(p, "backward", dVectors)
	if err != nil {
		return fmt.Errorf("gradient of %d sentences of %d tokens: %w", side.N, side.Length, err)
	}
	p.AddGradients(out)
	return nil
}

func onePass(ctx context.Context, t *Transformer, side data.Side, seed uint64) (*Pass, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return t.Pass([]data.Side{side}, seed)
}

func add(dst, src []float32) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] += src[i]
	}
}

// wordScale is the factor by which words are multiplied.
func (s Settings) wordScale() float64 {
	if s.Positions == Sinusoidal {
		return math.Sqrt(float64(s.Width))
	}
	return 1
}

// maskShapes are the shapes of the masks of a pass over n sentences of one length, in the order in which Build takes
// them.
func (s Settings) maskShapes(n, length int) []shapes.Shape {
	all := []shapes.Shape{layers.RowMask(n, length, s.Width)}
	for range s.Layers {
		all = append(all, s.shape().MaskShapes(n, length)...)
	}
	return all
}
