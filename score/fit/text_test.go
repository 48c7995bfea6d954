package fit

import (
	"math/rand/v2"
	"testing"

	"bitextmine/mine"
	"bitextmine/score"
	"bitextmine/score/feature"
)

// textOf is a text of n candidates, of which a share is true, ranked by a scorer that looks at the first feature alone
// where the second one tells as much in this text.
func textOf(t *testing.T, n int, share float64) (r score.Ranked, truth []bool) {
	t.Helper()
	base := &score.Scorer{Format: score.Format, K: 4, Prior: 0.1, Intercept: -5.3}
	for _, f := range feature.All {
		base.Terms = append(base.Terms, score.Term{Feature: f.Name, Version: f.Version, Deviation: 1})
	}
	base.Terms[0].Weight = 4
	rng := rand.New(rand.NewPCG(7, 8))
	values, candidates := make(feature.Values, n*feature.Count), make([]mine.Candidate, n)
	truth = make([]bool, n)
	for i := range n {
		candidates[i] = mine.Candidate{Source: int32(i), Target: int32(i)}
		shift := float32(0)
		if truth[i] = rng.Float64() < share; truth[i] {
			shift = 1.5
		}
		for at := range 2 {
			values.Of(i)[at] = shift + 0.6*float32(rng.NormFloat64())
		}
	}
	r, err := base.Rank(nil, candidates, feature.TableOf(values), score.Strong{})
	if err != nil {
		t.Fatal(err)
	}
	return r, truth
}

// errorsOf is how many of the best candidates, as many as are true, are not.
func errorsOf(r *score.Ranked, truth []bool) (wrong int) {
	all := 0
	for _, is := range truth {
		if is {
			all++
		}
	}
	for _, c := range r.Candidates[:all] {
		if !truth[c.Source] {
			wrong++
		}
	}
	return wrong
}

// TestToText: weights follow a text in which another feature tells, too, and do so the same way each time.
func TestToText(t *testing.T) {
	const n = 4000
	r, truth := textOf(t, n, 0.1)
	base, before := r.Scorer(), errorsOf(&r, truth)
	got, err := follow(&r, n, n)
	if err != nil {
		t.Fatal(err)
	}
	if after := errorsOf(&r, truth); 5*after > 4*before || got.Terms[1].Weight < 0.5 || got != r.Scorer() || base.Terms[1].Weight != 0 {
		t.Errorf("%d errors, %d before; weights %v and %v", after, before, got.Terms[0].Weight, got.Terms[1].Weight)
	}
	again, _ := textOf(t, n, 0.1)
	if next, err := follow(&again, n, n); err != nil || next.Terms[1] != got.Terms[1] || next.Intercept != got.Intercept {
		t.Errorf("a second fit gives %+v, error %v", next, err)
	}
}

// TestToTextStays: the scorer stays as it is where the text does not have both kinds of pairs in number, and where it
// was fitted with a strong encoder.
func TestToTextStays(t *testing.T) {
	for name, c := range map[string]struct {
		n     int
		share float64
	}{"no translations": {4000, 0}, "few pairs": {40, 0.3}, "nearly all translated": {4000, 0.95}} {
		r, _ := textOf(t, c.n, c.share)
		base, first := r.Scorer(), r.Candidates[0]
		if got, err := follow(&r, c.n, c.n); err != nil || got != base || r.Scorer() != base || r.Candidates[0] != first {
			t.Errorf("%s: the weights changed, error %v", name, err)
		}
	}
	r, _ := textOf(t, 4000, 0.1)
	r.Scorer().Refined = &score.Refined{}
	if got, err := follow(&r, 4000, 4000); err != nil || got.Refined == nil || got != r.Scorer() {
		t.Errorf("a scorer with a strong encoder changed, error %v", err)
	}
}

// TestToTextGoesBack: weights that expect far more translations than the scorer, or far fewer, go back part of their
// way, or all of it.
func TestToTextGoesBack(t *testing.T) {
	const n = 4000
	for weight, want := range map[float64]string{0.2: "all", 20: "part", 300: "none"} {
		r, _ := textOf(t, n, 0.1)
		base := r.Scorer()
		_, expected, _ := expect(&r, n, n, score.MixedTimes)
		followed := *base
		followed.Terms = append([]score.Term(nil), base.Terms...)
		followed.Terms[0].Weight -= weight
		verdicts, adapted, all, err := approach(&r, base, &followed, expected.Pairs, n, n)
		got := "part"
		switch r.Scorer() {
		case base:
			got = "none"
		case &followed:
			got = "all"
		}
		if err != nil || got != want || all != (want == "all") || (verdicts == nil) != (want == "none") {
			t.Errorf("%g: %s of the way, all %v, error %v", weight, got, all, err)
		}
		if adapted != nil && (adapted.Pairs > expected.Pairs*maxTextFactor || adapted.Pairs < expected.Pairs/maxTextFactor) {
			t.Errorf("%g: %.0f translations are expected, before %.0f", weight, adapted.Pairs, expected.Pairs)
		}
	}
}
