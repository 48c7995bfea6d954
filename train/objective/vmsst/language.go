package vmsst

import (
	"math/rand/v2"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"

	"bitextmine/train/data"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/weights"
)

// Language encoders are transformers whose tokens are averaged; they share the table of words with the encoder that is
// exported, and nothing else. Of several, each language has one.

const (
	languageName   = "heads.language.encoder"           // one more number for each encoder, then the layer's
	languagePlaces = "heads.language.encoder.positions" // [longest, width], of all of them
	languageTable  = "heads.language.encoder.languages" // [languages, width]
	languageNorm   = "heads.language.encoder.norm"
)

// languages are the language encoders.
type languages struct{ base }

func (v languages) specs() []weights.Spec {
	if v.LanguageEncoders == 0 {
		return nil
	}
	specs := []weights.Spec{layers.TableSpec(languagePlaces, v.Longest, v.Width, deviation)}
	if v.EncoderLanguage {
		specs = append(specs, layers.TableSpec(languageTable, len(v.Languages), v.Width, deviation))
	}
	for e := range v.LanguageEncoders {
		for i := range v.LanguageLayers {
			specs = append(specs, v.shape().Specs(layers.Name(layers.Name(languageName, e), i))...)
		}
	}
	return append(specs, layers.NormSpecs(languageNorm, v.Width)...)
}

// encode gives the averages [2n, width] of both sides' tokens, each of its language's encoder.
func (v languages) encode(s objective.Step, in inputs) *graph.Node {
	n, length := in.sentences, in.length
	mask := graph.Concatenate([]*graph.Node{s.Views[data.SourceView].Mask, s.Views[data.TargetView].Mask}, 0)
	embedded := graph.Reshape(layers.Lookup(s.Heads[v.Table], in.ids), n, length, v.Width)
	embedded = graph.Add(embedded, graph.Reshape(layers.Rows(s.Heads[languagePlaces], 0, length, 1), 1, length,
		v.Width))
	if v.EncoderLanguage {
		embedded = graph.Add(embedded, graph.Reshape(graph.Gather(s.Heads[languageTable], in.languages), n, 1, v.Width))
	}
	stack := &layers.Stack{Shape: v.shape(), Params: s.Heads, N: n, Length: length}
	bias := layers.Padding(graph.ConvertDType(mask, dtypes.Float32))
	var sum *graph.Node
	for e := range v.LanguageEncoders {
		x := graph.Reshape(embedded, n*length, v.Width)
		for i := range v.LanguageLayers {
			x = stack.Layer(layers.Name(layers.Name(languageName, e), i), x, bias)
		}
		x = average(graph.Reshape(stack.Normalise(languageNorm, x), n, length, v.Width), mask)
		if v.LanguageEncoders == 1 {
			return x
		}
		x = graph.Mul(x, graph.Reshape(layers.Rows(in.encoders, e, e+1, 1), n, 1)) // 0 for other encoders' languages
		if sum == nil {
			sum = x
		} else {
			sum = graph.Add(sum, x)
		}
	}
	return sum
}

// encoderOf draws the language encoder of each language: as evenly as their numbers allow.
func (v languages) encoderOf() []int {
	rng := rand.New(rand.NewPCG(v.Seed, 0))
	out := make([]int, len(v.Languages))
	for k, language := range rng.Perm(len(v.Languages)) {
		out[language] = k % max(1, v.LanguageEncoders)
	}
	return out
}
