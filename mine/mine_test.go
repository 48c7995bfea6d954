package mine

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomLists draws unit vectors, some of them known pairs, and returns brute-force neighbours of both sides.
func randomLists(t testing.TB, seed uint64, n, m, dim, k int) (*Lists, [][]float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	vec := func() []float64 {
		v := make([]float64, dim)
		norm := 0.0
		for i := range v {
			v[i] = rng.NormFloat64() + 0.5
			norm += v[i] * v[i]
		}
		for i := range v {
			v[i] /= math.Sqrt(norm)
		}
		return v
	}
	xs, ys := make([][]float64, n), make([][]float64, m)
	for i := range xs {
		xs[i] = vec()
	}
	for j := range ys {
		ys[j] = vec()
		if j < n && j%3 == 0 {
			for d := range ys[j] {
				ys[j][d] = 0.7*xs[j][d] + 0.3*ys[j][d]
			}
		}
	}
	cosines := make([][]float64, n)
	for i := range cosines {
		cosines[i] = make([]float64, m)
		for j := range cosines[i] {
			for d := range dim {
				cosines[i][j] += xs[i][d] * ys[j][d]
			}
			cosines[i][j] = float64(float32(cosines[i][j]))
		}
	}
	lists, err := NewLists(nearest(n, m, k, func(i, j int) float64 { return cosines[i][j] }),
		nearest(m, n, k, func(j, i int) float64 { return cosines[i][j] }), k, Ratio)
	if err != nil {
		t.Fatal(err)
	}
	return lists, cosines
}

func nearest(n, m, k int, cosine func(i, j int) float64) Neighbours {
	nb := NewNeighbours(n, k)
	for i := range n {
		order := make([]int, m)
		for j := range order {
			order[j] = j
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cosine(i, b), cosine(i, a)) })
		for at := range min(k, m) {
			nb.IDs[i*k+at], nb.Cosines[i*k+at] = int32(order[at]), float32(cosine(i, order[at]))
		}
	}
	return nb
}

func TestMarginOf(t *testing.T) {
	for _, c := range []struct {
		name   string
		margin Margin
		want   float32
	}{
		{"ratio", Ratio, 1.6}, {"distance", Distance, 0.3}, {"absolute", Absolute, 0.8},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.margin.Of(0.8, 0.6, 0.4); math.Abs(float64(got-c.want)) > 1e-6 {
				t.Errorf("margin = %v, want %v", got, c.want)
			}
		})
	}
	if got := Ratio.Of(-0.2, -0.1, -0.1); math.Abs(float64(got)-2) > 1e-6 {
		t.Errorf("a negative mean gives %g, the reference 2", got)
	}
	if got := Ratio.Of(0.5, 0.25, -0.25); got != 0 {
		t.Errorf("ratio over a mean of zero = %v, want 0", got)
	}
}

// TestDrop: the neighbours behind one that is taken out move up, and a stranger is in no list.
func TestDrop(t *testing.T) {
	nb := Neighbours{K: 3, IDs: []int32{4, 5, 6, 7, 8, None}, Cosines: []float32{0.9, 0.8, 0.7, 0.6, 0.5, 0}}
	nb.Drop(0, 4)
	nb.Drop(1, 8)
	nb.Drop(1, 9)
	if want := []int32{5, 6, None, 7, None, None}; !slices.Equal(nb.IDs, want) {
		t.Errorf("ids %v, want %v", nb.IDs, want)
	}
	if want := []float32{0.8, 0.7, 0, 0.6, 0, 0}; !slices.Equal(nb.Cosines, want) {
		t.Errorf("cosines %v, want %v", nb.Cosines, want)
	}
}

func TestMeansCountOnlyNeighboursThatAreThere(t *testing.T) {
	nb := NewNeighbours(3, 4)
	copy(nb.IDs, []int32{0, 1, 2, 3})
	copy(nb.Cosines, []float32{0.9, 0.7, 0.5, 0.3})
	nb.IDs[4], nb.Cosines[4] = 2, 0.5
	for k, want := range map[int][]float32{4: {0.6, 0.5, 0}, 2: {0.8, 0.5, 0}} {
		if got, err := means(nil, nb, k); err != nil || !almost(got, want) {
			t.Errorf("means of %d = %v, want %v (%v)", k, got, want, err)
		}
	}
}

func almost(got, want []float32) bool {
	return slices.EqualFunc(got, want, func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-6 })
}

// TestCandidatesAgainstDefinition compares with a slow implementation over the whole cosine matrix.
func TestCandidatesAgainstDefinition(t *testing.T) {
	const n, m, k = 40, 55, 4
	lists, cosines := randomLists(t, 7, n, m, 8, k)
	mean := func(nb Neighbours, i int) float64 {
		_, c := nb.Row(i)
		return (float64(c[0]) + float64(c[1]) + float64(c[2]) + float64(c[3])) / 4
	}
	margin := func(i, j int) float64 {
		return cosines[i][j] / ((mean(lists.Source, i) + mean(lists.Target, j)) / 2)
	}
	want := map[[2]int32][2]bool{}
	for i := range n {
		best, at := math.Inf(-1), 0
		ids, _ := lists.Source.Row(i)
		for _, j := range ids {
			if s := margin(i, int(j)); s > best {
				best, at = s, int(j)
			}
		}
		want[[2]int32{int32(i), int32(at)}] = [2]bool{true, false}
	}
	for j := range m {
		best, at := math.Inf(-1), 0
		ids, _ := lists.Target.Row(j)
		for _, i := range ids {
			if s := margin(int(i), j); s > best {
				best, at = s, int(i)
			}
		}
		both := want[[2]int32{int32(at), int32(j)}]
		want[[2]int32{int32(at), int32(j)}] = [2]bool{both[0], true}
	}
	got := lists.Candidates()
	if len(got) != len(want) {
		t.Fatalf("%d candidates, want %d", len(got), len(want))
	}
	for at, c := range got {
		if flags, ok := want[[2]int32{c.Source, c.Target}]; !ok || flags != [2]bool{c.Forward, c.Backward} {
			t.Errorf("candidate %d-%d forward %v backward %v, want %v %v", c.Source, c.Target, c.Forward, c.Backward, flags, ok)
		}
		if s := margin(int(c.Source), int(c.Target)); math.Abs(s-float64(c.Score)) > 1e-5 {
			t.Errorf("score %v, want %v", c.Score, s)
		}
		ids, _ := lists.Source.Row(int(c.Source))
		if (c.SourceRank == Unranked) != !slices.Contains(ids, c.Target) || c.SourceRank != Unranked && ids[c.SourceRank] != c.Target {
			t.Errorf("source rank %d of %d in %v", c.SourceRank, c.Target, ids)
		}
		if at > 0 && got[at-1].Compare(c) >= 0 {
			t.Errorf("candidates %d and %d are out of order", at-1, at)
		}
	}
}

func TestRetrievalModes(t *testing.T) {
	candidates := []Candidate{
		{Source: 0, Target: 0, Score: 1.5, Forward: true, Backward: true},
		{Source: 1, Target: 0, Score: 1.4, Forward: true},
		{Source: 0, Target: 1, Score: 1.3, Backward: true},
		{Source: 2, Target: 2, Score: 1.0, Forward: true, Backward: true},
		{Source: 3, Target: 2, Score: 0.9, Forward: true},
		{Source: 1, Target: 1, Score: 0.8, Forward: true, Backward: true},
	}
	for _, c := range []struct {
		retrieval Retrieval
		threshold float64
		want      []int
	}{
		{Max, 0, []int{0, 3, 5}},
		{Max, 1.0, []int{0}}, // 2-2 scores 1.0, which is not above the threshold
		{Union, 0, []int{0, 1, 2, 3, 4, 5}},
		{Union, 1.2, []int{0, 1, 2}},
		{Intersect, 0, []int{0, 3, 5}},
		{Forward, 0, []int{0, 1, 3, 4, 5}},
		{Backward, 1.2, []int{0, 2}},
	} {
		t.Run(string(c.retrieval), func(t *testing.T) {
			got := Pairs(candidates, 4, 3, c.retrieval, c.threshold)
			want := make([]Candidate, len(c.want))
			for i, at := range c.want {
				want[i] = candidates[at]
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// TestMaxTakesSidesBeforeTheThreshold checks that 0-0, whose score is too low, still uses both its sentences.
func TestMaxTakesSidesBeforeTheThreshold(t *testing.T) {
	verdicts := Judge([]Candidate{
		{Source: 0, Target: 0, Score: 1.0}, {Source: 0, Target: 1, Score: 0.9},
	}, 1, 2, Max, 1.1)
	if want := []Verdict{BelowThreshold, Taken}; !slices.Equal(verdicts, want) {
		t.Errorf("verdicts %v, want %v", verdicts, want)
	}
}

func TestMaxIsOneToOne(t *testing.T) {
	for seed := range uint64(20) {
		lists, _ := randomLists(t, seed, 60, 45, 6, 4)
		sources, targets := map[int32]bool{}, map[int32]bool{}
		for _, p := range Pairs(lists.Candidates(), 60, 45, Max, 0) {
			if sources[p.Source] || targets[p.Target] {
				t.Fatalf("seed %d: a sentence of %d-%d stands in two pairs", seed, p.Source, p.Target)
			}
			sources[p.Source], targets[p.Target] = true, true
		}
	}
}

// TestSwappingSidesSwapsPairs checks that mining en-de gives the pairs of de-en with their sides swapped.
func TestSwappingSidesSwapsPairs(t *testing.T) {
	for _, margin := range Margins {
		lists, _ := randomLists(t, 3, 50, 50, 6, 4)
		lists.Margin = margin
		turned, err := NewLists(lists.Target, lists.Source, 4, margin)
		if err != nil {
			t.Fatal(err)
		}
		want := map[[2]int32]float32{}
		for _, c := range lists.Candidates() {
			want[[2]int32{c.Source, c.Target}] = c.Score
		}
		for _, c := range turned.Candidates() {
			if score, ok := want[[2]int32{c.Target, c.Source}]; !ok || score != c.Score {
				t.Fatalf("%s: turned pair %d-%d scores %v, was %v (there: %v)", margin, c.Target, c.Source, c.Score, score, ok)
			}
		}
	}
}

func TestNewListsRefuses(t *testing.T) {
	good := NewNeighbours(3, 4)
	bad := NewNeighbours(3, 4)
	bad.IDs[5] = 3
	for name, c := range map[string]struct {
		source, target Neighbours
		k              int
	}{
		"k of zero":                {good, good, 0},
		"k above the lists":        {good, good, 5},
		"a row that is not there":  {bad, good, 4},
		"a target row not there":   {good, bad, 4},
		"k that a rank cannot say": {NewNeighbours(1, 300), NewNeighbours(1, 300), 300},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := NewLists(c.source, c.target, c.k, Ratio); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestParse(t *testing.T) {
	if _, err := ParseMargin("ratios"); err == nil {
		t.Error("an unknown margin is accepted")
	}
	if r, err := ParseRetrieval("max"); err != nil || r != Max {
		t.Error(r, err)
	}
}

func BenchmarkCandidates(b *testing.B) {
	const n, k = 100_000, 4
	rng := rand.New(rand.NewPCG(1, 2))
	side := func() Neighbours {
		nb := NewNeighbours(n, k)
		for i := range n {
			cosine := float32(0.9)
			for j := range k {
				nb.IDs[i*k+j] = int32(rng.IntN(n))
				cosine -= rng.Float32() * 0.1
				nb.Cosines[i*k+j] = cosine
			}
		}
		return nb
	}
	source, target := side(), side()
	for b.Loop() {
		lists, err := NewLists(source, target, k, Ratio)
		if err != nil {
			b.Fatal(err)
		}
		if len(Pairs(lists.Candidates(), n, n, Max, 1.06)) == 0 {
			b.Fatal("no pairs")
		}
	}
	b.ReportMetric(float64(2*n)*float64(b.N)/b.Elapsed().Seconds(), "sentences/s")
}
