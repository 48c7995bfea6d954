package feature

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bitextmine/corpus/surface"
	"bitextmine/index/indextest"
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

// randomSide gives sentences random tokens from a table.
func randomSide(rng *rand.Rand, n, vocabulary int, vectors TokenVectors) *Side {
	d := &Side{Surface: NewSurfaces(n), Tokens: &Tokens{Vectors: vectors}, Names: &NameList{}}
	for i := range vocabulary / 3 {
		d.Names.All = append(d.Names.All, surface.Name{Hash: uint32(i), Stem: uint32(i), Sound: uint32(i)})
		d.Names.Rows = append(d.Names.Rows, []int32{int32(i), int32(i + 1)})
	}
	for i := range int32(n) {
		f := surface.Features{Length: int32(20 + rng.IntN(100))}
		for range rng.IntN(3) {
			f.Numbers = append(f.Numbers, surface.Number{Hash: 1 + uint32(rng.IntN(50))})
			f.Capitals = append(f.Capitals, uint32(rng.IntN(50)))
		}
		slices.Sort(f.Capitals)
		f.Capitals = slices.Compact(f.Capitals)
		d.Surface.Set(i, &f)
		d.Names.Of = append(d.Names.Of, []int32{int32(rng.IntN(vocabulary / 3)), int32(rng.IntN(vocabulary / 3))})
		d.Tokens.Begins = append(d.Tokens.Begins, len(d.Tokens.Rows))
		rows := make([]int32, 1+rng.IntN(40))
		for i := range rows {
			rows[i] = int32(rng.IntN(vocabulary))
		}
		slices.Sort(rows)
		d.Tokens.Rows = append(d.Tokens.Rows, slices.Compact(rows)...)
		d.Tokens.Ends = append(d.Tokens.Ends, len(d.Tokens.Rows))
	}
	return d
}

func copied(t *Tokens) *Tokens {
	c := *t
	c.Rows, c.Begins, c.Ends = slices.Clone(t.Rows), slices.Clone(t.Begins), slices.Clone(t.Ends)
	return &c
}

// TestCompute compares coverage and gaps with a slow implementation, and checks every value's range and that the number
// of threads changes nothing.
func TestCompute(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	lists := randomLists(t, 21, 70, 60, 6, 4)
	vectors := randomTable(rng, 300, 24)
	source, target := randomSide(rng, 70, 300, vectors), randomSide(rng, 60, 300, vectors)
	source.Tokens.Ends[3] = source.Tokens.Begins[3] // a sentence without tokens
	candidates := lists.ScoredCandidates()
	whole := [2]*Tokens{copied(source.Tokens), copied(target.Tokens)} // computing removes some
	values, err := Compute(context.Background(), lists, candidates, source, target, 1)
	if err != nil {
		t.Fatal(err)
	}
	source.Tokens, target.Tokens = copied(whole[0]), copied(whole[1])
	again, err := Compute(context.Background(), lists, candidates, source, target, 5)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(values, again) {
		t.Error("the number of threads shows")
	}
	a, b := whole[0].weigh(), whole[1].weigh()
	slow := func(c mine.Candidate, power float64) (float64, float64) {
		one := func(own, other *weighted, x, y int32) float64 {
			sum, all := 0.0, 0.0
			for _, r := range own.of(x) {
				best := math.Inf(-1)
				for _, s := range other.of(y) {
					dot := 0.0
					for d, v := range own.Vectors.row(r) {
						dot += float64(v) * float64(other.Vectors.row(s)[d])
					}
					best = max(best, dot/(tokenScale*tokenScale))
				}
				if power > 1 {
					best = math.Pow(max(0, best), power)
				}
				sum, all = sum+float64(own.weights[r])*best, all+float64(own.weights[r])
			}
			return sum / all
		}
		if len(a.of(c.Source)) == 0 || len(b.of(c.Target)) == 0 {
			return 0, 0
		}
		return one(a, b, c.Source, c.Target), one(b, a, c.Target, c.Source)
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
			power                                float64
			source, target, gapSource, gapTarget int
		}{
			{1, atCoverageSource, atCoverageTarget, atCoverageGapSource, atCoverageGapTarget},
			{3, atCubedSource, atCubedTarget, atCubedGapSource, atCubedGapTarget},
		} {
			forward, backward := slow(c, f.power)
			if math.Abs(forward-float64(v[f.source])) > 1e-5 || math.Abs(backward-float64(v[f.target])) > 1e-5 {
				t.Fatalf("%s %v %v, want %v %v", All[f.source].Name, v[f.source], v[f.target], forward, backward)
			}
			gap := func(feature int, ids []int32, self int32, other func(partner int32) mine.Candidate) {
				rival := math.Inf(-1)
				for _, partner := range ids[:lists.K] {
					if partner != self {
						f, b := slow(other(partner), f.power)
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
	good := func(n int) *Side { return randomSide(rng, n, 30, vectors) }
	for name, c := range map[string]struct{ source, target *Side }{
		"surface of another number": {good(11), good(9)},
		"tokens of one side only":   {good(10), &Side{Surface: NewSurfaces(9)}},
		"names of another number": {func() *Side {
			d := good(10)
			d.Names.Of = d.Names.Of[1:]
			return d
		}(), good(9)},
		"a vector not there": {func() *Side {
			d := good(10)
			d.Tokens.Rows[0] = 30
			return d
		}(), good(9)},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Compute(context.Background(), lists, lists.ScoredCandidates(), c.source, c.target, 1); err == nil || !strings.Contains(err.Error(), "describe") {
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
	source, target := randomSide(rng, n, 8000, vectors), randomSide(rng, n, 8000, vectors) // some 20 tokens each
	candidates := lists.ScoredCandidates()
	for b.Loop() {
		if _, err := Compute(context.Background(), lists, candidates, source, target, 2); err != nil {
			b.Fatal(err)
		}
	}
	described := len(candidates) + len(lists.Rivals(candidates)) // a rival costs as much as a candidate
	b.ReportMetric(float64(described*b.N)/b.Elapsed().Seconds(), "candidates/s")
}
