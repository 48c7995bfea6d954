package feature

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bitextmine/corpus/surface"
	"bitextmine/index/indextest"
	"bitextmine/internal/spill"
	"bitextmine/mine"
)

// randomLists returns the brute-force neighbours of random vectors.
func randomLists(t testing.TB, seed uint64, n, m, dim, k int) *mine.Lists {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	source, target := indextest.Float32(indextest.Random(rng, n, dim), dim), indextest.Float32(indextest.Random(rng, m, dim), dim)
	found := indextest.BruteForce(source, target, k)
	lists, err := mine.NewLists(found.Source, found.Target, k, mine.Ratio)
	if err != nil {
		t.Fatal(err)
	}
	return lists
}

// randomSide gives sentences random tokens from a table; an empty one gets none.
func randomSide(t testing.TB, space spill.Space, rng *rand.Rand, n, vocabulary, empty int, vectors *TokenVectors) *Side {
	t.Helper()
	d := NewSide(space, n, vectors.dim)
	d.Names = &NameList{}
	for i := range vocabulary / 3 {
		d.Names.Add(Name{Hash: uint32(i), Stem: uint32(i)}, []int32{int32(i), int32(i + 1)})
	}
	rows := make([]int32, vocabulary)
	for i := range rows {
		rows[i] = int32(i)
	}
	d.SetTable(vectors, rows)
	for i := range int32(n) {
		one := Sentence{Surface: surface.Features{Length: int32(20 + rng.IntN(100))}}
		f := &one.Surface
		for range rng.IntN(3) {
			f.Numbers = append(f.Numbers, surface.Number{Hash: 1 + uint32(rng.IntN(50))})
			f.Capitals = append(f.Capitals, uint32(rng.IntN(50)))
		}
		slices.Sort(f.Capitals)
		f.Capitals = slices.Compact(f.Capitals)
		one.Names = []int32{int32(rng.IntN(vocabulary / 3)), int32(rng.IntN(vocabulary / 3))}
		for range 1 + rng.IntN(40) {
			one.Tokens = append(one.Tokens, int32(rng.IntN(vocabulary)))
		}
		slices.Sort(one.Tokens)
		if one.Tokens = slices.Compact(one.Tokens); int(i) == empty {
			one.Tokens = nil
		}
		if err := d.Add(i, &one); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// TestCompute compares coverage and gaps with a slow implementation, and checks every value's range and that neither
// the number of threads nor what is in memory changes anything.
func TestCompute(t *testing.T) {
	lists := randomLists(t, 21, 70, 60, 6, 4)
	vectors := randomTable(rand.New(rand.NewPCG(8, 8)), 300, 24)
	candidates := lists.ScoredCandidates()
	compute := func(space spill.Space, threads int) (Values, [2]*Side) {
		rng := rand.New(rand.NewPCG(8, 9))
		sides := [2]*Side{randomSide(t, space, rng, 70, 300, 3, &vectors), randomSide(t, space, rng, 60, 300, -1, &vectors)}
		table, err := Compute(t.Context(), space, lists, candidates, sides[0], sides[1], threads)
		if err != nil {
			t.Fatal(err)
		}
		all, err := table.All()
		if err = errors.Join(err, table.Close()); err != nil {
			t.Fatal(err)
		}
		return all, sides
	}
	values, whole := compute(spill.Space{}, 1)
	for _, space := range []spill.Space{{}, {Dir: t.TempDir(), Memory: 4 << 10}, {Dir: t.TempDir()}} {
		again, sides := compute(space, 5)
		if !slices.Equal(values, again) {
			t.Errorf("the number of threads or the space %v shows", space)
		}
		for _, side := range sides {
			if err := side.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	type tokens struct {
		rows    []int32
		weights []float32
	}
	of := func(side *Side, i int32) tokens {
		var l loaded
		if err := l.load(side, i); err != nil {
			t.Fatal(err)
		}
		return tokens{l.tokens, l.weights}
	}
	a, b := whole[0], whole[1]
	cosine := func(r, s int32) float64 {
		dot := 0.0
		for d, v := range vectors.row(r) {
			dot += float64(v) * float64(vectors.row(s)[d])
		}
		return dot / (tokenScale * tokenScale)
	}
	slow := func(c mine.Candidate, power float64) (float64, float64) {
		one := func(own, other tokens) float64 {
			sum, all := 0.0, 0.0
			for i, r := range own.rows {
				best := math.Inf(-1)
				for _, s := range other.rows {
					best = max(best, cosine(r, s))
				}
				if power > 1 {
					best = math.Pow(max(0, best), power)
				}
				sum, all = sum+float64(own.weights[i])*best, all+float64(own.weights[i])
			}
			return sum / all
		}
		x, y := of(a, c.Source), of(b, c.Target)
		if len(x.rows) == 0 || len(y.rows) == 0 {
			return 0, 0
		}
		return one(x, y), one(y, x)
	}
	means := func(power float64) func(c mine.Candidate) (float64, float64) {
		return func(c mine.Candidate) (float64, float64) { return slow(c, power) }
	}
	mutual := func(c mine.Candidate) (float64, float64) {
		x, y := of(a, c.Source), of(b, c.Target)
		var sums, all [2]float64
		for _, w := range y.weights {
			all[1] += float64(w)
		}
		used := map[int]bool{}
		for i, r := range x.rows {
			all[0] += float64(x.weights[i])
			for j, s := range y.rows {
				own := cosine(r, s)
				farther := func(cosine float64) bool { return cosine <= own }
				best := !used[j]
				for _, other := range y.rows {
					best = best && farther(cosine(r, other))
				}
				for _, other := range x.rows {
					best = best && farther(cosine(other, s))
				}
				if best {
					used[j] = true
					sums[0] += float64(x.weights[i]) * own
					sums[1] += float64(y.weights[j]) * own
					break
				}
			}
		}
		if len(x.rows) == 0 || len(y.rows) == 0 {
			return 0, 0
		}
		return sums[0] / all[0], sums[1] / all[1]
	}
	for i, c := range candidates {
		v := values.Of(i)
		for at, f := range All {
			if !(v[at] >= f.Low && v[at] <= f.High) {
				t.Errorf("%s is %v, outside %v to %v", f.Name, v[at], f.Low, f.High)
			}
		}
		if i > 0 && !(candidates[i-1].Source < c.Source || candidates[i-1].Source == c.Source && candidates[i-1].Target < c.Target) {
			t.Fatalf("candidates %d and %d are out of order", i-1, i)
		}
		for _, f := range []struct {
			slow                                 func(c mine.Candidate) (source, target float64)
			source, target, gapSource, gapTarget int
		}{
			{means(1), Index("cover_src"), Index("cover_tgt"), Index("cover_gap_src"), Index("cover_gap_tgt")},
			{means(3), Index("cubed_src"), Index("cubed_tgt"), Index("cubed_gap_src"), Index("cubed_gap_tgt")},
			{mutual, Index("mutual_src"), Index("mutual_tgt"), Index("mutual_gap_src"), Index("mutual_gap_tgt")},
		} {
			forward, backward := f.slow(c)
			if math.Abs(forward-float64(v[f.source])) > 1e-5 || math.Abs(backward-float64(v[f.target])) > 1e-5 {
				t.Fatalf("%s %v %v, want %v %v", All[f.source].Name, v[f.source], v[f.target], forward, backward)
			}
			gap := func(feature int, ids []int32, self int32, other func(partner int32) mine.Candidate) {
				rival := math.Inf(-1)
				for _, partner := range ids[:lists.K] {
					if partner != self {
						f, b := f.slow(other(partner))
						rival = max(rival, (f+b)/2)
					}
				}
				if want := (forward+backward)/2 - rival; math.Abs(want-float64(v[feature])) > 1e-5 {
					t.Fatalf("%s %v, want %v", All[feature].Name, v[feature], want)
				}
			}
			ids, _ := lists.Source.Row(int(c.Source))
			gap(f.gapSource, ids, c.Target, func(y int32) mine.Candidate { return mine.Candidate{Source: c.Source, Target: y} })
			ids, _ = lists.Target.Row(int(c.Target))
			gap(f.gapTarget, ids, c.Source, func(x int32) mine.Candidate { return mine.Candidate{Source: x, Target: c.Target} })
		}
	}
}

func TestComputeRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	lists := randomLists(t, 21, 10, 9, 6, 4)
	vectors := randomTable(rng, 30, 24)
	good := func(n int) *Side { return randomSide(t, spill.Space{}, rng, n, 30, -1, &vectors) }
	for name, c := range map[string]struct{ source, target *Side }{
		"sentences of another number": {good(11), good(9)},
		"tokens of one side only":     {good(10), NewSide(spill.Space{}, 9, 0)},
		"a vector not there": {func() *Side {
			d := good(10)
			d.rows = slices.Repeat([]int32{-1}, len(d.rows))
			return d
		}(), good(9)},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Compute(t.Context(), spill.Space{}, lists, lists.ScoredCandidates(), c.source, c.target, 1); err == nil || !strings.Contains(err.Error(), "describe") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func BenchmarkCompute(b *testing.B) {
	rng := rand.New(rand.NewPCG(8, 8))
	const n = 20000
	near := mine.NewNeighbours(n, 4) // either way: blocks of four, all near each other
	for i := range near.IDs {
		near.IDs[i], near.Cosines[i] = int32(i/16*4+i%4), 0.5
	}
	lists, err := mine.NewLists(near, near, 4, mine.Ratio)
	if err != nil {
		b.Fatal(err)
	}
	vectors := randomTable(rng, 8000, 256)
	side := func() *Side { return randomSide(b, spill.Space{}, rng, n, 8000, -1, &vectors) } // some 20 tokens each
	source, target := side(), side()
	candidates := lists.ScoredCandidates()
	for b.Loop() {
		if _, err := Compute(b.Context(), spill.Space{}, lists, candidates, source, target, 2); err != nil {
			b.Fatal(err)
		}
	}
	rivals, err := lists.Rivals(nil, candidates)
	if err != nil {
		b.Fatal(err)
	}
	described := len(candidates) + len(slices.Collect(rivals)) // a rival costs as much as a candidate
	b.ReportMetric(float64(described*b.N)/b.Elapsed().Seconds(), "candidates/s")
}
