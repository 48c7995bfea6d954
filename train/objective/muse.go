package objective

import (
	"context"
	"fmt"

	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/weights"
)

// muse is contrastive with hard negatives: each source has, beside the batch's targets, h wrong ones of its own that are near to it (Yang et al., mUSE,
// 2019; Guo et al., 2018). They are no candidates for the other sources: one of them may be another pair's translation.
//
//	forward  = -(1/N) Σ_i log softmax over the N targets and source i's h negatives of cos/T, at target i
//	backward = as contrastive
type muse struct{ s Settings }

func (muse) Heads(int) []weights.Spec { return nil }

func (m muse) Inputs(_ context.Context, b *data.Batch) ([]*tensors.Tensor, error) {
	if b.Negatives == nil || b.Negatives.N != b.Source.N*m.s.Negatives {
		return nil, fmt.Errorf("objective muse: step %d's batch has not %d hard negatives for each pair", b.Step, m.s.Negatives)
	}
	return nil, nil
}

func (m muse) Terms(s Step) []Term {
	logits := lowered(cosines(s.Source.Vectors, s.Target.Vectors, m.s.Temperature), m.s.Margin/m.s.Temperature)
	own := trace(logits)
	n, dim := logits.Shape().Dimensions[0], s.Source.Vectors.Shape().Dimensions[1]
	negatives := g.Reshape(normalise(s.Negatives.Vectors), n, m.s.Negatives, dim)
	hard := g.DotGeneral(g.MulScalar(normalise(s.Source.Vectors), 1/m.s.Temperature), []int{1}, []int{0}, negatives, []int{2}, []int{0}) // [n, h]
	terms := []Term{{Name: "forward", Weight: 1, Value: ranking(own, g.Concatenate([]*g.Node{logits, hard}, 1), 1)}}
	if !m.s.OneWay {
		terms = append(terms, Term{Name: "backward", Weight: 1, Value: ranking(own, logits, 0)})
	}
	return terms
}
