package objective

import (
	"context"

	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/weights"
)

// ems is contrastive learning beside the reconstruction of one side's tokens from the other's vector (Mao et al., EMS, 2023), and what its ablation
// takes away; with a margin and without reconstruction it is the paper's LaBSE baselines. The paper's loss is (XTR + contrastive)/N, both summed over
// the batch and over both directions: here each term is already divided by N.
//
//	h(u)     = W1 relu(W2 u + b2) + b1, or u without the MLP
//	forward, backward: as contrastive, over cos(h(u), h(v))/T
//	xtr, ugt: reconstruction.go
type ems struct {
	s       Settings
	special []bool // [vocabulary]
	masked  masked // by the last Prepare
}

const (
	firstLayer  = "heads.contrastive.first"
	secondLayer = "heads.contrastive.second"
)

func newEMS(s Settings) *ems {
	e := &ems{s: s}
	if s.reconstructs() {
		e.special = make([]bool, s.Vocabulary)
		for _, id := range s.Special {
			e.special[id] = true
		}
	}
	return e
}

func (e *ems) Heads(dim int) []weights.Spec {
	var specs []weights.Spec
	if e.s.Contrastive && e.s.MLP {
		specs = append(layer(firstLayer, dim, dim), layer(secondLayer, dim, e.s.MLPDim)...)
	}
	if e.s.reconstructs() {
		specs = append(specs, e.reconstructionHeads(dim)...)
	}
	return specs
}

func (e *ems) Inputs(_ context.Context, b *data.Batch) ([]*tensors.Tensor, error) {
	if !e.s.reconstructs() {
		return nil, nil
	}
	return e.reconstructionInputs(b)
}

func (e *ems) Terms(s Step) []Term {
	u, v := s.Source.Vectors, s.Target.Vectors
	var terms []Term
	if e.s.reconstructs() {
		terms = append(terms, Term{Name: string(e.s.Reconstruction), Weight: 1, Value: e.reconstruction(s)})
	}
	if e.s.Contrastive {
		if e.s.MLP {
			u, v = project(u, s.Heads), project(v, s.Heads)
		}
		terms = append(terms, contrast(u, v, e.s)...)
	}
	return terms
}

// project is h.
func project(u *g.Node, heads map[string]*g.Node) *g.Node {
	return affine(relu(affine(u, heads, firstLayer)), heads, secondLayer)
}

// layer is a matrix [in, out] and a bias.
func layer(name string, in, out int) []weights.Spec {
	return []weights.Spec{
		{Name: name + ".weight", Shape: []int{in, out}, Init: weights.Xavier},
		{Name: name + ".bias", Shape: []int{out}, Init: weights.Zeros, NoDecay: true},
	}
}

func affine(x *g.Node, heads map[string]*g.Node, name string) *g.Node {
	weight, bias := heads[name+".weight"], heads[name+".bias"]
	return g.Add(g.DotGeneral(x, []int{1}, nil, weight, []int{0}, nil), g.Reshape(bias, 1, bias.Shape().Dimensions[0]))
}

func relu(x *g.Node) *g.Node { return g.Max(x, g.ScalarZero(x.Graph(), x.DType())) }
