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
	"time"

	"github.com/gomlx/compute"
	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/objective"
	"bitextmine/train/weights"
)

// small is a transformer in which every weight matters to every vector.
func small(change func(*Settings)) Settings {
	s := Settings{Layers: 2, Heads: 2, Width: 8, FFN: 12, Norm: PostNorm, Positions: Learned, MaxTokens: 8, Activation: GELU, Epsilon: 1e-5, Pooling: Mean, Vocabulary: 11, Precision: Float32}
	if change != nil {
		change(&s)
	}
	return s
}

// variants are every choice of the settings at least once.
var variants = map[string]func(*Settings){
	"post norm, learned, gelu, mean":    nil,
	"pre norm, sinusoidal, tanh, max":   func(s *Settings) { s.Norm, s.Positions, s.Activation, s.Pooling = PreNorm, Sinusoidal, GELUTanh, Max },
	"offset, types, relu, cls":          func(s *Settings) { s.PositionOffset, s.TokenTypes, s.Activation, s.Pooling = 2, 2, ReLU, CLS },
	"pre norm, types, learned, dropout": func(s *Settings) { s.Norm, s.TokenTypes, s.Dropout = PreNorm, 1, 0.25 },
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

// sentences are n sentences of 1 to length tokens, the first of them full.
func sentences(s Settings, seed uint64, n, length int) data.Side {
	rng := rand.New(rand.NewPCG(seed, 0))
	side := data.Side{N: n, Length: length, IDs: make([]int32, n*length)}
	for i := range n {
		l := length
		if i > 0 {
			l = 1 + rng.IntN(length)
		}
		side.Lengths = append(side.Lengths, int32(l))
		for p := range l {
			side.IDs[i*length+p] = rng.Int32N(int32(s.Vocabulary))
		}
	}
	return side
}

func random(seed uint64, n int) []float32 {
	rng := rand.New(rand.NewPCG(seed, 0))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64())
	}
	return out
}

func limited(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// near compares to a tolerance relative to the largest magnitude wanted.
func near(t testing.TB, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers instead of %d", what, len(got), len(want))
	}
	scale, worst, at := 1e-2, 0.0, 0 // a bias of keys has no gradient but rounding
	for i := range want {
		scale = max(scale, math.Abs(float64(want[i])))
		if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= worst) {
			worst, at = d, i
		}
	}
	if !(worst <= tolerance*scale) {
		t.Errorf("%s: number %d is %v instead of %v (largest %v)", what, at, got[at], want[at], scale)
	}
}

// float64Loss is sum(vectors·dVectors) in float64, of Build without dropout on the backend in pure Go, as a function of the weights: what finite
// differences are taken of. The tables are looked up here a second time.
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
			ctx := limited(t)
			cpu, pure := make1(t, s, "cpu"), make1(t, s, "go")
			side := sentences(s, 5, 4, 5)
			dVectors := random(6, side.N*s.Width)
			for _, tr := range []*Transformer{cpu, pure} {
				if err := tr.Backward(ctx, side, 0, dVectors); err != nil {
					t.Fatal(err)
				}
			}
			loss := float64Loss{t: pure, side: side, dVectors: dVectors}
			loss.exec = g.MustNewExec(pure.backend, func(nodes []*g.Node) []*g.Node {
				e, _ := pure.take(nodes, false)
				return []*g.Node{e.Vectors}
			})
			rng := rand.New(rand.NewPCG(7, 0))
			for i, w := range cpu.Weights() {
				near(t, w.Name+" on two backends", w.Grad, pure.Weights()[i].Grad, 1e-4)
				var got, want []float32
				for range 6 {
					at := rng.IntN(len(w.Data))
					const h = 1e-5
					got = append(got, w.Grad[at])
					want = append(want, float32((loss.at(w.Name, at, h)-loss.at(w.Name, at, -h))/(2*h)))
				}
				near(t, w.Name, got, want, 1e-4)
			}
		})
	}
}

func TestBackendsGiveTheSameVectors(t *testing.T) {
	for name, change := range variants {
		t.Run(name, func(t *testing.T) {
			s, ctx := small(change), limited(t)
			side := sentences(s, 1, 5, 6)
			var vectors [2][]float32
			for i, device := range []string{"cpu", "go"} {
				var err error
				if vectors[i], err = make1(t, s, device).Forward(ctx, side, 9); err != nil {
					t.Fatal(err)
				}
			}
			near(t, "vectors", vectors[0], vectors[1], 1e-4)
		})
	}
}

func TestPaddingAndCompanyDoNotChangeAVector(t *testing.T) {
	for name, change := range variants {
		t.Run(name, func(t *testing.T) {
			s, ctx := small(change), limited(t)
			tr := make1(t, s, "cpu")
			side := sentences(s, 1, 6, 8)
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
				near(t, fmt.Sprintf("sentence %d of %d tokens", i, l), vector, together[i*s.Width:(i+1)*s.Width], 1e-5)
			}
		})
	}
}

// Along any direction the loss with a seed's dropout must change as Backward with that seed says.
func TestDropoutIsTheSeeds(t *testing.T) {
	s := small(func(s *Settings) { s.Dropout = 0.25 })
	tr, ctx := make1(t, s, "go"), limited(t)
	side, dVectors := sentences(s, 1, 6, 5), random(2, 6*s.Width)
	forward := func(seed uint64) []float32 {
		v, err := tr.Forward(ctx, side, seed)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	a := Seed(1, 2, 0)
	if !slices.Equal(forward(a), forward(a)) || slices.Equal(forward(a), forward(Seed(1, 2, 1))) || slices.Equal(forward(a), forward(0)) {
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

func TestMaskKeepsItsShare(t *testing.T) {
	for _, p := range []float64{0, 0.1, 0.9} {
		s := Settings{Dropout: p}
		mask := make([]uint8, 100_001)
		fillMask(mask, 1, s.dropped())
		kept := 0
		for _, m := range mask {
			kept += int(m)
		}
		if share := float64(kept) / float64(len(mask)); math.Abs(share-(1-p)) > 0.004 || math.Abs(s.kept()*(1-p)-1) > 1e-3 {
			t.Errorf("p = %v: %.4f of a mask stayed, times %v", p, share, s.kept())
		}
	}
}

// product is an objective that uses everything a step offers: vectors of three sides, tokens, masks, a head and an input.
type product struct{}

func (product) Heads(dim int) []weights.Spec {
	return []weights.Spec{{Name: "head", Shape: []int{dim, dim}, Init: weights.Normal, Scale: 0.5}}
}

func (product) Inputs(_ context.Context, b *data.Batch) ([]*tensors.Tensor, error) {
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(random(8, b.Source.N), b.Source.N, 1)}, nil
}

func (product) Terms(s objective.Step) []objective.Term {
	u := g.Mul(g.DotGeneral(s.Source.Vectors, []int{1}, nil, s.Heads["head"], []int{0}, nil), s.Inputs[0])
	terms := []objective.Term{
		{Name: "pairs", Weight: 0.5, Value: g.ReduceAllSum(g.Mul(u, s.Target.Vectors))},
		{Name: "negatives", Weight: -2, Value: g.ReduceAllSum(g.Mul(s.Negatives.Vectors, s.Negatives.Vectors))},
	}
	if s.Source.Tokens != nil {
		present := g.Reshape(g.ConvertDType(s.Source.Mask, u.DType()), append(s.Source.Mask.Shape().Dimensions, 1)...)
		terms = append(terms, objective.Term{Name: "tokens", Weight: 0, Value: g.ReduceAllSum(g.Mul(s.Source.Tokens, present))})
	}
	return terms
}

// A fused step must give what encoding, the objective over vectors and Backward give one after the other.
func TestStepIsItsParts(t *testing.T) {
	for _, name := range []string{"cpu", "go"} {
		t.Run(name, func(t *testing.T) {
			s, ctx := small(nil), limited(t)
			negatives := sentences(s, 3, 6, 4)
			b := &data.Batch{Source: sentences(s, 1, 3, 5), Target: sentences(s, 2, 3, 7), Negatives: &negatives}
			head := weights.New(product{}.Heads(s.Width)[0], 1)
			fused := make1(t, s, name)
			step := fused.NewStep(product{}, []*weights.Tensor{head})
			values, err := step.Run(ctx, b, 0)
			if err != nil {
				t.Fatal(err)
			}

			apart := make1(t, s, name)
			sides := []data.Side{b.Source, b.Target, negatives}
			var args []any
			for _, side := range sides {
				v, err := apart.Forward(ctx, side, 0)
				if err != nil {
					t.Fatal(err)
				}
				args = append(args, tensors.FromFlatDataAndDimensions(v, side.N, s.Width))
			}
			inputs, _ := product{}.Inputs(ctx, b)
			args = append(args, tensors.FromFlatDataAndDimensions(head.Data, head.Shape...))
			out, err := device.Call(g.MustNewExec(apart.backend, func(n []*g.Node) []*g.Node {
				terms := product{}.Terms(objective.Step{Source: objective.Encoded{Vectors: n[0]}, Target: objective.Encoded{Vectors: n[1]},
					Negatives: &objective.Encoded{Vectors: n[2]}, Heads: map[string]*g.Node{"head": n[3]}, Inputs: n[4:]})
				loss := g.Add(g.MulScalar(terms[0].Value, terms[0].Weight), g.MulScalar(terms[1].Value, terms[1].Weight))
				return append(g.Gradient(loss, n[:4]...), g.Reshape(terms[0].Value, 1), g.Reshape(terms[1].Value, 1))
			}), args, inputs...)
			if err != nil {
				t.Fatal(err)
			}
			for i, side := range sides {
				if err := apart.Backward(ctx, side, 0, out[i]); err != nil {
					t.Fatal(err)
				}
			}
			if len(values) != 3 || values[0].Name != "pairs" || values[1].Weight != -2 || values[2].Value == 0 {
				t.Errorf("terms %v", values)
			}
			near(t, "terms", []float32{values[0].Value, values[1].Value}, []float32{out[4][0], out[5][0]}, 1e-5)
			near(t, "head", head.Grad, out[3], 1e-5)
			for i, w := range fused.Weights() {
				near(t, w.Name, w.Grad, apart.Weights()[i].Grad, 2e-5)
			}
			if got, want := fused.byName[Words].Touched, apart.byName[Words].Touched; !slices.Equal(got, want) || !slices.IsSorted(got) || len(got) == 0 {
				t.Errorf("touched %v and %v", got, want)
			}
		})
	}
}

func TestUnfitBatchesAndSettingsAreRefused(t *testing.T) {
	s := small(nil)
	tr := make1(t, s, "go")
	long := sentences(s, 1, 2, 9)
	if _, err := tr.Forward(limited(t), long, 0); !badinput.Is(err) || !strings.Contains(err.Error(), "sentences of 9 tokens but max_tokens is 8") {
		t.Errorf("too long a batch gave %v", err)
	}
	strange := data.Side{N: 1, Length: 1, IDs: []int32{11}, Lengths: []int32{1}}
	if _, err := tr.Forward(limited(t), strange, 0); err == nil || !strings.Contains(err.Error(), "the token 11 but the vocabulary has 11") {
		t.Errorf("a token of another vocabulary gave %v", err)
	}
	if err := tr.Backward(limited(t), sentences(s, 1, 2, 3), 0, make([]float32, 3)); err == nil || !strings.Contains(err.Error(), "3 values instead of 16") {
		t.Errorf("too few gradients gave %v", err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tr.Forward(stopped, sentences(s, 1, 2, 3), 0); !errors.Is(err, context.Canceled) {
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

// An objective that scores words with the encoder's own table gives every row of it a gradient, beside what the batch's rows get.
func TestTableOfWordsAsAHead(t *testing.T) {
	s := small(nil)
	tr := make1(t, s, "go")
	words := tr.byName[Words]
	b := &data.Batch{Source: sentences(s, 1, 3, 5), Target: sentences(s, 2, 3, 5)}
	if _, err := tr.NewStep(scoreWords{}, []*weights.Tensor{words}).Run(limited(t), b, 0); err != nil {
		t.Fatal(err)
	}
	apart := make1(t, s, "go")
	if _, err := apart.NewStep(scoreWords{}, []*weights.Tensor{{Name: Words, Shape: words.Shape, Data: words.Data}}).Run(limited(t), b, 0); err != nil {
		t.Fatal(err)
	}
	if words.Touched != nil {
		t.Errorf("touched only %v", words.Touched)
	}
	sums := slices.Concat(b.Source.IDs, b.Target.IDs)
	for row := range s.Vocabulary {
		got, looked := words.GradRow(row)[0], apart.byName[Words].GradRow(row)[0]
		if inBatch := slices.Contains(sums, int32(row)); !inBatch && (got == 0 || looked != 0) {
			t.Errorf("row %d, which no sentence has: %v, %v", row, got, looked)
		}
	}
}

type scoreWords struct{ product }

func (scoreWords) Inputs(context.Context, *data.Batch) ([]*tensors.Tensor, error) { return nil, nil }

func (scoreWords) Terms(s objective.Step) []objective.Term {
	scores := g.DotGeneral(s.Source.Vectors, []int{1}, nil, s.Heads[Words], []int{1}, nil)
	return []objective.Term{{Name: "words", Weight: 1, Value: g.ReduceAllSum(g.Mul(scores, scores))}}
}
