package objective

import (
	"context"
	"math/rand/v2"
	"testing"

	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/device"
)

// BenchmarkStep is one step of each objective over cached vectors, with its inputs and all gradients, on ONNX Runtime: 256 pairs, 256 numbers, 8,000
// words, sentences of 32 tokens.
func BenchmarkStep(b *testing.B) {
	backend, err := device.Open("cpu", "")
	if err != nil {
		b.Fatal(err)
	}
	named := map[string]func(s *Settings){
		"contrastive": nil, "ems": nil, "labse-joint": nil, "labse-mlp": nil, "labse-vanilla": nil, "imascl": nil, "mse-distill": nil, "muse": nil,
		"ems-ugt":    func(s *Settings) { s.Reconstruction = UGT },
		"imascl-tcm": func(s *Settings) { s.TCM, s.CrossWeight = true, 0.1 },
	}
	for name, change := range named {
		s := Defaults(map[string]string{"ems-ugt": "ems", "imascl-tcm": "imascl"}[name])
		if s.Name == "" {
			s = Defaults(name)
		}
		if change != nil {
			change(&s)
		}
		s.Dim, s.Vocabulary, s.Languages, s.Mask = 256, 8000, []string{"de", "en"}, 3
		if s.NeedsTeacher() {
			s.Teacher, s.Vectors = "noise", noise{}
		}
		b.Run(name, func(b *testing.B) {
			o, err := New(s)
			if err != nil {
				b.Fatal(err)
			}
			benchmark(b, newBench(b, s, o), func(build func([]*g.Node) []*g.Node) (*g.Exec, error) { return g.NewExec(backend, build) })
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
	objective Objective
	batch     *data.Batch
	learned   []string
	values    []*tensors.Tensor
}

func newBench(b *testing.B, s Settings, o Objective) *bench {
	b.Helper()
	out := &bench{objective: o, batch: &data.Batch{Source: benchSide(s, 0), Target: benchSide(s, 1)}, learned: []string{"source", "target"}}
	rows := []int{benchPairs, benchPairs}
	if s.Negatives > 0 {
		out.batch.Negatives = &data.Side{N: benchPairs * s.Negatives}
		out.learned, rows = append(out.learned, "negatives"), append(rows, benchPairs*s.Negatives)
	}
	for _, n := range rows {
		out.values = append(out.values, tensors.FromFlatDataAndDimensions(normal(n*s.Dim), n, s.Dim))
	}
	for _, spec := range o.Heads(s.Dim) {
		size := 1
		for _, d := range spec.Shape {
			size *= d
		}
		out.learned = append(out.learned, spec.Name)
		out.values = append(out.values, tensors.FromFlatDataAndDimensions(normal(size), spec.Shape...))
	}
	return out
}

func benchSide(s Settings, language uint16) data.Side {
	rng := rand.New(rand.NewPCG(2, uint64(language)))
	const length = 32
	side := data.Side{N: benchPairs, Length: length, IDs: make([]int32, benchPairs*length), Texts: make([]string, benchPairs)}
	for i := range side.IDs {
		side.IDs[i] = rng.Int32N(int32(s.Vocabulary))
	}
	for range benchPairs {
		side.Lengths, side.Languages = append(side.Lengths, length), append(side.Languages, language)
	}
	return side
}

func benchmark(b *testing.B, bench *bench, compile func(build func([]*g.Node) []*g.Node) (*g.Exec, error)) {
	exec, err := compile(func(nodes []*g.Node) []*g.Node {
		return WithGradients(bench.objective.Terms(stepOf(bench.learned, nodes)), nodes[:len(bench.learned)])
	})
	if err != nil {
		b.Fatal(err)
	}
	defer exec.Finalize()
	step := func() {
		if p, ok := bench.objective.(Preparer); ok {
			p.Prepare(bench.batch)
		}
		inputs, err := bench.objective.Inputs(b.Context(), bench.batch)
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
