package ems

import (
	"math"
	"slices"
	"testing"

	"bitextmine/train/data"
	"bitextmine/train/objective"
)

// sides are two sides of sentences with 1 for the beginning and 2 for the end; 3 is the mask.
func sides() *data.Batch {
	return &data.Batch{Views: []data.Side{
		{N: 4, Length: 5, IDs: []int32{1, 4, 5, 5, 2, 1, 6, 2, 0, 0, 1, 7, 8, 4, 2, 1, 9, 10, 2, 0}, Lengths: []int32{5, 3, 5, 4}, Languages: []uint16{0, 1, 2, 3}},
		{N: 4, Length: 4, IDs: []int32{1, 9, 2, 0, 1, 10, 9, 2, 5, 5, 6, 2, 1, 8, 8, 2}, Lengths: []int32{3, 4, 4, 4}, Languages: []uint16{1, 2, 0, 0}},
	}}
}

func newUGT(t *testing.T) *ems {
	t.Helper()
	section, err := objective.Default("ems").With(map[string]any{"reconstruction": "ugt"})
	if err != nil {
		t.Fatal(err)
	}
	o, err := section.Build(objective.Training{Dim: 6, Width: 6, Vocabulary: 11, Languages: []string{"ko", "en", "fr", "sw"}, Special: []int32{1, 2, 3}, Mask: 3, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	return o.(*ems)
}

func TestViewsMaskOneWordOfEach(t *testing.T) {
	e := newUGT(t)
	seen := map[int32]bool{} // words masked in the first source
	for step := range 50 {
		b := sides()
		b.Step = step
		views, err := e.Views(b)
		if err != nil {
			t.Fatal(err)
		}
		for at, clean := range sides().Views {
			if !slices.Equal(b.Views[at].IDs, clean.IDs) {
				t.Fatalf("step %d changed view %d of its batch", step, at)
			}
			for i := range clean.N {
				e.checkMask(t, at, i, clean, views[at])
			}
		}
		for _, id := range masked(b.Views[0].Sentence(0), views[0].Sentence(0)) {
			seen[id] = true
		}
		if _, err := e.Inputs(t.Context(), b, views); err != nil {
			t.Fatal(err)
		}
		again, err := e.Views(b)
		if err != nil || !slices.Equal(again[0].IDs, views[0].IDs) || !slices.Equal(again[1].IDs, views[1].IDs) {
			t.Fatalf("step %d masks other words the second time, or %v", step, err)
		}
	}
	if len(seen) != 2 {
		t.Errorf("in 50 steps, the words %v of a sentence of 4, 5 and 5 were masked", seen)
	}
}

// checkMask compares a sentence before and after it was masked.
func (e *ems) checkMask(t *testing.T, at, i int, clean, got data.Side) {
	t.Helper()
	words, changed := 0, 0
	for p := range got.Length {
		was, is := clean.IDs[i*got.Length+p], got.IDs[i*got.Length+p]
		if p < int(got.Lengths[i]) && e.words.Has(was) {
			words++
		}
		if was == is {
			continue
		}
		changed++
		if is != e.Mask || p >= int(got.Lengths[i]) || !e.words.Has(was) {
			t.Errorf("view %d, sentence %d: place %d went from %d to %d", at, i, p, was, is)
		}
		if found := masked(clean.Sentence(i), got.Sentence(i)); !slices.Equal(found, []int32{was}) {
			t.Errorf("view %d, sentence %d: the masked word is said to be %v, not %d", at, i, found, was)
		}
	}
	if want := min(1, words/2); changed != want {
		t.Errorf("view %d, sentence %d of %d words: %d masked, want %d", at, i, words, changed, want)
	}
}

// TestInputsRefuseForeignTokens: the vocabulary's first and last tokens are taken, and those beyond are not, in the
// sentence or hidden.
func TestInputsRefuseForeignTokens(t *testing.T) {
	e := newUGT(t)
	for _, c := range []struct {
		sentence, hidden []int32
		ok               bool
	}{
		{[]int32{0, 10}, nil, true}, {[]int32{5}, []int32{0}, true}, {[]int32{5}, []int32{10}, true},
		{[]int32{-1}, nil, false}, {[]int32{11}, nil, false}, {[]int32{5}, []int32{-1}, false}, {[]int32{5}, []int32{11}, false},
	} {
		row := make([]float32, 11)
		sum, err := e.distribution(row, c.sentence, c.hidden)
		if (err == nil) != c.ok {
			t.Errorf("the sentence %v with %v hidden in a vocabulary of 11: %v", c.sentence, c.hidden, err)
		}
		if x := slices.Max(row); !c.ok && (x > 0 || sum != 0) {
			t.Errorf("the sentence %v with %v hidden is refused, but has the words %v", c.sentence, c.hidden, row)
		}
	}
	b := sides()
	e.Vocabulary = 8 // the batch has tokens up to 10
	if _, err := e.Inputs(t.Context(), b, b.Views); err == nil {
		t.Error("ems took a token that is not in the vocabulary")
	}
}

// TestDistribution: half of it is the hidden word, half the words of the sentence, of which special tokens are none.
// Σ p log p is over the words that p has.
func TestDistribution(t *testing.T) {
	e := newUGT(t)
	for _, c := range []struct {
		sentence, hidden []int32
		want             map[int32]float32
	}{
		{[]int32{1, 4, 5, 5, 0, 2}, nil, map[int32]float32{4: 0.25, 5: 0.5, 0: 0.25}},
		{[]int32{1, 4, 5, 5, 4, 2}, []int32{0}, map[int32]float32{0: 0.5, 4: 0.25, 5: 0.25}},
		{[]int32{1, 0, 5, 2}, []int32{0}, map[int32]float32{0: 0.75, 5: 0.25}},
		{[]int32{1, 2}, nil, nil},
	} {
		row := make([]float32, 11)
		sum, err := e.distribution(row, c.sentence, c.hidden)
		if err != nil {
			t.Fatal(err)
		}
		var want float64
		for id, p := range row {
			if p != c.want[int32(id)] {
				t.Errorf("%v with %v hidden: p of %d is %v, want %v", c.sentence, c.hidden, id, p, c.want[int32(id)])
			}
			if p > 0 {
				want += float64(p) * math.Log(float64(p))
			}
		}
		if math.Abs(sum-want) > 1e-12 {
			t.Errorf("%v with %v hidden: Σ p log p is %v, want %v", c.sentence, c.hidden, sum, want)
		}
	}
}
