package score

import (
	"slices"
	"testing"

	"bitextmine/mine"
	"bitextmine/score/feature"
)

// TestRankAndMatch checks that the best is first, that ties are broken by margin, that each sentence is used once, and
// that a cut does not free sentences of pairs that were matched.
func TestRankAndMatch(t *testing.T) {
	s, cosineAt := randomScorer(9), slices.Index(feature.Names(), "cosine")
	s.Terms[cosineAt].Weight = 2
	row := func(cosine float32) []float32 {
		v := make([]float32, feature.Count)
		v[cosineAt] = cosine
		return v
	}
	candidates := []mine.Candidate{{Source: 0, Target: 0, Score: 1}, {Source: 0, Target: 1, Score: 2}, {Source: 1, Target: 1, Score: 1}, {Source: 1, Target: 0, Score: 3}}
	var values feature.Values
	for _, cosine := range []float32{0.2, 0.5, 0.2, -1} {
		values = append(values, row(cosine)...)
	}
	r, err := s.Rank(slices.Clone(candidates), feature.TableOf(values), Strong{})
	if err != nil {
		t.Fatal(err)
	}
	if best, err := r.Values(0); err != nil || r.Candidates[0].Target != 1 || !slices.Equal(best, row(0.5)) || !slices.IsSortedFunc(r.Probabilities, func(a, b float32) int {
		if a > b {
			return -1
		}
		return 1
	}) && r.Probabilities[1] != r.Probabilities[2] {
		t.Errorf("ranked %+v", r)
	}
	if r.Candidates[1] != candidates[0] || r.Candidates[2] != candidates[2] {
		t.Errorf("equal probabilities and margins are not in key order: %+v", r.Candidates)
	}
	verdicts := r.Match(2, 2)
	if want := []mine.Verdict{mine.Kept, mine.Taken, mine.Taken, mine.Kept}; !slices.Equal(verdicts, want) {
		t.Errorf("verdicts %v, want %v", verdicts, want)
	}
	if kept := r.Cut(verdicts, float64(r.Probabilities[0])); kept != 1 || verdicts[3] != mine.BelowThreshold {
		t.Errorf("%d kept, verdicts %v", kept, verdicts)
	}
}
