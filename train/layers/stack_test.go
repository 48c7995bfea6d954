package layers

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/device"
	"bitextmine/train/weights"
)

// decoder is a small causal stack over embeddings that it looks up, as an objective would build it: logits of every
// next token, with the table's own rows.
type decoder struct {
	Shape
	n, length, words int
	tensors          []*weights.Tensor
}

func newDecoder(norm Norm, activation Activation) decoder {
	d := decoder{Shape: Shape{Heads: 2, Width: 8, FFN: 12, Norm: norm, Activation: activation, Epsilon: 1e-5, Precision: Float32}, n: 3, length: 5, words: 7}
	specs := []weights.Spec{TableSpec("words", d.words, d.Width, 1)}
	for i := range 2 {
		specs = append(specs, d.Specs(Name("decoder", i))...)
	}
	for _, spec := range specs {
		if spec.Init == weights.Normal {
			spec.Scale = 0.5
		}
		d.tensors = append(d.tensors, weights.New(spec, 4))
	}
	return d
}

// run computes the logits [n, length, words], and the gradient of their weighted sum by every tensor.
func (d decoder) run(t *testing.T, name string, ids, lengths []int32) ([]float32, [][]float32) {
	t.Helper()
	backend, err := device.Open(name, "")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	exec, err := graph.NewExec(backend, func(nodes []*graph.Node) []*graph.Node {
		params := map[string]*graph.Node{}
		for i, w := range d.tensors {
			params[w.Name] = nodes[2+i]
		}
		s := Stack{Shape: d.Shape, Params: params, N: d.n, Length: d.length}
		x := Lookup(params["words"], nodes[0])
		bias := graph.Add(Causal(x, d.length), Padding(graph.ConvertDType(Present(nodes[1], d.length), x.DType())))
		for i := range 2 {
			x = s.Layer(Name("decoder", i), x, bias)
		}
		logits := graph.Reshape(s.Product(x, 1, params["words"], 1, nil), d.n, d.length, d.words)
		loss := graph.ReduceAllSum(graph.Mul(logits, nodes[2+len(d.tensors)]))
		return append([]*graph.Node{logits}, graph.Gradient(loss, nodes[2:2+len(d.tensors)]...)...)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	args := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(ids, d.n, d.length), tensors.FromFlatDataAndDimensions(lengths, d.n)}
	for _, w := range d.tensors {
		args = append(args, tensors.FromFlatDataAndDimensions(w.Data, w.Shape...))
	}
	out, err := device.Call(exec, append(args, tensors.FromFlatDataAndDimensions(d.factors(), d.n, d.length, d.words)))
	if err != nil {
		t.Fatal(err)
	}
	return out[0], out[1:]
}

// factors are what the logits are weighted with.
func (d decoder) factors() []float32 {
	rng := rand.New(rand.NewPCG(9, 0))
	out := make([]float32, d.n*d.length*d.words)
	for i := range out {
		out[i] = float32(rng.NormFloat64())
	}
	return out
}

var (
	decoderIDs     = []int32{1, 2, 3, 3, 6, 4, 4, 1, 0, 2, 5, 6, 0, 1, 1}
	decoderLengths = []int32{5, 3, 4}
)

// TestCausalLooksBackAlone: another token changes the outputs from its own place on, and those of its own sequence
// alone.
func TestCausalLooksBackAlone(t *testing.T) {
	for _, norm := range []Norm{PreNorm, PostNorm} {
		d := newDecoder(norm, GELUTanh)
		before, _ := d.run(t, "cpu", decoderIDs, decoderLengths)
		changed := slices.Clone(decoderIDs)
		changed[5+1] = 6 // sequence 1, place 1
		after, _ := d.run(t, "cpu", changed, decoderLengths)
		for row := range d.n * d.length {
			same := slices.Equal(before[row*d.words:(row+1)*d.words], after[row*d.words:(row+1)*d.words])
			if want := row < 5+1 || row >= 10; same != want {
				t.Errorf("%s norm: the output of sequence %d, place %d is the same: %v", norm, row/d.length, row%d.length, same)
			}
		}
	}
}

// TestStackGradients: along a tensor's gradient the loss grows as the gradient says, also by rows of a table that are
// looked up several times; and two backends agree.
func TestStackGradients(t *testing.T) {
	for _, activation := range []Activation{GELU, GELUTanh} {
		d := newDecoder(PreNorm, activation)
		_, gradients := d.run(t, "cpu", decoderIDs, decoderLengths)
		_, pure := d.run(t, "go", decoderIDs, decoderLengths)
		factors := d.factors()
		loss := func() (sum float64) {
			logits, _ := d.run(t, "go", decoderIDs, decoderLengths)
			for i, x := range logits {
				sum += float64(x) * float64(factors[i])
			}
			return sum
		}
		for k, w := range d.tensors {
			squared, apart := 0.0, 0.0
			for i, g := range gradients[k] {
				squared += float64(g) * float64(g)
				apart = max(apart, math.Abs(float64(g-pure[k][i])))
			}
			length := math.Sqrt(squared)
			if !(apart <= 1e-4*max(1, length)) {
				t.Errorf("%s, %s: the gradients of two backends are %v apart", activation, w.Name, apart)
			}
			if length < 1e-2 { // a bias of keys has no gradient but rounding
				continue
			}
			h := 1e-2 / length
			move := func(by float64) {
				for i, g := range gradients[k] {
					w.Data[i] += float32(by * float64(g))
				}
			}
			move(h)
			up := loss()
			move(-2 * h)
			down := loss()
			move(h)
			if slope := (up - down) / (2 * h); math.Abs(slope-squared) > 0.02*squared {
				t.Errorf("%s, %s: the loss grows by %v along the gradient, want %v", activation, w.Name, slope, squared)
			}
		}
	}
}

func TestSinusoids(t *testing.T) {
	s := Sinusoids(3, 4)
	want := []float64{0, 0, 1, 1, math.Sin(1), math.Sin(0.01), math.Cos(1), math.Cos(0.01), math.Sin(2), math.Sin(0.02), math.Cos(2), math.Cos(0.02)}
	for i, w := range want {
		if math.Abs(float64(s[i])-w) > 1e-6 {
			t.Errorf("number %d is %v, want %v", i, s[i], w)
		}
	}
}
