package wacse

import (
	"strings"
	"testing"

	"bitextmine/train/data"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/objective/objectivetest"
	"bitextmine/train/words"
)

// TestRanges: the ends of every range are in it or not, and what is refused is named.
func TestRanges(t *testing.T) {
	for _, c := range []struct {
		change map[string]any
		says   string // empty: valid
	}{
		{nil, ""},
		{map[string]any{"word_temperature": 100.0}, ""},
		{map[string]any{"word_temperature": 100.5}, "objective.word_temperature is 100.5"},
		{map[string]any{"word_temperature": 0.0}, "objective.word_temperature is 0"},
		{map[string]any{"temperature": 0.0}, "objective.temperature is 0"},
		{map[string]any{"tr_weight": -0.5}, "objective.tr_weight is -0.5"},
		{map[string]any{"awp_weight": -0.5}, "objective.awp_weight is -0.5"},
		{map[string]any{"wtr_weight": -0.5}, "objective.wtr_weight is -0.5"},
		{map[string]any{"tr_weight": 0.0, "awp_weight": 0.0}, ""},
		{map[string]any{"tr_weight": 0.0, "wtr_weight": 0.0}, ""},
		{map[string]any{"awp_weight": 0.0, "wtr_weight": 0.0}, ""},
		{map[string]any{"tr_weight": 0.0, "awp_weight": 0.0, "wtr_weight": 0.0}, "are all 0"},
		{map[string]any{"masking": 1.0}, ""},
		{map[string]any{"masking": 1.5}, "objective.masking is 1.5"},
		{map[string]any{"masking": 0.0}, "objective.masking is 0"},
	} {
		section, err := objective.Default("wacse").With(c.change)
		if err == nil {
			err = section.Validate()
		}
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%v: %v, want %q", c.change, err, c.says)
		}
	}
}

// TestNeeds: only what the terms read.
func TestNeeds(t *testing.T) {
	all, words := objective.Needs{Tokens: true, Words: true, Table: true, Mask: true, Pairs: 2}, objective.Needs{Tokens: true, Words: true, Pairs: 2}
	for want, s := range map[objective.Needs]Settings{
		all: {AWPWeight: 1}, words: {WTRWeight: 1}, {Pairs: 2}: {TRWeight: 1},
	} {
		if got := s.Needs(); got != want {
			t.Errorf("%+v needs %+v, want %+v", s, got, want)
		}
	}
}

// TestDraw: how many of the linked words are masked, and by how much they count.
func TestDraw(t *testing.T) {
	all := objectivetest.Read[golden](t)
	for _, c := range []struct {
		masking string
		linked  int
		drawn   int
		scale   float32
	}{{"0.15", 1, 1, 1}, {"0.15", 10, 2, 5}, {"0.5", 3, 2, 1.5}, {"1", 7, 7, 1}, {"0.1", 4, 1, 4}, {"0.1", 0, 0, 0}} {
		w := build(t, all, "{name: wacse, masking: "+c.masking+"}")
		b := &data.Batch{Views: []data.Side{{N: 1, Length: 12, IDs: make([]int32, 12), Lengths: []int32{12}}, {N: 1, Length: 12, IDs: make([]int32, 12), Lengths: []int32{12}}}}
		var pair words.Pair
		for i := range c.linked {
			span := words.Span{Begin: uint16(i + 1), End: uint16(i + 2)}
			pair.Source, pair.Target = append(pair.Source, span), append(pair.Target, span)
			pair.Links = append(pair.Links, words.Link{Source: uint16(i), Target: uint16(i)})
		}
		b.Words = []words.Pair{pair}
		_, targets := w.mask(b)
		if len(targets) != 2*c.drawn {
			t.Errorf("masking %s: %d targets of %d linked words, want %d a side", c.masking, len(targets), c.linked, c.drawn)
		}
		for _, of := range targets {
			if of.share != c.scale {
				t.Errorf("masking %s: a share of %v, want %v", c.masking, of.share, c.scale)
			}
		}
	}
}

// TestPredictedSizes: the number of targets is rounded up to a sixteenth of the masked views' tokens, and what is not
// there has no share.
func TestPredictedSizes(t *testing.T) {
	w := build(t, objectivetest.Read[golden](t), "{name: wacse}")
	const n, length = 4, 8 // 64 tokens, parts of 4
	for count, size := range map[int]int{0: 4, 1: 4, 4: 4, 5: 8, 9: 12} {
		targets := make([]target, count)
		for i := range targets {
			targets[i] = target{1, 2, 3, 5, 2}
		}
		inputs, err := w.predicted(n, length, targets)
		if err != nil {
			t.Fatal(err)
		}
		if got := inputs[0].Shape().Dimensions[0]; got != size || len(inputs) != predictedInputs {
			t.Errorf("%d targets are %d, want %d", count, got, size)
		}
		for i, share := range inputs[2].Value().([]float32) {
			if i < count && share != 0.25 || i >= count && share != 0 {
				t.Errorf("%d targets: share %d is %v", count, i, share)
			}
		}
		if count > 0 {
			if place := inputs[0].Value().([][]int64)[0][0]; place != (1*4+2)*8+3 {
				t.Errorf("the place is %d", place)
			}
		}
	}
	if inputs, err := w.predicted(1, 3, make([]target, 3)); err != nil || inputs[0].Shape().Dimensions[0] != 3 {
		t.Errorf("of 6 tokens, parts of 1: %v", err)
	}
	for _, id := range []int32{-1, int32(w.Vocabulary)} {
		if _, err := w.predicted(n, length, []target{{id: id}}); err == nil {
			t.Errorf("the token %d is taken", id)
		}
	}
	if _, err := w.predicted(n, length, []target{{id: int32(w.Vocabulary) - 1}}); err != nil {
		t.Error(err)
	}
}

// TestHeads: the head is there only for word prediction, and is that of XLM-R.
func TestHeads(t *testing.T) {
	all := objectivetest.Read[golden](t)
	for settings, want := range map[string]int{"{name: wacse}": 5, "{name: wacse, awp_weight: 1}": 5, "{name: wacse, awp_weight: 0}": 0} {
		w := build(t, all, settings)
		if got := w.Heads(); len(got) != want {
			t.Errorf("%s has the tensors %v, want %d", settings, got, want)
		}
		if views, err := w.Views(all.batch()); err != nil || len(views) != 2+2*min(1, want) {
			t.Errorf("%s has %d views, %v", settings, len(views), err)
		}
		if got := w.head(); got != (layers.Shape{Width: all.Width, Epsilon: 1e-5}) {
			t.Errorf("the head is %+v", got)
		}
	}
}

// TestInputs: only those of the terms.
func TestInputs(t *testing.T) {
	all := objectivetest.Read[golden](t)
	for settings, want := range map[string]int{
		"{name: wacse}": predictedInputs + 5, "{name: wacse, wtr_weight: 0}": predictedInputs, "{name: wacse, awp_weight: 0}": 5,
		"{name: wacse, awp_weight: 0, wtr_weight: 0}": 0,
	} {
		w, b := build(t, all, settings), all.batch()
		views, err := w.Views(b)
		if err != nil {
			t.Fatal(err)
		}
		if inputs, err := w.Inputs(t.Context(), b, views); err != nil || len(inputs) != want {
			t.Errorf("%s has %d inputs, want %d, %v", settings, len(inputs), want, err)
		}
	}
}
