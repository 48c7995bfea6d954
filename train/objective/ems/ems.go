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
