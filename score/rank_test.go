package score

import (
	"cmp"
	"math"
	"math/rand/v2"
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
	r, err := s.Rank(nil, slices.Clone(candidates), feature.TableOf(values), Strong{})
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

// TestRankOfShards: candidates that come shard by shard, in whatever order, are ranked and matched as one greedy pass
// over all of them does it: on random graphs in which most scores are equal.
func TestRankOfShards(t *testing.T) {
	const n = 40
	s, cosineAt := randomScorer(9), slices.Index(feature.Names(), "cosine")
	s.Terms[cosineAt].Weight = 2
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 34))
		var all []mine.Candidate
		for x := range int32(n) {
			for y := range int32(n) {
				if rng.IntN(4) == 0 {
					c := mine.Candidate{Source: x, Target: y, Score: float32(1 + rng.IntN(2)), Cosine: float32(rng.IntN(3)) / 4}
					c.Rejected = rng.IntN(9) == 0
					all = append(all, c)
				}
			}
		}
		ranked := func(shards [][]mine.Candidate) Ranked {
			var candidates []mine.Candidate
			values := &feature.Table{}
			for _, some := range shards {
				of := make(feature.Values, len(some)*feature.Count)
				for i, c := range some {
					of.Of(i)[cosineAt] = c.Cosine
				}
				candidates = append(candidates, some...)
				values.Join(feature.TableOf(of))
			}
			r, err := s.Rank(nil, candidates, values, Strong{})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		want := slices.Clone(all)
		slices.SortFunc(want, func(a, b mine.Candidate) int {
			return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(b.Score, a.Score), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
		})
		var taken [2]map[int32]bool
		taken[0], taken[1] = map[int32]bool{}, map[int32]bool{}
		var kept []mine.Candidate
		for _, c := range want {
			if !c.Rejected && !taken[0][c.Source] && !taken[1][c.Target] {
				taken[0][c.Source], taken[1][c.Target] = true, true
				kept = append(kept, c)
			}
		}
		for _, count := range []int{1, 3, 17} {
			shards := make([][]mine.Candidate, count)
			dealt := rng.Perm(n)
			for _, c := range all {
				at := dealt[c.Source] % count
				shards[at] = append(shards[at], c)
			}
			r := ranked(shards)
			var got []mine.Candidate
			for i, v := range r.Match(n, n) {
				if v == mine.Kept {
					got = append(got, r.Candidates[i])
				}
				if values, err := r.Values(i); err != nil || values[cosineAt] != r.Candidates[i].Cosine {
					t.Fatalf("candidate %d has the features of another; error %v", i, err)
				}
			}
			if !slices.Equal(r.Candidates, want) || !slices.Equal(got, kept) {
				t.Errorf("seed %d, %d shards: %d pairs are matched, %d by one pass over all", seed, count, len(got), len(kept))
			}
		}
	}
}

// TestSortedBy: the same order as sorting all keys at once, of probabilities that are far apart, crowded, equal and 0.
func TestSortedBy(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	probabilities := make([]float32, 20000)
	for i := range probabilities {
		probabilities[i] = [...]float32{0, 1, 0.5, rng.Float32(), 0.99 + rng.Float32()/100, float32(math.Exp(-100 * rng.Float64()))}[rng.IntN(6)]
	}
	want, got := make([]uint64, len(probabilities)), make([]uint64, len(probabilities))
	for i, p := range probabilities {
		want[i] = uint64(^math.Float32bits(p))<<32 | uint64(i)
	}
	slices.Sort(want)
	if sortedBy(probabilities, got); !slices.Equal(got, want) {
		t.Error("not in the order of all keys")
	}
}
