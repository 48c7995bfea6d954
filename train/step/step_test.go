package step

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/encode/encodetest"
	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/encoder"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/traintest"
	"bitextmine/train/weights"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

const vocabulary, width = 11, 8

// small is a transformer in which every weight matters to every vector, and its device.
func small(t *testing.T, name string, dropout float64) (*encoder.Transformer, compute.Backend) {
	t.Helper()
	backend, err := device.Open(name, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(backend.Finalize)
	s := encoder.Settings{Layers: 2, Heads: 2, Width: width, FFN: 12, Norm: layers.PostNorm, Positions: encoder.Learned, MaxTokens: 8,
		Activation: layers.GELU, Epsilon: 1e-5, Pooling: encoder.Mean, Vocabulary: vocabulary, Precision: layers.Float32, Dropout: dropout}
	tr, err := encoder.NewTransformer(s, backend, lively(s.Specs()))
	if err != nil {
		t.Fatal(err)
	}
	return tr, backend
}

// lively draws weights large enough that no part of the arithmetic is near its linear range.
func lively(specs []weights.Spec) []*weights.Tensor {
	all := make([]*weights.Tensor, len(specs))
	for i, spec := range specs {
		spec.Init, spec.Scale = weights.Normal, 0.6
		all[i] = weights.New(spec, 3)
	}
	return all
}

// words is a transformer's table of words.
func words(tr *encoder.Transformer) *weights.Tensor { return tr.Weights()[0] }

// product is an objective that uses everything a step offers: vectors of three views, one of them its own copy, tokens,
// masks, a head, an input, and a weight that changes.
type product struct{}

func (product) Heads() []weights.Spec {
	return []weights.Spec{{Name: "head", Shape: []int{width, width}, Init: weights.Normal, Scale: 0.5}}
}

func (product) Terms() []objective.Term {
	return []objective.Term{{Name: "pairs", Weight: objective.Fixed(0.5)}, {Name: "reversed", Weight: objective.Weight{From: -2, To: 6, Steps: 4}},
		{Name: "tokens", Weight: objective.Fixed(0)}}
}

// Views are the two sides, and the sources with their tokens in reverse.
func (product) Views(b *data.Batch) ([]data.Side, error) {
	reversed := b.Views[data.SourceView]
	reversed.IDs = slices.Clone(reversed.IDs)
	for i := range reversed.N {
		slices.Reverse(reversed.Sentence(i))
	}
	return []data.Side{b.Views[data.SourceView], b.Views[data.TargetView], reversed}, nil
}

func (product) Inputs(_ context.Context, b *data.Batch, views []data.Side) ([]*tensors.Tensor, error) {
	n := views[2].N
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(traintest.Random(8, n), n, 1)}, nil
}

func (product) Loss(s objective.Step) []*g.Node {
	u := g.Mul(g.DotGeneral(s.Vectors(0), []int{1}, nil, s.Heads["head"], []int{0}, nil), s.Inputs[0])
	values := []*g.Node{g.ReduceAllSum(g.Mul(u, s.Vectors(1))), g.ReduceAllSum(g.Mul(s.Vectors(2), s.Vectors(2))), g.ReduceAllSum(s.Vectors(0))}
	if source := s.Views[0]; source.Tokens != nil {
		present := g.Reshape(g.ConvertDType(source.Mask, u.DType()), append(source.Mask.Shape().Dimensions, 1)...)
		values[2] = g.ReduceAllSum(g.Mul(source.Tokens, present))
	}
	return values
}

// TestStepIsItsParts: a fused step and a cached one give what encoding, the objective over vectors and Backward give
// one after the other.
func TestStepIsItsParts(t *testing.T) {
	for _, name := range []string{"cpu", "go"} {
		for _, chunk := range []int{0, 2, 3} {
			ctx := traintest.Limited(t)
			// With two batches a step it is of the second step.
			b := &data.Batch{Step: 3, Views: []data.Side{traintest.Sentences(1, 3, 5, vocabulary), traintest.Sentences(2, 3, 7, vocabulary)}}
			head := weights.New(product{}.Heads()[0], 1)
			joined, backend := small(t, name, 0)
			values, err := New(joined, product{}, []*weights.Tensor{head}, backend, Options{Chunk: chunk, Accumulate: 2}).Run(ctx, b, 1)
			if err != nil {
				t.Fatal(err)
			}
			apart, _ := small(t, name, 0)
			terms, headGradient := byHand(ctx, t, apart, backend, b, head)
			if len(values) != 3 || values[0].Name != "pairs" || values[0].Weight != 0.5 || values[1].Weight != 0 || values[2].Value == 0 {
				t.Errorf("terms %v", values)
			}
			traintest.Near(t, "terms", []float32{values[0].Value, values[1].Value}, terms, 1e-5)
			traintest.Near(t, "head", head.Grad, headGradient, 1e-5)
			for i, w := range joined.Weights() {
				traintest.Near(t, w.Name, w.Grad, apart.Weights()[i].Grad, 2e-5)
			}
			if got, want := words(joined).Touched, words(apart).Touched; !slices.Equal(got, want) || !slices.IsSorted(got) || len(got) == 0 {
				t.Errorf("touched %v and %v", got, want)
			}
		}
	}
}

// byHand computes product's loss for the second optimiser step, where its second term has the weight 0: its terms, the
// head's gradient, and through Backward those of the transformer.
func byHand(ctx context.Context, t *testing.T, tr *encoder.Transformer, backend compute.Backend, b *data.Batch, head *weights.Tensor) (terms, gradient []float32) {
	t.Helper()
	views, err := product{}.Views(b)
	if err != nil {
		t.Fatal(err)
	}
	var args []*tensors.Tensor
	for _, view := range views {
		v, err := tr.Forward(ctx, view, 0)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, tensors.FromFlatDataAndDimensions(v, view.N, width))
	}
	inputs, err := product{}.Inputs(ctx, b, views)
	if err != nil {
		t.Fatal(err)
	}
	args = append(append(args, tensors.FromFlatDataAndDimensions(head.Data, head.Shape...)), inputs...)
	out, err := device.Call(g.MustNewExec(backend, func(n []*g.Node) []*g.Node {
		s := objective.Step{Heads: map[string]*g.Node{"head": n[3]}, Inputs: n[4:]}
		for _, vectors := range n[:3] {
			s.Views = append(s.Views, encoder.Encoded{Vectors: vectors})
		}
		values := product{}.Loss(s)
		loss := g.MulScalar(values[0], 0.5)
		return append(g.Gradient(loss, n[0], n[1], n[3]), g.Reshape(values[0], 1), g.Reshape(values[1], 1))
	}), args)
	if err != nil {
		t.Fatal(err)
	}
	for i, view := range views[:2] {
		if err := tr.Backward(ctx, view, 0, out[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Backward(ctx, views[2], 0, make([]float32, views[2].N*width)); err != nil { // its rows are touched
		t.Fatal(err)
	}
	return []float32{out[3][0], out[4][0]}, out[2]
}

// TestWeightsAreInputs: the same compiled graph takes another weight in another step.
func TestWeightsAreInputs(t *testing.T) {
	tr, backend := small(t, "go", 0)
	head := weights.New(product{}.Heads()[0], 1)
	s := New(tr, product{}, []*weights.Tensor{head}, backend, Options{})
	b := &data.Batch{Views: []data.Side{traintest.Sentences(1, 3, 5, vocabulary), traintest.Sentences(2, 3, 7, vocabulary)}}
	var gradients [][]float32
	for _, step := range []int{0, 2, 4, 9} {
		b.Step = step
		values, err := s.Run(traintest.Limited(t), b, 1)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[int]float64{0: -2, 2: 2, 4: 6, 9: 6}[step]; values[1].Weight != want {
			t.Errorf("step %d: weight %v, want %v", step, values[1].Weight, want)
		}
		gradients = append(gradients, slices.Clone(tr.Weights()[3].Grad))
		for _, w := range append(tr.Weights(), head) {
			w.ZeroGrad()
		}
	}
	if len(s.programs) != 1 {
		t.Errorf("%d graphs were compiled for one shape of batch", len(s.programs))
	}
	for i, x := range gradients[1] { // the gradient is linear in the weight: -2, 2, 6
		if got, want := float64(x)*2, float64(gradients[0][i])+float64(gradients[2][i]); math.Abs(got-want) > 1e-3*max(1, math.Abs(want)) {
			t.Fatalf("number %d: gradients %v, %v, %v by the weights -2, 2, 6", i, gradients[0][i], x, gradients[2][i])
		}
	}
	if !slices.Equal(gradients[2], gradients[3]) || slices.Equal(gradients[0], gradients[1]) {
		t.Error("the gradients do not follow the weights")
	}
}

// TestTableOfWordsAsAHead: an objective that scores words with the encoder's own table gives every row of it a
// gradient, beside what the batch's rows get.
func TestTableOfWordsAsAHead(t *testing.T) {
	tr, backend := small(t, "go", 0)
	table := words(tr)
	b := &data.Batch{Views: []data.Side{traintest.Sentences(1, 3, 5, vocabulary), traintest.Sentences(2, 3, 5, vocabulary)}}
	if _, err := New(tr, scoreWords{}, []*weights.Tensor{table}, backend, Options{}).Run(traintest.Limited(t), b, 1); err != nil {
		t.Fatal(err)
	}
	apart, backend := small(t, "go", 0)
	copied := &weights.Tensor{Name: table.Name, Shape: table.Shape, Data: table.Data}
	if _, err := New(apart, scoreWords{}, []*weights.Tensor{copied}, backend, Options{}).Run(traintest.Limited(t), b, 1); err != nil {
		t.Fatal(err)
	}
	if table.Touched != nil {
		t.Errorf("touched only %v", table.Touched)
	}
	sums := slices.Concat(b.Views[0].IDs, b.Views[1].IDs)
	for row := range vocabulary {
		got, looked := table.GradRow(row)[0], words(apart).GradRow(row)[0]
		if inBatch := slices.Contains(sums, int32(row)); !inBatch && (got == 0 || looked != 0) {
			t.Errorf("row %d, which no sentence has: %v, %v", row, got, looked)
		}
	}
}

type scoreWords struct{ product }

func (scoreWords) Terms() []objective.Term {
	return []objective.Term{{Name: "words", Weight: objective.Fixed(1)}}
}

func (scoreWords) Views(b *data.Batch) ([]data.Side, error) { return b.Views, nil }

func (scoreWords) Inputs(context.Context, *data.Batch, []data.Side) ([]*tensors.Tensor, error) {
	return nil, nil
}

func (scoreWords) Loss(s objective.Step) []*g.Node {
	scores := g.DotGeneral(s.Vectors(0), []int{1}, nil, s.Heads[encoder.Words], []int{1}, nil)
	return []*g.Node{g.ReduceAllSum(g.Mul(scores, scores))}
}
