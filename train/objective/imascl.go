package objective

import (
	"context"

	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/weights"
)

// imascl is contrastive learning whose labels are the similarities that a teacher sees within a language (Park et al., IMASCL, 2024). sim_f is the
// student's cosine over the temperature, sim_g the teacher's:
//
//	w(i, j) = softmax_j sim_g(a_i, a_j), a the side of a pair whose language is the higher anchor; or
//	          softmax_j (sim_g(s_i, s_j) + sim_g(t_i, t_j))/2 with average labels
//	row     = -(1/N) Σ_ij w(i, j) log(softmax over j of sim_f(s_i, t_j))
//	column  = -(1/N) Σ_ij w(i, j) log(softmax over i of sim_f(s_i, t_j))
//	L       = row + column; with TCM λ (row + column) + mono-source + mono-target, the column loss on (s, s) and on (t, t)
type imascl struct{ s Settings }

func (imascl) Heads(int) []weights.Spec { return nil }

// Inputs are the teacher's vectors [n, teacher dim] of the anchors; with average labels those of the sources and those of the targets.
func (m imascl) Inputs(ctx context.Context, b *data.Batch) ([]*tensors.Tensor, error) {
	if m.s.Label == Priority {
		return anchorVectors(ctx, m.s, b)
	}
	var inputs []*tensors.Tensor
	for _, side := range []data.Side{b.Source, b.Target} {
		vectors, err := m.s.Vectors.Encode(ctx, codes(m.s, side), side.Texts)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, tensors.FromFlatDataAndDimensions(vectors, side.N, m.s.Vectors.Dim()))
	}
	return inputs, nil
}

func (m imascl) Terms(s Step) []Term {
	within := func(vectors *g.Node) *g.Node { return cosines(vectors, vectors, m.s.Temperature) }
	taught := within(s.Inputs[0])
	if m.s.Label == Average {
		taught = g.MulScalar(g.Add(taught, within(s.Inputs[1])), 0.5)
	}
	w := g.Exp(g.Sub(taught, logSumExp(taught, 1)))
	cross, weight := cosines(s.Source.Vectors, s.Target.Vectors, m.s.Temperature), 1.0
	if m.s.TCM {
		weight = m.s.CrossWeight
	}
	terms := []Term{
		{Name: "row", Weight: weight, Value: crossEntropy(w, cross, 1)},
		{Name: "column", Weight: weight, Value: crossEntropy(w, cross, 0)},
	}
	if m.s.TCM {
		terms = append(terms,
			Term{Name: "mono-source", Weight: 1, Value: crossEntropy(w, within(s.Source.Vectors), 0)},
			Term{Name: "mono-target", Weight: 1, Value: crossEntropy(w, within(s.Target.Vectors), 0)})
	}
	return terms
}
