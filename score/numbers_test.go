package score

import (
	"math"
	"math/rand/v2"
	"testing"

	"bitextmine/mine"
	"bitextmine/score/feature"
)

// numbered is a text of matched pairs, translations first, of which such shares have other numbers: translations' and
// wrong pairs'. Translations have such a ratio in the mean, and score is the margin of all scores.
func numbered(t *testing.T, right, wrong int, conflict [2]float64, margin float64, score mine.Margin) (r Ranked, sentences int) {
	t.Helper()
	s := &Scorer{Format: Format, K: 4, Prior: 0.1, Intercept: -4}
	for _, f := range feature.All {
		s.Terms = append(s.Terms, Term{Feature: f.Name, Version: f.Version, Deviation: 1})
	}
	numbers := feature.Index("numbers_conflict")
	s.Terms[0].Weight, s.Terms[numbers].Weight, s.Terms[numbers].Mean = 10, -12, 0.1
	rng := rand.New(rand.NewPCG(5, 7))
	var candidates []mine.Candidate
	var values feature.Values
	for i := range right + wrong {
		ratio, v, share := margin+0.08*rng.NormFloat64(), make([]float32, feature.Count), conflict[0]
		if v[0] = 0.9; i >= right {
			share = conflict[1]
			ratio, v[0] = 1-0.02*math.Log(-math.Log(rng.Float64())), 0.1
		}
		if rng.Float64() < share {
			v[numbers] = 1
		}
		candidates, values = append(candidates, marginal(i, ratio, score)), append(values, v...)
	}
	r, err := s.Rank(nil, candidates, feature.TableOf(values), Strong{})
	if err != nil {
		t.Fatal(err)
	}
	return r, right + wrong
}

// TestDropNumbers: numbers are left out where translations have other ones as often as wrong pairs, but not in ordinary
// text, in text whose near misses have other numbers, and where margins do not tell what a translation is.
// Margins are ratios whatever margin is the score.
func TestDropNumbers(t *testing.T) {
	for name, c := range map[string]struct {
		right, wrong int
		conflict     [2]float64
		margin       float64
		dropped      bool
	}{
		"identifiers":            {400, 1000, [2]float64{1, 1}, 1.3, true},
		"most lines":             {400, 1000, [2]float64{0.4, 0.6}, 1.3, true},
		"nearly all translated":  {1000, 40, [2]float64{1, 1}, 1.3, true},
		"all translated":         {300, 0, [2]float64{1, 1}, 1.3, true},
		"few":                    {40, 60, [2]float64{1, 1}, 1.3, true},
		"a fifth of the lines":   {400, 1000, [2]float64{0.2, 0.25}, 1.3, true},
		"too few":                {25, 30, [2]float64{1, 1}, 1.3, false},
		"half, nearly all right": {1000, 40, [2]float64{0.5, 1}, 1.3, false},
		"ordinary":               {400, 1000, [2]float64{0.02, 0.3}, 1.3, false},
		"dates":                  {400, 1000, [2]float64{0.3, 0.9}, 1.3, false},
		"near misses":            {1000, 1000, [2]float64{0.7, 0.03}, 1.3, false},
		"no translations":        {0, 1400, [2]float64{1, 1}, 1.3, false},
		"margins that overlap":   {400, 1000, [2]float64{1, 1}, 1.06, false},
	} {
		for _, score := range mine.Margins {
			r, n := numbered(t, c.right, c.wrong, c.conflict, c.margin, score)
			before := r.Scorer()
			if err := r.DropNumbers(n, n); err != nil {
				t.Fatal(err)
			}
			if r.numberless != c.dropped || (r.Scorer() != before) != c.dropped {
				t.Errorf("%s, %s: numbers say nothing: %v", name, score, r.numberless)
			}
			if !c.dropped {
				continue
			}
			// A translation with other numbers counts as one without any.
			want := float32(Logistic(-4 + 10*0.9 + 12*0.1))
			if got := r.Probabilities[c.right-1]; math.Abs(float64(got-want)) > 1e-6 || r.Candidates[0].Source >= int32(c.right) {
				t.Errorf("%s, %s: the last translation has %v, not %v", name, score, got, want)
			}
		}
	}
}
