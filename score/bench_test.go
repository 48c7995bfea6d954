package score

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"bitextmine/mine"
	"bitextmine/score/feature"
)

// filed are candidates whose features are in a file, as in a run: a tenth are translations, and every other one is
// short. The scorer has weights for these.
func filed(b *testing.B, n int) (s *Scorer, candidates []mine.Candidate, values *feature.Table) {
	b.Helper()
	s = randomScorer(3)
	s.Terms[0].Short = 4
	rng := rand.New(rand.NewPCG(3, 5))
	var rows feature.Values
	for i := range n {
		row := randomRow(uint64(i))
		row[tokens] = float32(math.Log1p(float64(1 + rng.IntN(30))))
		margin := 1.3 + 0.08*rng.NormFloat64()
		if i%10 > 0 {
			margin = 1 - 0.02*math.Log(-math.Log(rng.Float64()))
		}
		rows = append(rows, row...)
		candidates = append(candidates, marginal(i, margin, mine.Ratio))
	}
	path := filepath.Join(b.TempDir(), "candidates")
	if err := feature.WriteCandidates(path, candidates, feature.TableOf(rows)); err != nil {
		b.Fatal(err)
	}
	candidates, values, err := feature.AppendCandidates(nil, path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := values.Close(); err != nil {
			b.Error(err)
		}
	})
	return s, candidates, values
}

const benchCandidates = 200_000

func BenchmarkRank(b *testing.B) {
	s, candidates, values := filed(b, benchCandidates)
	for b.Loop() {
		if _, err := s.Rank(nil, slices.Clone(candidates), values, Strong{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBy(b *testing.B) {
	s, candidates, values := filed(b, benchCandidates)
	r, err := s.Rank(nil, candidates, values, Strong{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := r.By(s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkByMargin(b *testing.B) {
	s, candidates, values := filed(b, benchCandidates)
	r, err := s.Rank(nil, candidates, values, Strong{})
	if err != nil {
		b.Fatal(err)
	}
	verdicts := r.Match(len(candidates), len(candidates))
	for b.Loop() {
		r.byMargin(verdicts)
	}
}

// BenchmarkApart counts the translations that margins are sure of.
func BenchmarkApart(b *testing.B) {
	s, candidates, values := filed(b, benchCandidates)
	r, err := s.Rank(nil, candidates, values, Strong{})
	if err != nil {
		b.Fatal(err)
	}
	verdicts := r.Match(len(candidates), len(candidates))
	for b.Loop() {
		if _, weight, err := r.apart(verdicts, 0); err != nil || weight == 0 {
			b.Fatal(weight, err)
		}
	}
}
