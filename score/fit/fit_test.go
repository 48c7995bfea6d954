package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/score"
	"bitextmine/score/feature"
)

var cosineAt, lengthAt = slices.Index(feature.Names(), "cosine"), slices.Index(feature.Names(), "length")

// made draws examples whose truth depends on two features with known weights.
func made(seed uint64, n int) Examples {
	rng := rand.New(rand.NewPCG(seed, 9))
	var e Examples
	for i := range n {
		row := make([]float32, feature.Count)
		for t := range row {
			row[t] = float32(rng.NormFloat64()) / 4
		}
		e.Values = append(e.Values, row...)
		z := 8*float64(row[cosineAt]) - 6*float64(row[lengthAt]) - 1
		e.True = append(e.True, rng.Float64() < score.Logistic(z))
		e.Group, e.Unpaired = append(e.Group, int32(i/4)), append(e.Unpaired, i%5 == 0)
		e.NearMiss = append(e.NearMiss, false)
	}
	return e
}

func mustFit(t testing.TB, e Examples) *score.Scorer {
	t.Helper()
	s, err := e.fit(nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFitFindsTheWeights checks that a fit on many examples approximates the weights that they were drawn with.
func TestFitFindsTheWeights(t *testing.T) {
	s := mustFit(t, made(1, 40000))
	for i, term := range s.Terms {
		want := 0.0
		switch i {
		case cosineAt:
			want = 8
		case lengthAt:
			want = -6
		}
		if got := term.Weight / term.Deviation; math.Abs(got-want) > 0.35 {
			t.Errorf("%s weighs %.2f, want %.2f", term.Feature, got, want)
		}
	}
	if s.Quality.Calibration > 0.01 || s.Quality.Examples != 40000 {
		t.Errorf("quality %+v: what drew the examples is of this form, so probabilities must hold", s.Quality)
	}
}

// TestFitIsAMinimum checks by differences that the gradient of the loss is zero.
func TestFitIsAMinimum(t *testing.T) {
	e := made(2, 800)
	s := mustFit(t, e)
	loss := func() float64 {
		sum := 0.0
		for i := range e.True {
			p := score.Logistic(s.Logit(e.Values.Of(i)))
			if !e.True[i] {
				p = 1 - p
			}
			sum -= math.Log(p)
		}
		for _, term := range s.Terms {
			sum += penalty * term.Weight * term.Weight / 2
		}
		return sum
	}
	const h = 1e-4
	for i := range s.Terms {
		w := s.Terms[i].Weight
		s.Terms[i].Weight = w + h
		up := loss()
		s.Terms[i].Weight = w - h
		down := loss()
		s.Terms[i].Weight = w
		if slope := (up - down) / (2 * h); math.Abs(slope) > 1e-3 {
			t.Errorf("%s: the loss still falls, by %v", s.Terms[i].Feature, slope)
		}
	}
}

func TestFitIsDeterministicAndSurvivesItsFile(t *testing.T) {
	e := made(3, 3000)
	first, err := mustFit(t, e).Encode()
	if err != nil {
		t.Fatal(err)
	}
	second, err := mustFit(t, e).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if string(first) != string(second) {
		t.Error("two fits of the same examples differ")
	}
	one := mustFit(t, e)
	one.K = 4
	data, err := one.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := score.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if a, b := one.Probability(e.Values.Of(i)), read.Probability(e.Values.Of(i)); a != b {
			t.Fatalf("probability %v became %v in the file", a, b)
		}
	}
}

// TestRefineKeepsTheBase: what a strong encoder adds is fitted alone, and says more than the base knew.
func TestRefineKeepsTheBase(t *testing.T) {
	e := made(4, 6000)
	rng := rand.New(rand.NewPCG(4, 8))
	for i, is := range e.True {
		cosine := 0.4 + 0.1*float32(rng.NormFloat64())
		if is {
			cosine += 0.4
		}
		if i%3 == 0 {
			cosine = mine.NotRefined
		}
		e.Strong = append(e.Strong, cosine)
	}
	base := mustFit(t, made(5, 3000))
	base.K, base.Share, base.Encoder = 4, 0.5, score.Encoder{Name: "fast", Digest: "abc"}
	set := &Set{Encoder: base.Encoder, K: 4, Refine: &Refiner{score.Encoder{Name: "strong", Digest: "def"}, 1.2}, Examples: e}
	s, err := Refine(base, "both", []*Set{set})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Terms, base.Terms) || s.Intercept != base.Intercept || base.Refined != nil {
		t.Error("the base changed")
	}
	if s.Refined.Encoder.Name != "strong" || s.Refined.Floor != 1.2 || !(s.Refined.Terms[1].Weight > 1) || len(s.FittedOn) != 1 {
		t.Errorf("refined %+v", s.Refined)
	}
	if s.Quality.LogLoss > 0.6*base.Quality.LogLoss || s.Quality.Calibration > 0.05 {
		t.Errorf("quality %+v, of the base %+v", s.Quality, base.Quality)
	}
	both, err := Scorer("both", []*Set{set}, 0.5, nil)
	if err != nil || both.Refined == nil || slices.Equal(both.Terms, base.Terms) {
		t.Errorf("scorer %+v, error %v", both, err)
	}
	other := *set
	other.Refine, other.Strong = nil, nil
	if _, err := Refine(base, "x", []*Set{&other}); !badinput.Is(err) {
		t.Errorf("no strong cosines: error %v", err)
	}
	if _, err := Scorer("x", []*Set{set, &other}, 0.5, nil); !badinput.Is(err) {
		t.Errorf("two kinds of examples: error %v", err)
	}
	base.K = 2
	if _, err := Refine(base, "x", []*Set{set}); !badinput.Is(err) {
		t.Errorf("a base of another k: error %v", err)
	}
}
