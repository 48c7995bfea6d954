package judge

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/train/data"
	"bitextmine/train/objective"
	"bitextmine/train/traintest"
)

// pieces spell ids: special tokens, small words, a number of two pieces, names, and a part of a name.
var pieces = []string{"<s>", "</s>", "▁the", "▁of", "▁12", "▁34", "7", "9", "▁Anna", "▁Bo", "ris", "▁sees", "▁house", "▁red", "▁old", "▁and"}

// newJudge is a judge of the pieces.
func newJudge(t *testing.T, misses, neighbours int) *judge {
	t.Helper()
	o, err := (&settings{Misses: misses, Neighbours: neighbours}).Build(objective.Training{
		Dim: 8, Width: 8, Vocabulary: len(pieces), Longest: 24, Special: []int32{0, 1}, Pieces: pieces, Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return o.(*judge)
}

func side(sentences ...[]int32) data.Side {
	s := data.Side{N: len(sentences), Length: 16, IDs: make([]int32, 16*len(sentences)), Languages: make([]uint16, len(sentences))}
	for i, ids := range sentences {
		s.Lengths = append(s.Lengths, int32(copy(s.IDs[i*16:], slices.Concat([]int32{0}, ids, []int32{1}))))
	}
	return s
}

// TestMisses: every kind of wrong sentence differs as it should, and a kind that finds nothing to change says so.
func TestMisses(t *testing.T) {
	j := newJudge(t, 4, 0)
	sentence, other := []int32{2, 8, 11, 4, 6, 13, 12, 15, 14, 12}, []int32{2, 14, 12, 3, 9, 10, 11, 5, 13, 12}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(1, seed))
		number := j.wrongNumber(rng, sentence, other)
		differ := 0
		for i := range sentence {
			if number[i] != sentence[i] {
				differ++
			}
		}
		if differ != 1 || number[3] == 4 && number[4] == 6 {
			t.Errorf("another number: %v", number)
		}
		if name := j.wrongName(rng, sentence, other); !slices.Equal(name, []int32{2, 9, 10, 11, 4, 6, 13, 12, 15, 14, 12}) {
			t.Errorf("another name: %v", name)
		}
		if less := j.leftOut(rng, sentence, other); len(less) > 8 || len(less) < 5 {
			t.Errorf("a clause less: %v", less)
		}
		more := j.added(rng, sentence, other)
		if n := len(more) - 10; n < 2 || n > 5 || !slices.Equal(more[:10], sentence) && !slices.Equal(more[n:], sentence) {
			t.Errorf("a clause more: %v", more)
		}
	}
	short := []int32{2, 12}
	rng := rand.New(rand.NewPCG(1, 1))
	if j.wrongNumber(rng, short, other) != nil || j.wrongName(rng, short, other) != nil || j.leftOut(rng, short, short) != nil || j.added(rng, short, short) != nil {
		t.Error("a short sentence has something to change")
	}
	if got := j.miss(rng, short, []int32{3, 12}); !slices.Equal(got, []int32{3, 12}) {
		t.Errorf("a short sentence became %v", got)
	}
}

// TestSequence: of a long pair training keeps the tokens that mining gives the judge.
func TestSequence(t *testing.T) {
	for _, room := range []int{5, 6} {
		m, err := model.LoadJudge(traintest.Judge(t, 1, map[string]float32{"a": 0, "b": 0}, 0, func(m *model.Manifest) {
			m.MaxTokens, m.Judge.Between = room+around, []int32{3, 3}
		}))
		if err != nil {
			t.Fatal(err)
		}
		v, err := tokenizer.Open(m)
		if err != nil {
			t.Fatal(err)
		}
		j := &judge{Training: objective.Training{Longest: room + around, Special: []int32{2, 3}}}
		for first := 1; first <= 20; first++ {
			for second := 1; second <= 20; second++ {
				var want tokenizer.Sequences
				pair := [2]string{strings.Repeat("a ", first), strings.Repeat("b ", second)}
				if err := v.TokenizePairs(&want, [][2]string{pair}); err != nil {
					t.Fatal(err)
				}
				got := j.sequence(slices.Repeat([]int32{4}, first), slices.Repeat([]int32{5}, second))
				if !slices.Equal(got, want.At(0)) {
					t.Errorf("%d and %d tokens in room for %d: %v in training, %v in mining", first, second, room, got, want.At(0))
				}
			}
		}
		v.Close()
	}
}

// TestViews: a batch's rows are the true pair and its wrong ones, in one sequence each that max_tokens bounds, and the
// same every time.
func TestViews(t *testing.T) {
	j := newJudge(t, 3, 1)
	b := &data.Batch{Rows: []int32{40, 41}, Views: []data.Side{
		side([]int32{2, 8}, []int32{13, 12, 15, 14, 12, 13, 12, 15, 14, 12}), side([]int32{3, 9, 10}, []int32{12, 14, 13, 12, 14, 13, 12, 14, 13, 12, 14, 13}),
		side([]int32{5, 5}, []int32{6}),
	}}
	views, err := j.Views(b)
	if err != nil || len(views) != 1 || views[0].N != 8 || views[0].Length != 24 {
		t.Fatalf("views %+v, error %v", views, err)
	}
	if got := views[0].Sentence(0); !slices.Equal(got, []int32{0, 2, 8, 1, 1, 3, 9, 10, 1}) {
		t.Errorf("the true pair is %v", got)
	}
	if got := views[0].Sentence(1); !slices.Equal(got, []int32{0, 2, 8, 1, 1, 5, 5, 1}) {
		t.Errorf("the neighbour's pair is %v", got)
	}
	if got := views[0].Sentence(4); len(got) != 24 || got[11] != 1 || got[12] != 1 || got[23] != 1 {
		t.Errorf("the long pair is %v", got)
	}
	again, err := j.Views(b)
	if err != nil || !slices.Equal(again[0].IDs, views[0].IDs) {
		t.Error("the same batch gives other views")
	}
	held, right := j.Held(b)
	if !slices.Equal(held, []bool{true, true, true, true, false, false, false, false}) || !slices.Equal(right, []bool{true, false, false, false, true, false, false, false}) {
		t.Errorf("held out %v, right %v", held, right)
	}
}

// TestNoMissIsThePair: another pair of the batch that has the same sentence gives no wrong pair that is the true one.
func TestNoMissIsThePair(t *testing.T) {
	j := newJudge(t, 8, 0)
	long, short := []int32{13, 12, 15, 14, 12, 13, 12, 15}, []int32{2, 8}
	for name, views := range map[string][]data.Side{
		"one target":      {side([]int32{3, 9}, []int32{13, 12}), side(short, short)},
		"one source":      {side(short, short), side([]int32{3, 9}, []int32{13, 12})},
		"two of three":    {side([]int32{3, 9}, []int32{13, 12}, []int32{14, 12}), side(short, short, []int32{15, 12})},
		"one long pair":   {side(long, long), side(long, long)},
		"only one, short": {side([]int32{2, 4, 6, 12}), side([]int32{2, 4, 6, 12})},
	} {
		b := &data.Batch{Rows: make([]int32, views[0].N), Views: views}
		for b.Step = range 50 {
			all := j.pairs(b)
			for i := range all {
				if k := i % 9; k > 0 && slices.Equal(all[i], all[i-k]) {
					t.Fatalf("%s: a wrong pair is the true one, %v", name, all[i])
				}
			}
		}
	}
}
