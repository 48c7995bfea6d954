package encoder

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/layers"
	"bitextmine/train/traintest"
	"bitextmine/train/weights"
)

// small is a transformer in which every weight matters to every vector.
func small(change func(*Settings)) Settings {
	s := Settings{Layers: 2, Heads: 2, Width: 8, FFN: 12, Norm: layers.PostNorm, Positions: Learned, MaxTokens: 8, Activation: layers.GELU, Epsilon: 1e-5, Pooling: Mean, Vocabulary: 11, Precision: layers.Float32}
	if change != nil {
		change(&s)
	}
	return s
}

// variants are every choice of the settings at least once.
var variants = map[string]func(*Settings){
	"post norm, learned, gelu, mean": nil,
	"pre norm, sinusoidal, tanh, max": func(s *Settings) {
		s.Norm, s.Positions, s.Activation, s.Pooling = layers.PreNorm, Sinusoidal, layers.GELUTanh, Max
	},
	"offset, types, relu, cls":           func(s *Settings) { s.PositionOffset, s.TokenTypes, s.Activation, s.Pooling = 2, 2, layers.ReLU, CLS },
	"pooler, projection to more numbers": func(s *Settings) { s.Pooling, s.Projection = Pooler, 13 },
	"pre norm, projection to fewer":      func(s *Settings) { s.Norm, s.Projection = layers.PreNorm, 3 },
	"adapters, gelu, projection":         func(s *Settings) { s.LoRA, s.Projection = layers.LoRA{Rank: 3, Alpha: 1.5}, 5 },
	"adapters, tanh, pre norm": func(s *Settings) {
		s.LoRA, s.Activation, s.Norm = layers.LoRA{Rank: 2, Alpha: 1}, layers.GELUTanh, layers.PreNorm
	},
	"pre norm, types, learned, dropout": func(s *Settings) { s.Norm, s.TokenTypes, s.Dropout = layers.PreNorm, 1, 0.25 },
}

// lively draws weights large enough that no part of the arithmetic is near its linear range.
func lively(specs []weights.Spec) []*weights.Tensor {
	all := make([]*weights.Tensor, len(specs))
	for i, spec := range specs {
		spec.Init, spec.Scale = weights.Normal, 0.6
		all[i] = weights.New(spec, 3)
		all[i].NoDecay = spec.NoDecay
	}
	return all
}

func open(t testing.TB, name string) compute.Backend {
	t.Helper()
	b, err := device.Open(name, "")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func make1(t testing.TB, s Settings, name string) *Transformer {
	t.Helper()
	tr, err := NewTransformer(s, open(t, name), lively(s.Specs()))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// float64Loss is sum(vectors·dVectors) in float64, of Build without dropout on the backend in pure Go, as a function of
// the weights: what finite differences are taken of. The tables are looked up here a second time.
type float64Loss struct {
	t        *Transformer
	exec     *g.Exec
	side     data.Side
	dVectors []float32
}

func (l float64Loss) at(tensor string, index int, delta float64) float64 {
	value := func(w *weights.Tensor, i int) float64 {
		if w.Name == tensor && i == index {
			return float64(w.Data[i]) + delta
		}
		return float64(w.Data[i])
	}
	t := l.t
	embedded := make([]float64, l.side.N*l.side.Length*t.Width)
	for row := range l.side.N {
		for p := range int(l.side.Lengths[row]) {
			for c := range t.Width {
				x := value(t.byName[Words], int(l.side.IDs[row*l.side.Length+p])*t.Width+c)
				if t.Positions == Learned {
					x += value(t.byName[positions], (p+t.PositionOffset)*t.Width+c)
				} else {
					x = x*math.Sqrt(float64(t.Width)) + float64(t.sines[p*t.Width+c])
				}
				if t.TokenTypes > 0 {
					x += value(t.byName[types], c)
				}
				embedded[(row*l.side.Length+p)*t.Width+c] = x
			}
		}
	}
	args := []any{tensors.FromFlatDataAndDimensions(embedded, l.side.N, l.side.Length, t.Width), tensors.FromFlatDataAndDimensions(l.side.Lengths, l.side.N)}
	for _, w := range t.inner {
		values := make([]float64, len(w.Data))
		for i := range values {
			values[i] = value(w, i)
		}
		args = append(args, tensors.FromFlatDataAndDimensions(values, w.Shape...))
	}
	sum := 0.0
	for i, v := range tensors.MustCopyFlatData[float64](l.exec.MustCall(args...)[0]) {
		sum += v * float64(l.dVectors[i])
	}
	return sum
}

func TestGradientsAgainstFiniteDifferences(t *testing.T) {
	for name, change := range variants {
		t.Run(name, func(t *testing.T) {
			s := small(change)
			s.Dropout = 0
			ctx := traintest.Limited(t)
			cpu, pure := make1(t, s, "cpu"), make1(t, s, "go")
			side := traintest.Sentences(5, 4, 5, s.Vocabulary)
			dVectors := traintest.Random(6, side.N*s.Dim())
			for _, tr := range []*Transformer{cpu, pure} {
				if err := tr.Backward(ctx, side, 0, dVectors); err != nil {
					t.Fatal(err)
				}
			}
			loss := float64Loss{t: pure, side: side, dVectors: dVectors}
			loss.exec = g.MustNewExec(pure.backend, func(nodes []*g.Node) []*g.Node {
				e, _ := pure.Take(nodes, false)
				return []*g.Node{e.Vectors}
			})
			rng := rand.New(rand.NewPCG(7, 0))
			for i, w := range cpu.Weights() {
				traintest.Near(t, w.Name+" on two backends", w.Grad, pure.Weights()[i].Grad, 1e-4)
				var got, want []float32
				for range 6 {
					at := rng.IntN(len(w.Data))
					const h = 1e-5
					got = append(got, w.Grad[at])
					want = append(want, float32((loss.at(w.Name, at, h)-loss.at(w.Name, at, -h))/(2*h)))
				}
				traintest.Near(t, w.Name, got, want, 1e-4)
			}
		})
	}
}

func TestBackendsGiveTheSameVectors(t *testing.T) {
	for name, change := range variants {
		t.Run(name, func(t *testing.T) {
			s, ctx := small(change), traintest.Limited(t)
			side := traintest.Sentences(1, 5, 6, s.Vocabulary)
			var vectors [2][]float32
			for i, device := range []string{"cpu", "go"} {
				var err error
				if vectors[i], err = make1(t, s, device).Forward(ctx, side, 9); err != nil {
					t.Fatal(err)
				}
			}
			traintest.Near(t, "vectors", vectors[0], vectors[1], 1e-4)
		})
	}
}

func TestPaddingAndCompanyDoNotChangeAVector(t *testing.T) {
	for name, change := range variants {
		t.Run(name, func(t *testing.T) {
			s, ctx := small(change), traintest.Limited(t)
			tr := make1(t, s, "cpu")
			side := traintest.Sentences(1, 6, 8, s.Vocabulary)
			for i := range side.IDs { // whatever a padded place holds
				if i%side.Length >= int(side.Lengths[i/side.Length]) {
					side.IDs[i] = 10
				}
			}
			together, err := tr.Forward(ctx, side, 0)
			if err != nil {
				t.Fatal(err)
			}
			for i, l := range side.Lengths {
				alone := data.Side{N: 1, Length: int(l), IDs: side.IDs[i*side.Length:][:l], Lengths: []int32{l}}
				vector, err := tr.Forward(ctx, alone, 0)
				if err != nil {
					t.Fatal(err)
				}
				traintest.Near(t, fmt.Sprintf("sentence %d of %d tokens", i, l), vector, together[i*s.Dim():(i+1)*s.Dim()], 1e-5)
			}
		})
	}
}

// Along any direction the loss with a seed's dropout must change as Backward with that seed says.
func TestDropoutIsTheSeeds(t *testing.T) {
	s := small(func(s *Settings) { s.Dropout = 0.25 })
	tr, ctx := make1(t, s, "go"), traintest.Limited(t)
	side, dVectors := traintest.Sentences(1, 6, 5, s.Vocabulary), traintest.Random(2, 6*s.Width)
	forward := func(seed uint64) []float32 {
		v, err := tr.Forward(ctx, side, seed)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	a := layers.Seed(1, 2, 0)
	if !slices.Equal(forward(a), forward(a)) || slices.Equal(forward(a), forward(layers.Seed(1, 2, 1))) || slices.Equal(forward(a), forward(0)) {
		t.Error("the vectors of a pass must depend on its seed alone")
	}
	if err := tr.Backward(ctx, side, a, dVectors); err != nil {
		t.Fatal(err)
	}
	loss := func(step float32) (sum float64) {
		for _, w := range tr.Weights() {
			for i, d := range w.Grad {
				w.Data[i] += step * d
			}
		}
		for i, v := range forward(a) {
			sum += float64(v) * float64(dVectors[i])
		}
		for _, w := range tr.Weights() {
			for i, d := range w.Grad {
				w.Data[i] -= step * d
			}
		}
		return sum
	}
	slope := 0.0
	for _, w := range tr.Weights() {
		for _, d := range w.Grad {
			slope += float64(d) * float64(d)
		}
	}
	const h = 1e-4
	if got := (loss(h) - loss(-h)) / (2 * h); math.Abs(got-slope) > 0.01*slope {
		t.Errorf("the slope along the gradient is %v instead of %v", got, slope)
	}
}

func TestUnfitBatchesAndSettingsAreRefused(t *testing.T) {
	s := small(nil)
	tr := make1(t, s, "go")
	long := traintest.Sentences(1, 2, 9, s.Vocabulary)
	if _, err := tr.Forward(traintest.Limited(t), long, 0); !badinput.Is(err) || !strings.Contains(err.Error(), "sentences of 9 tokens but max_tokens is 8") {
		t.Errorf("too long a batch gave %v", err)
	}
	strange := data.Side{N: 1, Length: 1, IDs: []int32{11}, Lengths: []int32{1}}
	if _, err := tr.Forward(traintest.Limited(t), strange, 0); err == nil || !strings.Contains(err.Error(), "the token 11 but the vocabulary has 11") {
		t.Errorf("a token of another vocabulary gave %v", err)
	}
	if err := tr.Backward(traintest.Limited(t), traintest.Sentences(1, 2, 3, s.Vocabulary), 0, make([]float32, 3)); err == nil || !strings.Contains(err.Error(), "3 values instead of 16") {
		t.Errorf("too few gradients gave %v", err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tr.Forward(stopped, traintest.Sentences(1, 2, 3, s.Vocabulary), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a stopped context gave %v", err)
	}
	s.Heads, s.Norm, s.Dropout = 3, "middle", 1
	want := `width is 8 but must be a multiple of heads, 3; norm is "middle" but must be one of [post pre]; dropout is 1 but must be from 0 to less than 1`
	if err := s.Validate(); !badinput.Is(err) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("unfit settings gave %v", err)
	}
	if _, err := NewTransformer(small(nil), tr.backend, tr.tensors[1:]); !badinput.Is(err) || !strings.Contains(err.Error(), "embeddings.words is missing") {
		t.Errorf("a missing table gave %v", err)
	}
}
