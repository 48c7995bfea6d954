// Package mexma has the prediction of a sentence's masked tokens from the vector of its translation, and the losses
// beside it.
package mexma

import (
	"context"
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/layers"
	"bitextmine/train/objective"

	"bitextmine/train/weights"
)

// mexma predicts the masked tokens of a sentence from the vector of its translation (Janeiro et al., MEXMA, 2024). S_A
// and S_B are the vectors of the clean sentences; Â and B̂ are the tokens of the masked ones without the first, which
// stands for the sentence; head is a stack of transformer layers whose logits are compared with the encoder's words:
//
//	unmask  = CE(head([S_B, Â]), A) + CE(head([S_A, B̂]), B), each a mean over the masked tokens
//	align   = mean over pairs and values of (S_A - S_B)²
//	koleo   = KoLeo(S_A) + KoLeo(S_B);  KoLeo(x) = -(1/N) Σ_i log min over j≠i of ||x_i - x_j||, over x of length 1,
//	          each j in i's part of the batch
//	forward, backward: as contrastive, of S_A and S_B; each with half of align's weight
//
// Without token gradients the head's gradient does not reach Â and B̂. Without context the head sees Â and B̂ with
// their own first tokens, in place of S_B and S_A. Without symmetry only one side of a pair is masked. Masked alignment
// is the mean of (S_Â - S_B)² and (S_B̂ - S_A)².
type mexma struct {
	Settings
	objective.Training
	words objective.Words
}

const (
	headName = "heads.unmask"
	headBias = "heads.unmask.bias" // [vocabulary], of the logits
)

// tiny is added to squared distances, so that two equal vectors have a logarithm.
const tiny = 1e-16

func (m *mexma) Heads() []weights.Spec {
	var specs []weights.Spec
	for i := range m.HeadLayers {
		specs = append(specs, m.shape().Specs(layers.Name(headName, i))...)
	}
	return append(specs, weights.Spec{Name: headBias, Shape: []int{m.Vocabulary}, Init: weights.Zeros, NoDecay: true})
}

func (m *mexma) Terms() []objective.Term {
	terms := []objective.Term{{Name: "unmask", Weight: objective.Fixed(m.UnmaskWeight)}}
	switch m.Alignment {
	case Masked, Clean:
		terms = append(terms, objective.Term{Name: "align", Weight: objective.Fixed(m.AlignWeight)})
	case Contrastive:
		for _, term := range m.ranking().Terms() {
			term.Weight = objective.Fixed(m.AlignWeight / 2)
			terms = append(terms, term)
		}
	}
	if m.KoLeoWeight > 0 {
		terms = append(terms, objective.Term{Name: "koleo", Weight: objective.Fixed(m.KoLeoWeight)})
	}
	return terms
}

// Views are the clean sides and their masked copies: masking.
func (m *mexma) Views(b *data.Batch) ([]data.Side, error) {
	if n, pairs := b.Views[data.SourceView].N, m.Needs().Pairs; n < pairs {
		return nil, fmt.Errorf("objective mexma: step %d has a batch of %d pairs, but a distance to other pairs needs %d", b.Step, n, pairs)
	} else if m.KoLeoBatch > 0 && n%m.KoLeoBatch != 0 {
		return nil, badinput.Errorf("bitext.batch_size is %d, not a multiple of objective.koleo_batch %d: change one", n, m.KoLeoBatch)
	}
	return m.mask(b).views, nil
}

func (m *mexma) Inputs(_ context.Context, b *data.Batch, views []data.Side) ([]*tensors.Tensor, error) {
	return inputs(views, m.mask(b).hidden), nil
}

// inputs are, for each masked token [masked]: its place in the tokens of all masked views, its original id, and its
// share of the loss, 1 / the masked tokens of its view, or 0 for padding.
func inputs(views []data.Side, all []hidden) []*tensors.Tensor {
	n, length, count := views[0].N, 0, 0
	for _, view := range views {
		length = max(length, view.Length)
	}
	for _, h := range all {
		count += len(h.ids)
	}
	size := objective.RoundUp(count, n*length*len(all))
	places, ids, shares := make([]int64, 0, size), make([]int64, 0, size), make([]float32, 0, size)
	for view, h := range all {
		for k, id := range h.ids {
			places = append(places, int64((view*n+h.rows[k])*length+h.places[k]))
			ids, shares = append(ids, int64(id)), append(shares, 1/float32(len(h.ids)))
		}
	}
	return []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(places[:size:size], size, 1),
		tensors.FromFlatDataAndDimensions(ids[:size:size], size, 1),
		tensors.FromFlatDataAndDimensions(shares[:size:size], size),
	}
}

func (m *mexma) Loss(s objective.Step) []*graph.Node {
	values := []*graph.Node{m.unmask(s)}
	half := len(s.Views) / 2 // clean views, then masked ones
	clean, masked := vectors(s, 0, half), vectors(s, half, len(s.Views))
	switch m.Alignment {
	case Masked:
		values = append(values, meanSquare(graph.Concatenate(masked, 0), graph.Concatenate(others(clean), 0)))
	case Clean:
		values = append(values, meanSquare(clean[0], clean[1]))
	case Contrastive:
		values = append(values, m.ranking().Loss(clean[0], clean[1])...)
	}
	if m.KoLeoWeight > 0 {
		values = append(values, graph.Add(m.koleo(clean[0]), m.koleo(clean[1])))
	}
	return values
}

func vectors(s objective.Step, from, to int) (all []*graph.Node) {
	for view := from; view < to; view++ {
		all = append(all, s.Vectors(view))
	}
	return all
}

// others are the clean vectors that the masked views are seen with: the other side's. Of one clean view it is that.
func others(clean []*graph.Node) []*graph.Node {
	if len(clean) == 1 {
		return clean
	}
	return []*graph.Node{clean[1], clean[0]}
}

// meanSquare is the mean over rows and values of (x - y)².
func meanSquare(x, y *graph.Node) *graph.Node {
	away := graph.Sub(x, y)
	return graph.ReduceAllMean(graph.Mul(away, away))
}

// unmask is the cross-entropy of the masked tokens of all masked views.
func (m *mexma) unmask(s objective.Step) *graph.Node {
	half := len(s.Views) / 2
	var tokens, present []*graph.Node
	for _, view := range s.Views[half:] {
		tokens, present = append(tokens, view.Tokens), append(present, view.Mask)
	}
	x := graph.Concatenate(tokens, 0)
	if !m.TokenGradients {
		x = graph.StopGradient(x)
	}
	n, length := x.Shape().Dimensions[0], x.Shape().Dimensions[1]
	if m.Context != NoContext {
		sentences := graph.Reshape(graph.Concatenate(others(vectors(s, 0, half)), 0), n, 1, m.Width)
		first := layers.First(x.Graph(), length)
		x = graph.Add(graph.Mul(x, graph.OneMinus(first)), graph.Mul(sentences, first))
	}

	stack := layers.Stack{Shape: m.shape(), Params: s.Heads, N: n, Length: length}
	bias := layers.Padding(graph.ConvertDType(graph.Concatenate(present, 0), dtypes.Float32))
	x = graph.Reshape(x, n*length, m.Width)
	for i := range m.HeadLayers {
		x = stack.Layer(layers.Name(headName, i), x, bias)
	}
	return objective.Tokens(graph.Gather(x, s.Inputs[0]), s.Heads[m.Table], s.Heads[headBias], s.Inputs[1], s.Inputs[2])
}

// koleo is the mean over the parts of a batch.
func (m *mexma) koleo(x *graph.Node) *graph.Node {
	n, width := x.Shape().Dimensions[0], x.Shape().Dimensions[1]
	if m.KoLeoBatch == 0 || m.KoLeoBatch == n {
		return koleo(x)
	}
	var sum *graph.Node
	for from := 0; from < n; from += m.KoLeoBatch {
		part := koleo(graph.Reshape(layers.Rows(x, from, from+m.KoLeoBatch, 1), m.KoLeoBatch, width))
		if sum == nil {
			sum = part
		} else {
			sum = graph.Add(sum, part)
		}
	}
	return graph.MulScalar(sum, float64(m.KoLeoBatch)/float64(n))
}

// koleo is -(1/N) Σ log of the distance of each row of x [n, dim], divided by its length, to its nearest other row.
func koleo(x *graph.Node) *graph.Node {
	x = objective.Normalise(x)
	n := x.Shape().Dimensions[0]
	away := graph.Sub(x, graph.Gather(x, graph.Reshape(graph.StopGradient(nearest(x)), n, 1)))
	squares := graph.AddScalar(graph.ReduceSum(graph.Mul(away, away), 1), tiny)
	return graph.MulScalar(graph.ReduceAllMean(graph.Log(squares)), -0.5) // the root is in the half
}

// nearest is the row [n], int64, with the highest product with each row of x, itself apart.
func nearest(x *graph.Node) *graph.Node {
	products := graph.DotGeneral(x, []int{1}, nil, x, []int{1}, nil)
	const own = 4 // above the difference of any two products
	return graph.ArgMax(objective.LowerOwn(products, own), 1, dtypes.Int64)
}
