package fit

import (
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/score"
)

// TestUnknownIsAddedToTheBase: the scorer for unknown languages is what the examples alone make, survives its file, and
// decides with its own encoder where that does not know a language.
func TestUnknownIsAddedToTheBase(t *testing.T) {
	base := mustFit(t, made(5, 3000))
	base.K, base.Share, base.Encoder, base.Tokens = 4, 0.1, score.Encoder{Name: "fast", Digest: "abc"}, true
	set := &Set{Encoder: base.Encoder, K: 4, Tokens: true, Examples: made(6, 3000)}
	both, err := Unknown(base, "both", []*Set{set})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Scorer("both", []*Set{set}, base.Share, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := both.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := score.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	values := set.Values.Of(0)
	if got, known := read.For("abc", false); known || got.Logit(values) != want.Logit(values) || got.Prior != want.Prior {
		t.Errorf("for unknown languages %v decides, want %v", got, want)
	}
	for name, of := range map[string]func() (*score.Scorer, bool){
		"a known language": func() (*score.Scorer, bool) { return read.For("abc", true) },
		"another encoder":  func() (*score.Scorer, bool) { return read.For("def", false) },
		"no other one":     func() (*score.Scorer, bool) { return base.For("abc", false) },
	} {
		if got, known := of(); !known || got.Logit(values) != base.Logit(values) {
			t.Errorf("%s: %v decides", name, got)
		}
	}
	refined, other, tokenless := *set, *set, *set
	refined.Refine, other.Encoder.Digest, tokenless.Tokens = &Refiner{}, "def", false
	for name, wrong := range map[string]*Set{"two-stage mining": &refined, "another encoder": &other, "no tokens": &tokenless} {
		if _, err := Unknown(base, "x", []*Set{wrong}); !badinput.Is(err) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for name, damage := range map[string]func(*score.Scorer){
		"another k":    func(u *score.Scorer) { u.K++ },
		"nested twice": func(u *score.Scorer) { u.Unknown = want },
		"no weights":   func(u *score.Scorer) { u.Terms = nil },
		"a prior of 2": func(u *score.Scorer) { u.Prior = 2 },
	} {
		damaged, unknown := *both, *both.Unknown
		damage(&unknown)
		damaged.Unknown = &unknown
		if data, err = damaged.Encode(); err != nil {
			t.Fatal(err)
		}
		if _, err := score.Decode(data); err == nil {
			t.Errorf("%s: the scorer is read", name)
		}
	}
}
