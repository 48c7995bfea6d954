package objective

import (
	"context"

	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/weights"
)

// imascl is contrastive learning whose labels are the similarities that a teacher sees within a language (Park et al., IMASCL, 2024). Of each pair, s is the
// anchor, the side whose language is the higher one, and t the other, whichever of them the batch has as source: w is not symmetric. sim_f is the student's
// cosine over the temperature, sim_g the teacher's:
//
//	w(i, j) = softmax_j sim_g(s_i, s_j); with average labels softmax_j (sim_g(s_i, s_j) + sim_g(t_i, t_j))/2
//	row     = -(1/N) Σ_ij w(i, j) log(softmax over j of sim_f(s_i, t_j))
//	column  = -(1/N) Σ_ij w(i, j) log(softmax over i of sim_f(s_i, t_j))
//	L       = row + column; with TCM λ (row + column) + mono-anchor + mono-other, the column loss on (s, s) and on (t, t)
type imascl struct{ s Settings }

func (imascl) Heads(int) []weights.Spec { return nil }

// Inputs are [n, 1], 1 where the anchor is the target, else 0; the teacher's vectors [n, teacher dim] of the anchors; with average labels those of the other
// sides.
func (m imascl) Inputs(ctx context.Context, b *data.Batch) ([]*tensors.Tensor, error) {
	anchor, other, swapped := byAnchor(m.s, b)
	halves := []half{anchor}
	if m.s.Label == Average {
		halves = append(halves, other)
	}
	inputs := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(swapped, b.Source.N, 1)}
	for _, h := range halves {
		taught, err := h.taught(ctx, m.s)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, taught)
	}
	return inputs, nil
}

func (m imascl) Terms(s Step) []Term {
	within := func(vectors *g.Node) *g.Node { return cosines(vectors, vectors, m.s.Temperature) }
	taught := within(s.Inputs[1])
	if m.s.Label == Average {
		taught = g.MulScalar(g.Add(taught, within(s.Inputs[2])), 0.5)
	}
	swapped := s.Inputs[0]
	straight := g.OneMinus(swapped)
	u, v := s.Source.Vectors, s.Target.Vectors
	anchor := g.Add(g.Mul(u, straight), g.Mul(v, swapped))
	other := g.Add(g.Mul(v, straight), g.Mul(u, swapped))
	w := g.Exp(g.Sub(taught, logSumExp(taught, 1)))
	cross, weight := cosines(anchor, other, m.s.Temperature), 1.0
	if m.s.TCM {
		weight = m.s.CrossWeight
	}
	terms := []Term{
		{Name: "row", Weight: weight, Value: crossEntropy(w, cross, 1)},
		{Name: "column", Weight: weight, Value: crossEntropy(w, cross, 0)},
	}
	if m.s.TCM {
		terms = append(terms,
			Term{Name: "mono-anchor", Weight: 1, Value: crossEntropy(w, within(anchor), 0)},
			Term{Name: "mono-other", Weight: 1, Value: crossEntropy(w, within(other), 0)})
	}
	return terms
}
