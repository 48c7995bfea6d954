// Package vmsst has the generative losses of VMSST: sentences are decoded from the vectors of their translations, and
// language-specific information is separated from the shared meaning.
package vmsst

import (
	"context"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/objective/contrastive"

	"bitextmine/train/weights"
)

// vmsst is the Variational Multilingual Source-Separation Transformer (Wieting et al., 2023). The sentence vector is
// the mean μ(x) of the semantic variable's posterior. In each pair one side, c, gives the semantic variable; c
// alternates within the batch. With ε drawn from N(0, I), per pair of x and y in the languages l and m:
//
//	z       = μ(c) + σ(c) ε;  σ² = exp(W · mean of the encoder's tokens of c + b)
//	z_x     = μ_l(x) + σ_l(x) ε, of the language encoder, a transformer over the same table of words; z_y likewise
//	translate   = -(1/N) Σ log p(x | μ(y), 0) + log p(y | μ(x), 0)
//	reconstruct = -(1/N) Σ log p(x | z, z_x) + log p(y | z, z_y)
//	kl          = (1/N) Σ KL(z) + KL(z_x) + KL(z_y);  KL = ½ Σ (μ² + σ² - 1 - log σ²), from N(0, I)
//	L           = translate + λ (reconstruct + anneal · kl)
//
// p is a causal decoder without cross-attention: decoder.go. log p is a sum over the tokens. bitranslation is translate
// alone. vmsst-contrastive has the cross-entropy of products of μ in place of translate, each direction with weight ½.
type vmsst struct{ base }

const (
	semanticVariance = "heads.semantic.variance"
	languageMean     = "heads.language.mean"
	languageVariance = "heads.language.variance"
)

func (v *vmsst) Heads() []weights.Spec {
	var specs []weights.Spec
	if v.elbo() {
		specs = append(specs, layers.DenseSpecs(semanticVariance, v.Width, v.Dim)...)
		specs = append(specs, layers.DenseSpecs(languageMean, v.Width, v.Width)...)
		specs = append(specs, layers.DenseSpecs(languageVariance, v.Width, v.Width)...)
		specs = append(specs, languages{v.base}.specs()...)
	}
	if v.decodes() {
		specs = append(specs, decoder{v.base}.specs()...)
	}
	return specs
}

func (v *vmsst) Terms() []objective.Term {
	var terms []objective.Term
	if v.Translate {
		terms = append(terms, objective.Term{Name: "translate", Weight: objective.Fixed(1)})
	}
	if v.Contrastive {
		terms = append(terms, objective.Term{Name: "forward", Weight: objective.Fixed(0.5)},
			objective.Term{Name: "backward", Weight: objective.Fixed(0.5)})
	}
	if v.elbo() {
		terms = append(terms, objective.Term{Name: "reconstruct", Weight: objective.Fixed(v.ELBOWeight)})
	}
	if v.elbo() && v.KL {
		terms = append(terms, objective.Term{Name: "kl", Weight: objective.Weight{To: v.ELBOWeight, Steps: v.KLAnneal}})
	}
	return terms
}

func (*vmsst) Views(b *data.Batch) ([]data.Side, error) { return b.Views[:2], nil }

func (v *vmsst) Inputs(_ context.Context, b *data.Batch, views []data.Side) ([]*tensors.Tensor, error) {
	return v.inputs(views, v.draw(b))
}

func (v *vmsst) Loss(s objective.Step) []*graph.Node {
	in := v.named(s.Inputs)
	source, target := s.Vectors(data.SourceView), s.Vectors(data.TargetView)
	var values []*graph.Node
	if v.Translate {
		crossed := graph.Concatenate([]*graph.Node{target, source}, 0)
		none := graph.Zeros(crossed.Graph(), withWidth(crossed, v.Width))
		values = append(values, decoder{v.base}.loss(s.Heads, in, crossed, none))
	}
	if v.Contrastive {
		values = append(values, contrastive.Rank(objective.Products(source, target, 1))...)
	}
	if !v.elbo() {
		return values
	}
	semantic, language := v.posteriors(s, in)
	z := semantic.sample(in.semanticNoise)
	values = append(values, decoder{v.base}.loss(s.Heads, in, graph.Concatenate([]*graph.Node{z, z}, 0),
		language.sample(in.languageNoise)))
	if v.KL {
		kl := graph.Add(semantic.divergence(), language.divergence())
		values = append(values, graph.MulScalar(kl, 1/float64(source.Shape().Dimensions[0])))
	}
	return values
}

// posteriors returns the posteriors of the semantic variable [n, dim] and of both sides' language variables [2n,
// width].
func (v *vmsst) posteriors(s objective.Step, in inputs) (semantic, language gaussian) {
	dense := layers.Stack{Params: s.Heads}
	pooled := graph.Concatenate([]*graph.Node{average(s.Views[data.SourceView].Tokens, s.Views[data.SourceView].Mask),
		average(s.Views[data.TargetView].Tokens, s.Views[data.TargetView].Mask)}, 0)
	n := s.Vectors(data.SourceView).Shape().Dimensions[0]
	chosen := func(both *graph.Node) *graph.Node { // selects the side that gives the semantic variable
		source, target := layers.Rows(both, 0, n, 1), layers.Rows(both, n, 2*n, 1)
		return graph.Add(source, graph.Mul(in.pick, graph.Sub(target, source)))
	}
	means := graph.Concatenate([]*graph.Node{s.Vectors(data.SourceView), s.Vectors(data.TargetView)}, 0)
	semantic = gaussian{chosen(means), dense.Dense(semanticVariance, chosen(pooled))}
	own := pooled
	if v.LanguageEncoders > 0 {
		own = languages{v.base}.encode(s, in)
	}
	return semantic, gaussian{dense.Dense(languageMean, own), dense.Dense(languageVariance, own)}
}

// average is the mean [n, width] of the tokens [n, length, width] where mask [n, length] is true.
func average(tokens, mask *graph.Node) *graph.Node {
	n, length := mask.Shape().Dimensions[0], mask.Shape().Dimensions[1]
	present := graph.ConvertDType(mask, dtypes.Float32)
	share := graph.Div(present, graph.ReduceAndKeep(present, graph.ReduceSum, 1))
	return graph.ReduceSum(graph.Mul(tokens, graph.Reshape(share, n, length, 1)), 1)
}

// gaussian is a normal distribution for each row: means and logarithms of variances [n, dim].
type gaussian struct{ mean, logVariance *graph.Node }

// sample is the mean and the deviation times noise [n, dim].
func (g gaussian) sample(noise *graph.Node) *graph.Node {
	return graph.Add(g.mean, graph.Mul(noise, graph.Exp(graph.MulScalar(g.logVariance, 0.5))))
}

// divergence is the sum over rows of KL from N(0, I).
func (g gaussian) divergence() *graph.Node {
	each := graph.Sub(graph.Add(graph.Mul(g.mean, g.mean), graph.Exp(g.logVariance)), graph.AddScalar(g.logVariance, 1))
	return graph.MulScalar(graph.ReduceAllSum(each), 0.5)
}
