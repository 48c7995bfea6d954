package score

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bitextmine/mine"
	"bitextmine/score/feature"
)

// TestShortCandidatesShareTheirProbabilitiesOut: candidates of one length have the probabilities that they had, in the
// order of the weights for short ones; long candidates stay, and so does the order in which candidates come.
func TestShortCandidatesShareTheirProbabilitiesOut(t *testing.T) {
	const n = 3000
	plain, rng := randomScorer(3), rand.New(rand.NewPCG(3, 5))
	for i := range plain.Terms {
		plain.Terms[i].Weight /= 4 // probabilities that are not all 0 or 1
	}
	varied := *plain
	varied.Terms = slices.Clone(plain.Terms)
	varied.Terms[0].Short, varied.Terms[feature.Index("length")].Short = 4, -3
	var values feature.Values
	var candidates []mine.Candidate
	length := make([]int, n)
	for i := range n {
		length[i] = 1 + rng.IntN(30)
		row := randomRow(uint64(i % (n - 100))) // the last ones are as others
		row[tokens] = float32(math.Log1p(float64(length[i])))
		values = append(values, row...)
		candidates = append(candidates, mine.Candidate{Source: int32(i), Target: int32(i)})
	}
	ranked := func(order []int, s *Scorer, then ...*Scorer) map[int32]float32 {
		t.Helper()
		var of []mine.Candidate
		var v feature.Values
		for _, i := range order {
			of, v = append(of, candidates[i]), append(v, values.Of(i)...)
		}
		r, err := s.Rank(nil, of, feature.TableOf(v), Strong{})
		for _, other := range then {
			err = errors.Join(err, r.By(other))
		}
		if err != nil {
			t.Fatal(err)
		}
		found := map[int32]float32{}
		for i, c := range r.Candidates {
			found[c.Source] = r.Probabilities[i]
		}
		return found
	}
	order := rng.Perm(n)
	before, after := ranked(order, plain), ranked(order, &varied)
	slices.Sort(order)
	for i, p := range ranked(order, &varied) {
		if p != after[i] {
			t.Fatalf("in another order candidate %d has %v, not %v", i, p, after[i])
		}
	}
	followed := varied
	followed.Followed = true
	if !maps.Equal(ranked(order, plain, &varied), after) || !maps.Equal(ranked(order, &varied, &followed, &varied), after) {
		t.Error("a scorer that ranks candidates after another one orders short ones otherwise")
	}
	if !maps.Equal(ranked(order, &varied, &followed), before) {
		t.Error("a scorer that followed the text orders short candidates anew")
	}
	for size := 1; size <= 30; size++ {
		var were, are []float32
		var of []int
		for i := range n {
			if length[i] == size {
				were, are, of = append(were, before[int32(i)]), append(are, after[int32(i)]), append(of, i)
			}
		}
		if long := size >= longEnough; long != slices.Equal(were, are) {
			t.Errorf("of %d tokens the probabilities stay: %v", size, !long)
		}
		slices.Sort(were)
		if slices.Sort(are); !slices.Equal(were, are) {
			t.Errorf("of %d tokens other probabilities came up", size)
		}
		for _, i := range of {
			for _, k := range of {
				a, _ := varied.shortKey(0, values.Of(i))
				b, _ := varied.shortKey(0, values.Of(k))
				if size < longEnough && a > b && after[int32(i)] < after[int32(k)] {
					t.Fatalf("of %d tokens candidate %d is behind %d", size, i, k)
				}
			}
		}
	}
	for name, s := range map[string]*Scorer{"tokens": varied.WithoutTokens(), "refined": {Tokens: true, Terms: varied.Terms, Refined: &Refined{}}} {
		if s.varies() {
			t.Errorf("%s: short candidates are ordered anew", name)
		}
	}
}

// TestShortness is 1 up to four tokens and falls from there.
func TestShortness(t *testing.T) {
	last := 1.0
	for n := range 30 {
		values := make([]float32, feature.Count)
		values[tokens] = float32(math.Log1p(float64(n)))
		s := Shortness(values)
		if (s == 1) != (n <= fullyShort) || (s == 0) != (n >= longEnough) || s > last {
			t.Errorf("of %d tokens %v", n, s)
		}
		last = s
	}
}
