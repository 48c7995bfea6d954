package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/score"
	"bitextmine/score/feature"
)

// TestShortKeepsTheBase: of short examples, whose truth another feature tells, only the weights for these are fitted,
// and those of conflicts stay.
func TestShortKeepsTheBase(t *testing.T) {
	at, tokens := feature.Index("punctuation"), feature.Index("tokens")
	base := mustFit(t, made(5, 3000))
	base.K, base.Share, base.Encoder, base.Tokens = 4, 0.5, score.Encoder{Name: "fast", Digest: "abc"}, true
	short := func(length float64) *Set {
		e, rng := made(6, 4000), rand.New(rand.NewPCG(6, 8))
		for i := range e.True {
			values := e.Values.Of(i)
			values[tokens] = float32(math.Log1p(length))
			e.True[i] = rng.Float64() < score.Logistic(-9*float64(values[at])-1)
		}
		return &Set{Encoder: base.Encoder, K: 4, Examples: e}
	}
	set := short(3)
	s, err := Short(base, "varied", []*Set{set})
	if err != nil {
		t.Fatal(err)
	}
	for i, term := range s.Terms {
		want := base.Terms[i]
		switch name := feature.All[i].Name; {
		case i == at && !(term.Short < -1):
			t.Errorf("%s tells of short examples, and has %+v", name, term)
		case i == cosineAt && math.Abs(term.Weight+term.Short) > math.Abs(term.Weight)/4:
			t.Errorf("%s tells nothing of short examples, and has %+v", name, term)
		case (i == conflicts[0] || i == conflicts[1]) && term.Short != 0:
			t.Errorf("%s has %+v", name, term)
		}
		if term.Short = 0; term != want {
			t.Errorf("%+v became %+v", want, term)
		}
	}
	if s.Name != "varied" || s.Intercept != base.Intercept || len(s.FittedOn) != len(base.FittedOn)+1 {
		t.Errorf("the scorer is %+v", s)
	}
	refined := *set
	refined.Refine = &Refiner{}
	other := *set
	other.Encoder.Digest = "def"
	for name, wrong := range map[string]*Set{"long examples": short(20), "two-stage mining": &refined, "another encoder": &other} {
		if _, err := Short(base, "x", []*Set{wrong}); !badinput.Is(err) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
