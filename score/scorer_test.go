package score

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bitextmine/score/feature"
)

// randomScorer weighs every feature.
func randomScorer(seed uint64) *Scorer {
	rng := rand.New(rand.NewPCG(seed, 9))
	s := &Scorer{Format: Format, K: 4, Tokens: true, Intercept: rng.NormFloat64()}
	for _, f := range feature.All {
		s.Terms = append(s.Terms, Term{Feature: f.Name, Version: f.Version, Mean: rng.NormFloat64(), Deviation: 0.1 + rng.Float64(), Weight: rng.NormFloat64()})
	}
	return s
}

// randomRow is a candidate's values.
func randomRow(seed uint64) []float32 {
	rng := rand.New(rand.NewPCG(seed, 10))
	row := make([]float32, feature.Count)
	for i := range row {
		row[i] = float32(rng.NormFloat64())
	}
	return row
}

func TestContributionsAddUp(t *testing.T) {
	s, row := randomScorer(4), randomRow(4)
	sum := s.Intercept
	contributions := s.Contributions(row)
	for i, c := range contributions {
		sum += c.Logit
		if i > 0 && math.Abs(c.Logit) > math.Abs(contributions[i-1].Logit) {
			t.Error("contributions are not in order")
		}
	}
	if want := s.Logit(row); math.Abs(sum-want) > 1e-9 {
		t.Errorf("contributions add up to %v, the logit is %v", sum, want)
	}
}

func TestWithoutTokensIgnoresThem(t *testing.T) {
	s, row := randomScorer(5).WithoutTokens(), randomRow(5)
	want := s.Logit(row)
	for i, f := range feature.All {
		if f.Tokens {
			row[i] = 0
		}
	}
	if got := s.Logit(row); got != want {
		t.Errorf("logit %v became %v without tokens", want, got)
	}
}

func TestDecodeRefuses(t *testing.T) {
	s := randomScorer(6)
	for name, c := range map[string]struct {
		spoil    func(s *Scorer)
		features bool
	}{
		"another version of a feature": {func(s *Scorer) { s.Terms[3].Version++ }, true},
		"a feature less":               {func(s *Scorer) { s.Terms = s.Terms[1:] }, true},
		"another order":                {func(s *Scorer) { s.Terms[0], s.Terms[1] = s.Terms[1], s.Terms[0] }, true},
		"another format":               {func(s *Scorer) { s.Format = 9 }, false},
		"no k":                         {func(s *Scorer) { s.K = 0 }, false},
		"a deviation of zero":          {func(s *Scorer) { s.Terms[2].Deviation = 0 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := *s
			spoilt.Terms = slices.Clone(s.Terms)
			c.spoil(&spoilt)
			data, err := spoilt.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Decode(data); err == nil || errors.Is(err, ErrFeatures) != c.features {
				t.Errorf("error %v", err)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	s := randomScorer(7)
	data, err := s.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"format":1,"k":4,"terms":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Decode(data)
		if err != nil {
			return
		}
		if p := s.Probability(make([]float32, feature.Count)); !(p >= 0 && p <= 1) && !math.IsNaN(float64(p)) {
			t.Errorf("probability %v", p)
		}
	})
}
