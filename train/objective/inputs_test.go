package objective

import (
	"slices"
	"testing"

	"bitextmine/train/data"
)

func ugt(t *testing.T, all golden) *ems {
	t.Helper()
	s := Defaults("ems")
	s.Reconstruction, s.Vocabulary, s.Languages, s.Special, s.Mask, s.Seed = UGT, all.Vocabulary, all.Languages, all.Special, all.Mask, 5
	o, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return o.(*ems)
}

func TestPrepareMasksOneWordOfEach(t *testing.T) {
	all := readGolden(t)
	e := ugt(t, all)
	seen := map[int32]bool{} // places masked in the first source
	for step := range 50 {
		clean, b := all.batch(), all.batch()
		b.Step = step
		e.Prepare(b)
		for at, sides := range [][2]data.Side{{clean.Source, b.Source}, {clean.Target, b.Target}} {
			for i := range all.N {
				e.checkMask(t, at, i, sides[0], sides[1])
			}
		}
		seen[e.masked.sides[0][0].place] = true
		if _, err := e.Inputs(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		again := all.batch()
		again.Step = step
		e.Prepare(again)
		if !slices.Equal(again.Source.IDs, b.Source.IDs) || !slices.Equal(again.Target.IDs, b.Target.IDs) {
			t.Fatalf("step %d masks other words the second time", step)
		}
	}
	if len(seen) != 3 {
		t.Errorf("in 50 steps, the places %v of a sentence of three words were masked", seen)
	}
}

// checkMask compares a sentence before and after it was masked.
func (e *ems) checkMask(t *testing.T, at, i int, clean, got data.Side) {
	t.Helper()
	words, changed := 0, 0
	for p := range got.Length {
		was, is := clean.IDs[i*got.Length+p], got.IDs[i*got.Length+p]
		if p < int(got.Lengths[i]) && !slices.Contains(e.s.Special, was) {
			words++
		}
		if was == is {
			continue
		}
		changed++
		if is != e.s.Mask || p >= int(got.Lengths[i]) || slices.Contains(e.s.Special, was) {
			t.Errorf("side %d, sentence %d: place %d went from %d to %d", at, i, p, was, is)
		}
		if h := e.masked.sides[at][i]; h != (hidden{int32(p), was}) {
			t.Errorf("side %d, sentence %d: %v was noted for place %d, token %d", at, i, h, p, was)
		}
	}
	if want := min(1, words/2); changed != want {
		t.Errorf("side %d, sentence %d of %d words: %d masked, want %d", at, i, words, changed, want)
	}
}

func TestInputsErrors(t *testing.T) {
	all := readGolden(t)
	b := all.batch()
	if _, err := ugt(t, all).Inputs(t.Context(), b); err == nil {
		t.Error("ugt gave inputs of a batch that was not prepared")
	}
	s := Defaults("ems")
	s.Vocabulary, s.Languages = 8, all.Languages // the batch has tokens up to 10
	o, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Inputs(t.Context(), b); err == nil {
		t.Error("ems took a token that is not in the vocabulary")
	}
	for _, negatives := range []*data.Side{nil, {N: 5}} {
		b.Negatives = negatives
		o, err := New(Defaults("muse"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Inputs(t.Context(), b); err == nil {
			t.Errorf("muse took the negatives %v", negatives)
		}
	}
}

func TestAnchors(t *testing.T) {
	anchors := []string{"en", "ru"}
	for _, c := range []struct {
		a, b string
		want bool
	}{{"en", "ru", true}, {"ru", "en", false}, {"ru", "de", true}, {"de", "en", false}, {"de", "fr", true}, {"fr", "de", false}, {"en", "en", false}} {
		if got := before(anchors, c.a, c.b); got != c.want {
			t.Errorf("before(%s, %s) = %v", c.a, c.b, got)
		}
	}
}
