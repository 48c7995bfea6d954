package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"bitextmine/score"
	"bitextmine/score/feature"
)

// ownText draws candidates of a text in which translations differ in length, as those of made's known pairs do not.
func ownText(n int) (values feature.Values, translations []bool) {
	rng := rand.New(rand.NewPCG(4, 9))
	for range n {
		row := make([]float32, feature.Count)
		for t := range row {
			row[t] = float32(rng.NormFloat64()) / 4
		}
		values = append(values, row...)
		z := 8*float64(row[cosineAt]) + 6*float64(row[lengthAt]) - 1
		translations = append(translations, rng.Float64() < score.Logistic(z))
	}
	return values, translations
}

// TestScorerIsAdaptedToItsText checks that a scorer finds more in a text of another kind than the known pairs' if it is
// adapted to that text's candidates.
func TestScorerIsAdaptedToItsText(t *testing.T) {
	values, translations := ownText(10000)
	right := func(own feature.Values) int {
		scorer, err := OnTheWay(&Set{Own: own, Examples: made(5, 10000)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if scorer.Share != autoShare || scorer.Name != score.Auto || scorer.Quality.Examples != 10000 {
			t.Errorf("share %v, name %q, quality of %d examples", scorer.Share, scorer.Name, scorer.Quality.Examples)
		}
		n := 0
		for i, translation := range translations {
			if scorer.Logit(values.Of(i)) > 0 == translation {
				n++
			}
		}
		return n
	}
	before, after := right(nil), right(values)
	if after < before+500 {
		t.Errorf("%d of 10000 decisions are right after adaptation, %d before", after, before)
	}
}

// TestStaysNearTheBase: with few examples the weight of a text feature is between what they say and the base's, if
// the encoder has token vectors; that of a feature of vectors is as it was.
func TestStaysNearTheBase(t *testing.T) {
	base := mustFit(t, made(7, 10000))
	base.Terms[lengthAt].Weight *= 3
	raw := func(tokens bool, base *score.Scorer, at int) float64 {
		s, err := OnTheWay(&Set{Tokens: tokens, Examples: made(8, 150)}, base)
		if err != nil {
			t.Fatal(err)
		}
		return s.Terms[at].Weight / s.Terms[at].Deviation
	}
	want := base.Terms[lengthAt].Weight / base.Terms[lengthAt].Deviation
	alone, near := raw(true, nil, lengthAt), raw(true, base, lengthAt)
	if !(near < alone && near > want) {
		t.Errorf("the weight of lengths is %v, alone %v, of the base %v", near, alone, want)
	}
	if without := raw(false, base, lengthAt); without != alone {
		t.Errorf("without token vectors it is %v, not %v", without, alone)
	}
	if got, alone := raw(true, base, cosineAt), raw(true, nil, cosineAt); math.Abs(got/alone-1) > 0.5 {
		t.Errorf("the weight of cosines is %v, alone %v", got, alone)
	}
}

// TestOwnWeight checks that the text's own candidates weigh as much as the known pairs' examples, or less if they are
// few, and that the weights of those examples stay.
func TestOwnWeight(t *testing.T) {
	for _, test := range []struct {
		own  int
		want float64
	}{{0, 0}, {10, maxOwnWeight}, {1600, 0.5}} {
		e := made(6, 1000) // a fifth are of unpaired sentences
		known := e.weight(0)
		values, _ := ownText(test.own)
		if err := addOwn(&e, values, 0); err != nil {
			t.Fatal(err)
		}
		weight := e.weight(0)
		for i := range e.True {
			want := test.want
			if i < 1000 {
				want = known(i)
			}
			if got := weight(i); got != want {
				t.Fatalf("example %d weighs %v beside %d own ones, want %v", i, got, test.own, want)
			}
		}
	}
}

// TestOwnTranslationsOfUnlikeText: where known pairs say of next to no candidate that it is a translation, but margins
// fall into two kinds, those of the mutual neighbours of the higher kind are taken. Where known pairs find as many,
// they decide.
func TestOwnTranslationsOfUnlikeText(t *testing.T) {
	const right, wrong = 100, 300
	rng := rand.New(rand.NewPCG(5, 6))
	var values feature.Values
	for i := range right + wrong + 50 {
		row := make([]float32, feature.Count)
		row[gapSource], row[gapTarget] = 0.1, 0.1
		switch {
		case i < right:
			row[margin] = float32(1.3 + 0.05*rng.NormFloat64())
		case i < right+wrong:
			row[margin] = float32(1 - 0.02*math.Log(rng.ExpFloat64()))
		default: // not the nearest of its target, however high
			row[margin], row[gapTarget] = 1.3, -0.1
		}
		values = append(values, row...)
	}
	taken := func(intercept float64) (hits, others int) {
		by := &score.Scorer{Intercept: intercept, Terms: []score.Term{{Feature: "cosine"}, {Feature: "ratio"}}}
		for t := range by.Terms {
			by.Terms[t].Deviation = 1
		}
		by.Terms[margin].Weight = 100
		for i, is := range ownTranslations(by, values) {
			switch {
			case is && i < right:
				hits++
			case is:
				others++
			}
		}
		return hits, others
	}
	if hits, others := taken(-1000); hits < 95 || others > 5 {
		t.Errorf("%d of %d translations are taken, and %d others", hits, right, others)
	}
	if hits, others := taken(-125); hits+others < right || others < 50 {
		t.Errorf("%d of %d translations and %d others are taken, but known pairs say so of all above 1.25", hits, right, others)
	}
}
