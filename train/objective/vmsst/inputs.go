package vmsst

import (
	"fmt"
	"math/rand/v2"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/objective"
)

// draws are the random numbers of a step.
type draws struct {
	pick               []float32 // [n]: 1 where the target gives the semantic variable
	semantic, language []float32 // ε: [n, dim], [2n, width]
}

// draw makes them of the seed and the step. Which side gives the semantic variable alternates within the batch.
func (v *vmsst) draw(b *data.Batch) draws {
	n := b.Views[data.SourceView].N
	d := draws{pick: make([]float32, n)}
	for i := range d.pick {
		d.pick[i] = float32((i + b.Step) % 2)
	}
	if v.elbo() {
		rng := rand.New(rand.NewPCG(v.Seed, uint64(b.Step)))
		d.semantic, d.language = normal(rng, n*v.Dim), normal(rng, 2*n*v.Width)
	}
	return d
}

func normal(rng *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64())
	}
	return out
}

// inputs are the graph's inputs by name. Sentences are of both sides, sources before targets.
type inputs struct {
	sentences, length int
	ids, before       *graph.Node // [sentences, length]: tokens, and the token before each
	languages         *graph.Node // [sentences, 1]
	places            *graph.Node // [tokens, 1]: where tokens are in ids, the rest padding
	tokens, shares    *graph.Node // [tokens, 1], [tokens]: ids at places, and 1/N or 0
	pick              *graph.Node // [n, 1]
	semanticNoise     *graph.Node // [n, dim]
	languageNoise     *graph.Node // [sentences, width]
	encoders          *graph.Node // [encoders, sentences]: 1 for the language's encoder; only of several
}

func (v *vmsst) named(nodes []*graph.Node) inputs {
	var in inputs
	into := []**graph.Node{}
	if v.decodes() {
		into = append(into, &in.ids, &in.before, &in.languages, &in.places, &in.tokens, &in.shares)
	}
	if v.elbo() {
		into = append(into, &in.pick, &in.semanticNoise, &in.languageNoise)
	}
	if v.elbo() && v.LanguageEncoders > 1 {
		into = append(into, &in.encoders)
	}
	for i, node := range into {
		*node = nodes[i]
	}
	if in.ids != nil {
		in.sentences, in.length = in.ids.Shape().Dimensions[0], in.ids.Shape().Dimensions[1]
	}
	return in
}

// inputs makes them in the order of named.
func (v *vmsst) inputs(views []data.Side, d draws) ([]*tensors.Tensor, error) {
	n := views[0].N
	length, count := max(views[0].Length, views[1].Length), 0
	for _, view := range views {
		for _, l := range view.Lengths {
			count += int(l)
		}
	}
	size := objective.RoundUp(count, 2*n*length)
	ids, before, tongues := make([]int32, 2*n*length), make([]int32, 2*n*length), make([]int64, 2*n)
	places, tokens, shares := make([]int64, 0, size), make([]int64, 0, size), make([]float32, 0, size)
	for row := range 2 * n {
		view, i := views[row/n], row%n
		tongues[row] = int64(view.Languages[i])
		for p, id := range view.Sentence(i) {
			if id < 0 || int(id) >= v.Vocabulary {
				return nil, fmt.Errorf("a batch has the token %d but the vocabulary has %d", id, v.Vocabulary)
			}
			at := row*length + p
			if ids[at] = id; p > 0 {
				before[at] = ids[at-1]
			}
			places, tokens, shares = append(places, int64(at)), append(tokens, int64(id)), append(shares, 1/float32(n))
		}
	}
	var out []*tensors.Tensor
	if v.decodes() {
		out = append(out, tensors.FromFlatDataAndDimensions(ids, 2*n, length),
			tensors.FromFlatDataAndDimensions(before, 2*n, length), tensors.FromFlatDataAndDimensions(tongues, 2*n, 1),
			tensors.FromFlatDataAndDimensions(places[:size:size], size, 1),
			tensors.FromFlatDataAndDimensions(tokens[:size:size], size, 1),
			tensors.FromFlatDataAndDimensions(shares[:size:size], size))
	}
	if v.elbo() {
		out = append(out, tensors.FromFlatDataAndDimensions(d.pick, n, 1),
			tensors.FromFlatDataAndDimensions(d.semantic, n, v.Dim),
			tensors.FromFlatDataAndDimensions(d.language, 2*n, v.Width))
	}
	if v.elbo() && v.LanguageEncoders > 1 {
		encoders, of := make([]float32, v.LanguageEncoders*2*n), languages{v.base}.encoderOf()
		for row := range 2 * n {
			encoders[of[tongues[row]]*2*n+row] = 1
		}
		out = append(out, tensors.FromFlatDataAndDimensions(encoders, v.LanguageEncoders, 2*n))
	}
	return out, nil
}
