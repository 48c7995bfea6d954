package vmsst

import (
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/weights"
)

// The decoder p(x | z, z_l) sees the tokens before each one and the latent variables, and nothing else. With
// c = z ⊕ z_l, in each of its layers
//
//	x = x + attention over earlier places(norm(x));  x = x + W c + b;  x = x + FFN(norm(x))
//
// The middle step is equivalent to cross-attention to a single vector. Logits are W_out (norm(x) ⊕ c); factored, W_out
// is two matrices. An input is the sum of its place and the token before; the first token is the language's vector.

const (
	decoderName      = "heads.decoder"
	decoderPlaces    = "heads.decoder.positions" // [longest, width]
	decoderLanguages = "heads.decoder.languages" // [languages, width]
	decoderNorm      = "heads.decoder.norm"
	decoderFactor    = "heads.decoder.factor" // [width + dim + width, width]: without a bias
	decoderWords     = "heads.decoder.words"  // [vocabulary, width + dim + width]; factored: [vocabulary, width]
)

const deviation = 0.02 // standard deviation of new tables (BERT)

// decoder is the decoder of both sides' sentences.
type decoder struct{ base }

// latentDim is the number of values of c.
func (v decoder) latentDim() int { return v.Dim + v.Width }

func (v decoder) specs() []weights.Spec {
	specs := []weights.Spec{layers.TableSpec(decoderPlaces, v.Longest, v.Width, deviation)}
	if v.DecoderLanguage {
		specs = append(specs, layers.TableSpec(decoderLanguages, len(v.Languages), v.Width, deviation))
	}
	for i := range v.DecoderLayers {
		name := layers.Name(decoderName, i)
		specs = append(append(specs, v.shape().Specs(name)...),
			layers.DenseSpecs(name+".latent", v.latentDim(), v.Width)...)
	}
	specs = append(specs, layers.NormSpecs(decoderNorm, v.Width)...)
	out := v.Width + v.latentDim()
	if v.Factored {
		specs = append(specs, layers.TableSpec(decoderFactor, out, v.Width, deviation))
		out = v.Width
	}
	return append(specs, layers.TableSpec(decoderWords, v.Vocabulary, out, deviation))
}

// loss is -(1/N) Σ log p of both sides' sentences, given the semantic variables [2n, dim] and the language variables
// [2n, width].
func (v decoder) loss(params map[string]*graph.Node, in inputs, semantic, language *graph.Node) *graph.Node {
	n, length := in.sentences, in.length
	before := layers.Lookup(params[v.Table], in.before) // the first place looks up a token whose vector is removed below
	x := graph.Reshape(before, n, length, v.Width)
	first := layers.First(x.Graph(), length)
	x = graph.Mul(x, graph.OneMinus(first))
	x = graph.Add(x, graph.Reshape(layers.Rows(params[decoderPlaces], 0, length, 1), 1, length, v.Width))
	if v.DecoderLanguage {
		language := graph.Reshape(graph.Gather(params[decoderLanguages], in.languages), n, 1, v.Width)
		x = graph.Add(x, graph.Mul(language, first))
	}
	latent := graph.Concatenate([]*graph.Node{semantic, language}, 1)
	stack := &layers.Stack{Shape: v.shape(), Params: params, N: n, Length: length}
	x = graph.Reshape(x, n*length, v.Width)
	bias := layers.Causal(x, length)
	everywhere := func(y *graph.Node) *graph.Node { // one row of a sentence for each of its places
		width := y.Shape().Dimensions[1]
		y = graph.BroadcastToDims(graph.Reshape(y, n, 1, width), n, length, width)
		return graph.Reshape(y, n*length, width)
	}
	for i := range v.DecoderLayers {
		name := layers.Name(decoderName, i)
		x = graph.Add(x, stack.Attention(name+".attention", stack.Normalise(name+".attention.norm", x), bias))
		x = graph.Add(x, everywhere(stack.Dense(name+".latent", latent)))
		x = graph.Add(x, stack.FeedForward(name+".ffn", stack.Normalise(name+".ffn.norm", x)))
	}
	x = graph.Concatenate([]*graph.Node{stack.Normalise(decoderNorm, x), everywhere(latent)}, 1)
	x = graph.Gather(x, in.places)
	if v.Factored {
		x = stack.Product(x, 1, params[decoderFactor], 0, nil)
	}
	return objective.Tokens(x, params[decoderWords], nil, in.tokens, in.shares)
}

// withWidth is a shape with the rows of x.
func withWidth(x *graph.Node, width int) shapes.Shape {
	return shapes.Make(x.DType(), x.Shape().Dimensions[0], width)
}
