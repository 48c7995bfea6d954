package score

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
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
	sum, contributions := s.Contributions(row)
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

// TestTheDefaultLimitsCoverage: beyond the limit, and only there, a value of token coverage changes nothing more.
func TestTheDefaultLimitsCoverage(t *testing.T) {
	s, err := OfDefault()
	if err != nil {
		t.Fatal(err)
	}
	covers := 0
	for i, f := range feature.All {
		term := &s.Terms[i]
		at := func(deviations float64) float64 { return term.Standard(term.Mean + deviations*term.Deviation) }
		if inside := at(CoverageLimit - 0.5); math.Abs(inside-(CoverageLimit-0.5)) > 1e-9 {
			t.Errorf("%s counts %v inside the limit", f.Name, inside)
		}
		if limited := at(6) == CoverageLimit && at(-6) == -CoverageLimit; limited != f.Covers() {
			t.Errorf("%s is limited: %v", f.Name, limited)
		} else if limited {
			covers++
		}
	}
	if covers != 7 {
		t.Errorf("%d features of coverage are limited", covers)
	}
}

func TestWithoutTokensIgnoresThem(t *testing.T) {
	s, row := randomScorer(5).WithoutTokens(), randomRow(5)
	want := s.Logit(row)
	for i, f := range feature.All {
		if f.Kind == feature.Tokens {
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

// refinedScorer is a random scorer with what a strong encoder adds.
func refinedScorer(seed uint64) *Scorer {
	s := randomScorer(seed)
	s.Refined = &Refined{Encoder: Encoder{Name: "strong", Digest: "abc"}, Floor: 1.2, Intercept: 0.3}
	for i, f := range InjectedRefined {
		s.Refined.Terms = append(s.Refined.Terms, Term{Feature: f.Name, Version: f.Version, Mean: 0.2, Deviation: 0.5, Weight: 1.5 + float64(i)})
	}
	return s
}

// TestRefinedLogit: a strong cosine counts where there is one, contributions still add up, and the file keeps it all.
func TestRefinedLogit(t *testing.T) {
	s, row := refinedScorer(6), randomRow(6)
	plain := s.Logit(row)
	if want := randomScorer(6).Logit(row); plain != want {
		t.Errorf("without a strong cosine the logit is %v instead of %v", plain, want)
	}
	want := 0.3 + 1.5*(plain-0.2)/0.5 + 2.5*(0.75-0.2)/0.5
	strong := append(slices.Clone(row), 0.75)
	if got := s.Logit(strong); math.Abs(got-want) > 1e-9 {
		t.Errorf("logit %v, want %v", got, want)
	}
	sum, contributions := s.Contributions(strong)
	for _, c := range contributions {
		sum += c.Logit
	}
	if math.Abs(sum-want) > 1e-9 || len(contributions) != feature.Count+1 {
		t.Errorf("%d contributions add up to %v, the logit is %v", len(contributions), sum, want)
	}
	data, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := Decode(data)
	if err != nil || read.Logit(strong) != s.Logit(strong) || read.Refined.Encoder != s.Refined.Encoder {
		t.Errorf("from its file the scorer is %+v, error %v", read, err)
	}
	s.Refined.Terms = s.Refined.Terms[:1]
	if data, err = s.Encode(); err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(data); !errors.Is(err, ErrFeatures) {
		t.Errorf("half of what a strong encoder adds is accepted: error %v", err)
	}
}

func TestCheckRefine(t *testing.T) {
	strong, other := &model.Model{Digest: "abc"}, &model.Model{Digest: "def"}
	for _, c := range []struct {
		scorer  *Scorer
		refiner *model.Model
		says    string
	}{
		{randomScorer(1), nil, ""},
		{refinedScorer(1), strong, ""},
		{randomScorer(1), strong, ""},
		{refinedScorer(1), other, "fitted with another strong encoder"},
		{refinedScorer(1), nil, "fitted for two-stage mining"},
	} {
		err := c.scorer.CheckRefine("x.json", c.refiner)
		if c.says == "" && err != nil || c.says != "" && (!badinput.Is(err) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("error %v, want %q", err, c.says)
		}
	}
}
