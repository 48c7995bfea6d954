package mexma

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/encode/encodetest"
	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/encoder"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/objective/objectivetest"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

// golden is testdata/golden.json, written by golden.py.
type golden struct {
	objectivetest.Golden
	Lengths [][]int32    `json:"lengths"`
	Hidden  [][][][2]int `json:"hidden"` // place and id, by side and sentence
}

// build makes the objective of a case, or of a preset's text.
func (all golden) build(t *testing.T, settings string) *mexma {
	t.Helper()
	return objectivetest.Build(t, settings, objective.Training{Dim: all.Width, Width: all.Width, Vocabulary: all.Vocabulary,
		Languages: []string{"en", "fr"}, Special: []int32{1, 2, 0}, Mask: 0, Table: "table", Seed: 3}).(*mexma)
}

// masked is the golden batch's masked views and what is hidden in them. The longer view counts.
func (all golden) masked(sides int) (views []data.Side, out []hidden) {
	for side := range sides {
		views = append(views, data.Side{N: all.N, Length: all.Length - side, Lengths: all.Lengths[side]})
		var h hidden
		for row, tokens := range all.Hidden[side] {
			for _, of := range tokens {
				h.rows, h.places, h.ids = append(h.rows, row), append(h.places, of[0]), append(h.ids, int32(of[1]))
			}
		}
		out = append(out, h)
	}
	return views, out
}

// run computes a case's terms, and the gradients of the weighted total by every tensor.
func (all golden) run(t *testing.T, backend compute.Backend, m *mexma) (terms []float32, gradients map[string][]float32) {
	t.Helper()
	sides := 1
	if m.Symmetric {
		sides = 2
	}
	names := all.names(t, m, sides)
	args := all.Values(names)
	for side := range sides {
		args = append(args, tensors.FromFlatDataAndDimensions(all.Lengths[side], all.N))
	}
	args = append(args, inputs(all.masked(sides))...)
	return objectivetest.Evaluate(t, backend, m, 7, names, args, func(nodes []*g.Node) objective.Step { return all.step(sides, names, nodes) })
}

// names are the tensors of a case: vectors of clean views, vectors of masked views, tokens of masked views, the table,
// the heads.
func (all golden) names(t *testing.T, m *mexma, sides int) (names []string) {
	t.Helper()
	for _, part := range []string{"clean", "masked", "tokens"} {
		names = append(names, []string{part + "0", part + "1"}[:sides]...)
	}
	return append(append(names, "table"), all.Heads(t, m)...)
}

// step sorts the nodes of a graph: the named tensors, the lengths of the masked views, the inputs.
func (all golden) step(sides int, names []string, nodes []*g.Node) objective.Step {
	rest := nodes[len(names):]
	s := objective.Step{Heads: map[string]*g.Node{}, Inputs: rest[sides:]}
	for _, node := range nodes[:sides] {
		s.Views = append(s.Views, encoder.Encoded{Vectors: node})
	}
	for side := range sides {
		s.Views = append(s.Views, encoder.Encoded{Vectors: nodes[sides+side], Tokens: nodes[2*sides+side], Mask: layers.Present(rest[side], all.Length)})
	}
	for i, name := range names[3*sides:] {
		s.Heads[name] = nodes[3*sides+i]
	}
	return s
}

// TestGolden compares every term of every step of Table 11, the weights, and the gradients of the weighted total, with
// float64 numpy's.
func TestGolden(t *testing.T) {
	all := objectivetest.Read[golden](t)
	all.Compare(t, 0, func(t *testing.T, backend compute.Backend, settings string) (objective.Objective, []float32, map[string][]float32) {
		m := all.build(t, settings)
		terms, gradients := all.run(t, backend, m)
		return m, terms, gradients
	})
}

// TestTokensWithoutGradients: the loss of the masked tokens reaches them only with token_gradients, and the vector of
// the other side's clean sentence either way. The values are the same.
func TestTokensWithoutGradients(t *testing.T) {
	all := objectivetest.Read[golden](t)
	backend, err := device.Open("go", "")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	settings := `{name: mexma, head_layers: 1, head_heads: 2, head_ffn: 5, token_gradients: `
	with, reached := all.run(t, backend, all.build(t, settings+"true}"))
	without, cut := all.run(t, backend, all.build(t, settings+"false}"))
	if !slices.Equal(with, without) {
		t.Errorf("the terms are %v with gradients of tokens and %v without", with, without)
	}
	for _, name := range []string{"tokens0", "tokens1"} {
		if norm(reached[name]) < 1e-3 || norm(cut[name]) != 0 {
			t.Errorf("the gradient of %s has the norm %v with token_gradients and %v without", name, norm(reached[name]), norm(cut[name]))
		}
	}
	for _, name := range []string{"clean0", "clean1", "table", headBias} {
		if norm(cut[name]) < 1e-3 || !slices.Equal(cut[name], reached[name]) {
			t.Errorf("the gradient of %s has the norm %v with token_gradients and %v without", name, norm(reached[name]), norm(cut[name]))
		}
	}
}

// TestPredictionWithoutContext: without context the loss of the masked tokens does not reach the clean sentences, but
// the first tokens of the masked ones; with it the other way round. An empty setting is the translation's vector.
func TestPredictionWithoutContext(t *testing.T) {
	all := objectivetest.Read[golden](t)
	backend, err := device.Open("go", "")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	const alone = `{name: mexma, head_layers: 1, head_heads: 2, head_ffn: 5, alignment: none, koleo_weight: 0`
	terms, given := all.run(t, backend, all.build(t, alone+"}"))
	named, same := all.run(t, backend, all.build(t, alone+", context: translation}"))
	if !slices.Equal(terms, named) || !reflect.DeepEqual(given, same) {
		t.Errorf("the terms are %v by default and %v with context: translation, or their gradients differ", terms, named)
	}
	_, none := all.run(t, backend, all.build(t, alone+", context: none}"))
	for side := range 2 {
		clean, tokens := fmt.Sprint("clean", side), fmt.Sprint("tokens", side)
		if norm(given[clean]) < 1e-3 || norm(none[clean]) != 0 {
			t.Errorf("the gradient of %s has the norm %v with context and %v without", clean, norm(given[clean]), norm(none[clean]))
		}
		if of, without := norm(given[tokens][:all.Width]), norm(none[tokens][:all.Width]); of != 0 || without < 1e-3 {
			t.Errorf("the gradient of the first of %s has the norm %v with context and %v without", tokens, of, without)
		}
	}
}

func norm(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}
