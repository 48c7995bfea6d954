package wacse

import (
	"testing"

	"github.com/gomlx/compute"
	g "github.com/gomlx/gomlx/core/graph"

	"bitextmine/encode/encodetest"
	"bitextmine/train/data"
	"bitextmine/train/encoder"
	"bitextmine/train/objective"
	"bitextmine/train/objective/objectivetest"
	"bitextmine/train/words"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

// golden is testdata/golden.json, written by golden.py.
type golden struct {
	objectivetest.Golden
	IDs   [][][]int32     `json:"ids"`   // ids by side and sentence
	Words [][][][2]uint16 `json:"words"` // begin and end, by side and sentence
	Links [][][2]uint16   `json:"links"` // links of each pair
}

// build makes the objective of a preset's section. The mask is the token 0.
func build(t *testing.T, all golden, settings string) *wacse {
	t.Helper()
	return objectivetest.Build(t, settings, objective.Training{Dim: all.Width, Width: all.Width, Vocabulary: all.Vocabulary,
		Languages: []string{"en", "fr"}, Special: []int32{1, 2, 0}, Mask: 0, Table: "table", Seed: 3}).(*wacse)
}

// batch is the golden batch. Its target is padded to a shorter length.
func (all golden) batch() *data.Batch {
	b := &data.Batch{Words: make([]words.Pair, all.N)}
	for side, sentences := range all.IDs {
		view := data.Side{N: all.N, Length: all.Length - side, IDs: make([]int32, all.N*(all.Length-side))}
		for i, ids := range sentences {
			view.Lengths = append(view.Lengths, int32(copy(view.IDs[i*view.Length:], ids)))
			var spans []words.Span
			for _, w := range all.Words[side][i] {
				spans = append(spans, words.Span{Begin: w[0], End: w[1]})
			}
			if side == 0 {
				b.Words[i].Source = spans
			} else {
				b.Words[i].Target = spans
			}
		}
		b.Views = append(b.Views, view)
	}
	for i, links := range all.Links {
		for _, l := range links {
			b.Words[i].Links = append(b.Words[i].Links, words.Link{Source: l[0], Target: l[1]})
		}
	}
	return b
}

// run computes a case's terms, their weighted total, and its gradients by every tensor.
func (all golden) run(t *testing.T, backend compute.Backend, w *wacse) (terms []float32, gradients map[string][]float32) {
	t.Helper()
	b := all.batch()
	views, err := w.Views(b)
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := w.Inputs(t.Context(), b, views)
	if err != nil {
		t.Fatal(err)
	}
	names := all.names(t, w)
	return objectivetest.Evaluate(t, backend, w, 7, names, append(all.Values(names), inputs...), func(nodes []*g.Node) objective.Step {
		of := map[string]*g.Node{}
		for i, name := range names {
			of[name] = nodes[i]
		}
		return objective.Step{Heads: of, Inputs: nodes[len(names):], Views: []encoder.Encoded{
			{Vectors: of["vectors0"], Tokens: of["tokens0"]}, {Vectors: of["vectors1"], Tokens: of["tokens1"]},
			{Tokens: of["masked0"]}, {Tokens: of["masked1"]},
		}}
	})
}

// names are the tensors that a case has.
func (all golden) names(t *testing.T, w *wacse) []string {
	t.Helper()
	names := []string{"vectors0", "vectors1"}
	if w.Needs().Tokens {
		names = append(names, "tokens0", "tokens1")
	}
	if w.Needs().Mask {
		names = append(names, "masked0", "masked1", "table")
	}
	return append(names, all.Heads(t, w)...)
}

// TestGolden compares every term, the weights, the weighted total and its gradients with float64 numpy's, also where a
// term is left out.
func TestGolden(t *testing.T) {
	all := objectivetest.Read[golden](t)
	all.Compare(t, 0, func(t *testing.T, backend compute.Backend, settings string) (objective.Objective, []float32, map[string][]float32) {
		w := build(t, all, settings)
		terms, gradients := all.run(t, backend, w)
		return w, terms, gradients
	})
}
