package objective_test

import (
	"context"
	"math/rand/v2"
	"testing"

	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/objective"
)

// BenchmarkLoss is one step of each objective over cached vectors, with its inputs and all gradients, on ONNX Runtime:
// 256 pairs, 256 numbers, 8,000 words, sentences of 32 tokens.
func BenchmarkLoss(b *testing.B) {
	backend, err := device.Open("cpu", "")
	if err != nil {
		b.Fatal(err)
	}
	for name, changes := range map[string]map[string]any{
		"contrastive": nil, "ems": nil, "labse-joint": nil, "labse-mlp": nil, "labse-vanilla": nil, "muse": nil,
		"imascl": {"teacher": "noise"}, "mse-distill": {"teacher": "noise"},
		"ems-ugt":    {"name": "ems", "reconstruction": "ugt"},
		"imascl-tcm": {"name": "imascl", "teacher": "noise", "tcm": true, "cross_weight": 0.1},
	} {
		b.Run(name, func(b *testing.B) {
			section, err := objective.Section{Name: name}.With(changes)
			if err != nil {
				b.Fatal(err)
			}
			training := objective.Training{Dim: 256, Width: 256, Vocabulary: 8000, Languages: []string{"de", "en"}, Mask: 3, Special: []int32{3}, Teacher: noise{}}
			o, err := section.Build(training)
			if err != nil {
				b.Fatal(err)
			}
			benchmark(b, newBench(training, section.Needs(), o), func(build func([]*g.Node) []*g.Node) (*g.Exec, error) { return g.NewExec(backend, build) })
		})
	}
}

const benchPairs = 256

// noise is a teacher that takes no time.
type noise struct{}

func (noise) Dim() int { return 256 }

func (noise) Encode(_ context.Context, _, texts []string) ([]float32, error) {
	return normal(len(texts) * 256), nil
}

func normal(n int) []float32 {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64())
	}
	return out
}

// bench is an objective with a batch, and with random numbers for all that is learned.
type bench struct {
	objective objective.Objective
	batch     *data.Batch
	heads     []string
	values    []*tensors.Tensor
}

func newBench(training objective.Training, needs objective.Needs, o objective.Objective) *bench {
	out := &bench{objective: o, batch: &data.Batch{Views: []data.Side{benchSide(training, 0), benchSide(training, 1)}}}
	if needs.Negatives > 0 {
		out.batch.Views = append(out.batch.Views, data.Side{N: benchPairs * needs.Negatives})
	}
	for _, view := range out.batch.Views {
		out.values = append(out.values, tensors.FromFlatDataAndDimensions(normal(view.N*training.Dim), view.N, training.Dim))
	}
	for _, spec := range o.Heads() {
		size := 1
		for _, d := range spec.Shape {
			size *= d
		}
		out.heads = append(out.heads, spec.Name)
		out.values = append(out.values, tensors.FromFlatDataAndDimensions(normal(size), spec.Shape...))
	}
	return out
}

func benchSide(training objective.Training, language uint16) data.Side {
	rng := rand.New(rand.NewPCG(2, uint64(language)))
	const length = 32
	side := data.Side{N: benchPairs, Length: length, IDs: make([]int32, benchPairs*length), Texts: make([]string, benchPairs)}
	for i := range side.IDs {
		side.IDs[i] = rng.Int32N(int32(training.Vocabulary))
	}
	for range benchPairs {
		side.Lengths, side.Languages = append(side.Lengths, length), append(side.Languages, language)
	}
	return side
}

func benchmark(b *testing.B, bench *bench, compile func(build func([]*g.Node) []*g.Node) (*g.Exec, error)) {
	exec, err := compile(func(nodes []*g.Node) []*g.Node {
		views := len(bench.batch.Views)
		values := bench.objective.Loss(stepOf(views, bench.heads, nodes))
		sum := values[0]
		for _, value := range values[1:] {
			sum = g.Add(sum, value)
		}
		return append(g.Gradient(sum, nodes[:views+len(bench.heads)]...), sum)
	})
	if err != nil {
		b.Fatal(err)
	}
	defer exec.Finalize()
	step := func() {
		views, err := bench.objective.Views(bench.batch)
		if err != nil {
			b.Fatal(err)
		}
		inputs, err := bench.objective.Inputs(b.Context(), bench.batch, views)
		if err != nil {
			b.Fatal(err)
		}
		run(b, exec, append(append([]*tensors.Tensor(nil), bench.values...), inputs...))
	}
	step() // compiles
	for b.Loop() {
		step()
	}
}
