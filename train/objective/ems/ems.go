// Package ems has EMS: contrastive learning together with cross-lingual token reconstruction, and its ablations.
package ems

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/objective/contrastive"
	"bitextmine/train/weights"
)

// ems is contrastive learning together with the reconstruction of one side's words from the other side's vector (Mao et
// al., EMS, 2023). With a margin and without reconstruction it is the paper's LaBSE baselines. The paper's loss is (XTR
// + contrastive)/N, both summed over the batch and over both directions. Here each term is already divided by N.
//
//	h(u)     = W1 relu(W2 u + b2) + b1, or u without the MLP
//	forward, backward: as contrastive, over cos(h(u), h(v))/T
//	xtr, ugt: reconstruction.go
type ems struct {
	Settings
	objective.Training
	words objective.Words
}

const (
	firstLayer  = "heads.contrastive.first"
	secondLayer = "heads.contrastive.second"
)

func newEMS(s Settings, t objective.Training) *ems { return &ems{s, t, t.Words()} }

func (e *ems) Heads() []weights.Spec {
	var specs []weights.Spec
	if e.Contrastive && e.MLP {
		specs = append(denseSpecs(firstLayer, e.Dim, e.Dim), denseSpecs(secondLayer, e.Dim, e.MLPDim)...)
	}
	if e.reconstructs() {
		specs = append(specs, e.reconstructionHeads()...)
	}
	return specs
}

// denseSpecs are the specs of a dense layer with Xavier initialisation.
func denseSpecs(name string, in, out int) []weights.Spec {
	specs := layers.DenseSpecs(name, in, out)
	specs[0].Init, specs[0].Scale = weights.Xavier, 0
	return specs
}

func (e *ems) Terms() []objective.Term {
	var terms []objective.Term
	if e.reconstructs() {
		terms = append(terms, objective.Term{Name: string(e.Reconstruction), Weight: objective.Fixed(1)})
	}
	if e.Contrastive {
		terms = append(terms, e.Ranking.Terms()...)
	}
	return terms
}

// Views are the two sides. With ugt one word of each sentence is masked.
func (e *ems) Views(b *data.Batch) ([]data.Side, error) {
	if e.Reconstruction == UGT {
		return e.mask(b), nil
	}
	return b.Views[:2], nil
}

func (e *ems) Inputs(_ context.Context, b *data.Batch, views []data.Side) ([]*tensors.Tensor, error) {
	if !e.reconstructs() {
		return nil, nil
	}
	return e.reconstructionInputs(b, views)
}

func (e *ems) Loss(s objective.Step) []*graph.Node {
	u, v := s.Vectors(data.SourceView), s.Vectors(data.TargetView)
	var values []*graph.Node
	if e.reconstructs() {
		values = append(values, e.reconstruction(s))
	}
	if e.Contrastive {
		if e.MLP {
			u, v = project(u, s.Heads), project(v, s.Heads)
		}
		values = append(values, e.Ranking.Loss(u, v)...)
	}
	return values
}

// project computes h.
func project(u *graph.Node, heads map[string]*graph.Node) *graph.Node {
	mlp := layers.Stack{Params: heads}
	return mlp.Dense(secondLayer, layers.Rectify(mlp.Dense(firstLayer, u)))
}

// mask returns both sides with one word masked in every sentence of two or more words. The seed and the step determine
// the words.
func (e *ems) mask(b *data.Batch) []data.Side {
	rng := rand.New(rand.NewPCG(e.Seed, uint64(b.Step)))
	views := make([]data.Side, 2)
	for at := range views {
		views[at] = b.Views[at]
		views[at].IDs = slices.Clone(b.Views[at].IDs)
		for i := range views[at].N {
			e.maskSentence(rng, views[at].Sentence(i))
		}
	}
	return views
}

func (e *ems) maskSentence(rng *rand.Rand, ids []int32) {
	if places := e.words.Places(ids); len(places) >= 2 {
		ids[places[rng.IntN(len(places))]] = e.Mask
	}
}

// masked returns the word of a sentence that its view masks, or nothing. The mask is a special token and so never a
// word itself.
func masked(sentence, view []int32) []int32 {
	for p, id := range sentence {
		if view[p] != id {
			return []int32{id}
		}
	}
	return nil
}

// Reconstruction is the distribution that EMS predicts from a sentence vector.
type Reconstruction string

// XTR is the distribution of the other side's words. UGT is this distribution and a masked word of the same side.
const (
	NoReconstruction Reconstruction = "none"
	XTR              Reconstruction = "xtr"
	UGT              Reconstruction = "ugt"
)

// Settings are the settings of EMS and of the paper's LaBSE baselines.
type Settings struct {
	contrastive.Ranking `yaml:",inline"`

	Contrastive    bool           `yaml:"contrastive"`    // use the contrastive terms
	MLP            bool           `yaml:"mlp"`            // two layers between the vectors and their cosines
	MLPDim         int            `yaml:"mlp_dim"`        // output dim of the second layer
	Reconstruction Reconstruction `yaml:"reconstruction"` // xtr, ugt or none
	LanguageToken  bool           `yaml:"language_token"` // reconstruction knows which language to predict
	LanguageDim    int            `yaml:"language_dim"`   // dim of a language's vector
	// reconstruction's output table is the encoder's embedding table
	SharedEmbedding bool `yaml:"shared_embedding"`
}

func init() {
	register := func(name string, change func(*Settings)) { objective.RegisterVariant(name, defaults, change) }
	withoutXTR := func(s *Settings) {
		s.Margin, s.Reconstruction, s.LanguageToken, s.LanguageDim = 0.3, NoReconstruction, false, 0
	}
	register("ems", func(*Settings) {})
	register("labse-joint", func(s *Settings) { s.Margin = 0.3 })
	register("labse-mlp", withoutXTR)
	register("labse-vanilla", func(s *Settings) {
		withoutXTR(s)
		s.MLP, s.MLPDim = false, 0
	})
}

// defaults are the paper's settings.
func defaults() *Settings {
	return &Settings{Ranking: contrastive.Ranking{Temperature: 0.1}, Contrastive: true, MLP: true, MLPDim: 128,
		Reconstruction: XTR, LanguageToken: true, LanguageDim: 128}
}

func (s *Settings) reconstructs() bool { return s.Reconstruction == XTR || s.Reconstruction == UGT }

// Validate reports all problems.
func (s *Settings) Validate(check objective.Check) {
	if s.Contrastive {
		s.Ranking.Validate(check)
	}
	known := []Reconstruction{NoReconstruction, XTR, UGT}
	check(slices.Contains(known, s.Reconstruction), "objective.reconstruction is %q but must be xtr, ugt or none",
		s.Reconstruction)
	check(s.Contrastive || s.reconstructs(),
		"the objective has neither contrastive nor reconstruction: set at least one")
	check(!s.Contrastive || !s.MLP || s.MLPDim >= 1, "objective.mlp_dim is %d but must be above 0", s.MLPDim)
	check(!s.reconstructs() || !s.LanguageToken || s.LanguageDim >= 1,
		"objective.language_dim is %d but must be above 0", s.LanguageDim)
	check(s.reconstructs() || !s.SharedEmbedding, "objective.shared_embedding is only for reconstruction: remove it")
}

// Needs is a mask token for UGT and the embedding table for a shared embedding.
func (s *Settings) Needs() objective.Needs {
	return objective.Needs{Pairs: 2, Mask: s.Reconstruction == UGT, Table: s.reconstructs() && s.SharedEmbedding}
}

// Build returns the objective.
func (s *Settings) Build(t objective.Training) (objective.Objective, error) {
	return newEMS(*s, t), nil
}
