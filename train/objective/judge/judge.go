// Package judge has the loss of a judge, which reads both sentences of a pair at once: whether they are translations.
package judge

import (
	"context"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/export"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/weights"
)

// settings are the settings of judge.
type settings struct {
	Misses     int `yaml:"misses"`     // wrong pairs for each pair
	Neighbours int `yaml:"neighbours"` // number of them with the target of another pair that is near the source
	// the encoder that finds those; empty: the one in training, before the first step
	Teacher string `yaml:"teacher"`
}

func init() {
	objective.Register(objective.Descriptor{Name: "judge", Settings: func() objective.Settings {
		return &settings{Misses: 4, Neighbours: 1}
	}})
}

// Validate reports all problems.
func (s *settings) Validate(check objective.Check) {
	check(s.Misses >= 1 && s.Misses <= 63, "objective.misses is %d but must be from 1 to 63", s.Misses)
	check(s.Neighbours >= 0 && s.Neighbours <= s.Misses, "objective.neighbours is %d but must be from 0 to misses", s.Neighbours)
}

func (s *settings) Needs() objective.Needs {
	return objective.Needs{Teacher: s.Teacher, Negatives: s.Neighbours, First: true, Last: true, Bare: true, Tokens: true,
		Pieces: true, Pairs: 2, Longest: around + 2}
}

// around is the number of special tokens of a pair.
const around = 4

func (s *settings) Build(t objective.Training) (objective.Objective, error) {
	return &judge{settings: *s, Training: t, spelling: newSpelling(t.Pieces)}, nil
}

// judge is cross-entropy of a logit z of each pair, true or wrong:
//
//	z = w·tanh(W v + b) + c;  judge = (1/N) Σ_i [softplus(-z_i) + (1/misses) Σ_j softplus(z_ij)]
//
// v is the encoder's vector of the pair in one sequence: first token, source, twice the last token, target, last token.
// i goes over the true pairs of a batch and ij over the wrong ones that are made of each (misses.go). A pair that is
// held out counts nothing: its rows show how sure the judge may be (Held).
type judge struct {
	settings
	objective.Training
	*spelling
}

// The names of the heads.
const (
	hidden = "heads.judge"
	out    = "heads.judge.out"
)

func (j *judge) Heads() []weights.Spec {
	return slices.Concat(layers.DenseSpecs(hidden, j.Dim, j.Dim), layers.DenseSpecs(out, j.Dim, 1))
}

func (*judge) Terms() []objective.Term {
	return []objective.Term{{Name: "judge", Weight: objective.Fixed(1)}}
}

// Views is one side, of pairs: each true one and then the wrong ones made of it.
func (j *judge) Views(b *data.Batch) ([]data.Side, error) {
	all := j.pairs(b)
	longest := 0
	for _, ids := range all {
		longest = max(longest, len(ids))
	}
	const step = 32 // a graph is compiled for each length
	side := data.Side{N: len(all), Length: min(j.Longest, (longest+step-1)/step*step), Languages: make([]uint16, len(all))}
	side.IDs, side.Lengths = make([]int32, side.N*side.Length), make([]int32, side.N)
	for i, ids := range all {
		side.Lengths[i] = int32(copy(side.IDs[i*side.Length:], ids))
	}
	return []data.Side{side}, nil
}

// sequence is a pair as the judge reads it, of at most Longest tokens: the longer sentence loses tokens at its end, and
// of equally long ones the target first, as [tokenizer.Vocabulary.TokenizePairs] has it.
func (j *judge) sequence(source, target []int32) []int32 {
	bos, eos := j.Special[:1], j.Special[1:2]
	room := j.Longest - around
	for len(source)+len(target) > room {
		if len(source) > len(target) {
			source = source[:len(source)-1]
		} else {
			target = target[:len(target)-1]
		}
	}
	return slices.Concat(bos, source, j.Between(), target, eos)
}

// Between implements [objective.Judge].
func (j *judge) Between() []int32 { return []int32{j.Special[1], j.Special[1]} }

// heldOut is the part of the pairs that nothing is learned from.
const heldOut = 20

// Inputs are, for each pair, its sign, 1 for a wrong one and -1 for a true one, and its share of the loss.
func (j *judge) Inputs(_ context.Context, b *data.Batch, _ []data.Side) ([]*tensors.Tensor, error) {
	n := len(b.Rows) * (1 + j.Misses)
	signs, shares := make([]float32, n), make([]float32, n)
	held, right := j.Held(b)
	for i := range n {
		if signs[i] = 1; right[i] {
			signs[i] = -1
		}
		if !held[i] {
			if shares[i] = 1 / float32(len(b.Rows)); !right[i] {
				shares[i] /= float32(j.Misses)
			}
		}
	}
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(signs, n, 1), tensors.FromFlatDataAndDimensions(shares, n, 1)}, nil
}

// Held implements [objective.Judge].
func (j *judge) Held(b *data.Batch) (held, right []bool) {
	for _, row := range b.Rows {
		for k := range 1 + j.Misses {
			held, right = append(held, row%heldOut == 0), append(right, k == 0)
		}
	}
	return held, right
}

// Loss implements [objective.Objective].
func (j *judge) Loss(s objective.Step) []*graph.Node {
	x := s.Vectors(0)
	dense := func(name string, x *graph.Node) *graph.Node {
		bias := s.Heads[name+".bias"]
		return graph.Add(graph.Dot(x, s.Heads[name+".weight"]).Product(), graph.Reshape(bias, 1, bias.Shape().Dimensions[0]))
	}
	z := graph.Mul(dense(out, graph.Tanh(dense(hidden, x))), s.Inputs[0])
	both := graph.Concatenate([]*graph.Node{graph.ZerosLike(z), z}, 1)
	return []*graph.Node{graph.ReduceAllSum(graph.Mul(objective.LogSumExp(both, 1), s.Inputs[1]))}
}

// Layers implements [objective.Judge].
func (j *judge) Layers(heads []*weights.Tensor) []export.Dense {
	byName := map[string]*weights.Tensor{}
	for _, h := range heads {
		byName[h.Name] = h
	}
	layer := func(name, activation string, outs int) export.Dense {
		return export.Dense{Weight: byName[name+".weight"].Data, Bias: byName[name+".bias"].Data, In: j.Dim, Out: outs, Activation: activation}
	}
	return []export.Dense{layer(hidden, "Tanh", j.Dim), layer(out, "", 1)}
}
