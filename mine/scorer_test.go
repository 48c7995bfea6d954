package mine

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// made draws examples of which two features decide, by known weights.
func made(seed uint64, n int) Examples {
	rng := rand.New(rand.NewPCG(seed, 9))
	var e Examples
	for i := range n {
		row := make([]float32, features)
		for t := range row {
			row[t] = float32(rng.NormFloat64()) / 4
		}
		e.Values = append(e.Values, row...)
		z := 8*float64(row[fCosine]) - 6*float64(row[fLength]) - 1
		e.True = append(e.True, rng.Float64() < logistic(z))
		e.Group, e.Alone = append(e.Group, int32(i/4)), append(e.Alone, i%5 == 0)
	}
	return e
}

func mustFit(t testing.TB, e Examples) *Scorer {
	t.Helper()
	s, err := Fit(e, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFeaturesAndTheirPlaces(t *testing.T) {
	if len(Features) != features {
		t.Fatalf("%d features, %d places", len(Features), features)
	}
	for name, at := range map[string]int{
		"cosine": fCosine, "gap_tgt": fGapTarget, "negation": fNegation, "cover_least": fCoverLeast, "cover_gap_tgt": fCoverGapTarget,
		"uncovered_src": fUncoveredSource, "missing_tgt": fMissingTarget, "length": fLength, "numbers_any": fNumbersAny, "names": fNames,
		"punctuation": fPunctuation, "tokens": fTokens,
	} {
		if Features[at].Name != name {
			t.Errorf("place %d holds %s, not %s", at, Features[at].Name, name)
		}
	}
	seen := map[string]bool{}
	for _, f := range Features {
		if seen[f.Name] || f.Low >= f.High || f.Version < 1 || f.Meaning == "" {
			t.Errorf("feature %+v is not described, or named twice", f)
		}
		seen[f.Name] = true
	}
}

// TestFitFindsTheWeights: on many examples the fit comes near to what drew them.
func TestFitFindsTheWeights(t *testing.T) {
	s := mustFit(t, made(1, 40000))
	for i, term := range s.Terms {
		want := 0.0
		switch i {
		case fCosine:
			want = 8
		case fLength:
			want = -6
		}
		if got := term.Weight / term.Deviation; math.Abs(got-want) > 0.35 {
			t.Errorf("%s weighs %.2f, want %.2f", term.Feature, got, want)
		}
	}
	if s.Quality.Calibration > 0.01 || s.Quality.Examples != 40000 {
		t.Errorf("quality %+v: what drew the examples is of this form, so probabilities must hold", s.Quality)
	}
}

// TestFitIsAMinimum: the gradient of the loss, taken by differences, vanishes.
func TestFitIsAMinimum(t *testing.T) {
	e := made(2, 800)
	s := mustFit(t, e)
	loss := func() float64 {
		sum := 0.0
		for i := range e.True {
			p := logistic(s.Logit(e.Values.Of(i)))
			if !e.True[i] {
				p = 1 - p
			}
			sum -= math.Log(p)
		}
		for _, term := range s.Terms {
			sum += penalty * term.Weight * term.Weight / 2
		}
		return sum
	}
	const h = 1e-4
	for i := range s.Terms {
		w := s.Terms[i].Weight
		s.Terms[i].Weight = w + h
		up := loss()
		s.Terms[i].Weight = w - h
		down := loss()
		s.Terms[i].Weight = w
		if slope := (up - down) / (2 * h); math.Abs(slope) > 1e-3 {
			t.Errorf("%s: the loss still falls, by %v", s.Terms[i].Feature, slope)
		}
	}
}

func TestFitIsDeterministicAndSurvivesItsFile(t *testing.T) {
	e := made(3, 3000)
	first, err := mustFit(t, e).Encode()
	if err != nil {
		t.Fatal(err)
	}
	second, err := mustFit(t, e).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if string(first) != string(second) {
		t.Error("two fits of the same examples differ")
	}
	one := mustFit(t, e)
	one.K = 4
	data, err := one.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := DecodeScorer(data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if a, b := one.Probability(e.Values.Of(i)), read.Probability(e.Values.Of(i)); a != b {
			t.Fatalf("probability %v became %v in the file", a, b)
		}
	}
}

func TestSharesAddUp(t *testing.T) {
	e := made(4, 500)
	s := mustFit(t, e)
	sum := s.Intercept
	shares := s.Shares(e.Values.Of(7))
	for i, share := range shares {
		sum += share.Logit
		if i > 0 && math.Abs(share.Logit) > math.Abs(shares[i-1].Logit) {
			t.Error("shares are not in order")
		}
	}
	if want := s.Logit(e.Values.Of(7)); math.Abs(sum-want) > 1e-9 {
		t.Errorf("shares add up to %v, the logit is %v", sum, want)
	}
}

func TestWithoutTokensIgnoresThem(t *testing.T) {
	e := made(5, 500)
	s := mustFit(t, e).WithoutTokens()
	row := slices.Clone(e.Values.Of(0))
	want := s.Logit(row)
	for i, f := range Features {
		if f.Tokens {
			row[i] = 0
		}
	}
	if got := s.Logit(row); got != want {
		t.Errorf("logit %v became %v without tokens", want, got)
	}
}

func TestDecodeScorerRefuses(t *testing.T) {
	s := mustFit(t, made(6, 500))
	s.K = 4
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
			if _, err := DecodeScorer(data); err == nil || errors.Is(err, ErrFeatures) != c.features {
				t.Errorf("error %v", err)
			}
		})
	}
}

func FuzzDecodeScorer(f *testing.F) {
	s := mustFit(f, made(7, 300))
	s.K = 4
	data, err := s.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"format":1,"k":4,"terms":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := DecodeScorer(data)
		if err != nil {
			return
		}
		if p := s.Probability(make([]float32, features)); !(p >= 0 && p <= 1) && !math.IsNaN(float64(p)) {
			t.Errorf("probability %v", p)
		}
	})
}

func TestMeasure(t *testing.T) {
	q := Measure([]Judged{{0.95, true, 2}, {0.95, false, 1}, {0.25, false, 1}, {1, true, 1}})
	top := q.Bins[9]
	if top.Examples != 3 || math.Abs(top.True-0.75) > 1e-9 || math.Abs(top.Probability-0.9625) > 1e-6 {
		t.Errorf("bin %+v", top)
	}
	if want := (4*(0.9625-0.75) + 0.25) / 5; math.Abs(q.Calibration-want) > 1e-6 {
		t.Errorf("calibration error %v, want %v", q.Calibration, want)
	}
	if q.Precision != 0.75 || q.Recall != 1 {
		t.Errorf("precision %v, recall %v", q.Precision, q.Recall)
	}
}

func TestThresholdFor(t *testing.T) {
	probabilities := []float32{0.5, 1, 0.75, 0.75, 0.25}
	for _, c := range []struct{ precision, want float64 }{
		{0.99, 1}, {0.8, 0.75}, {0.75, 0.5}, {0.6, 0.25},
	} {
		if got := ThresholdFor(probabilities, c.precision); got != c.want {
			t.Errorf("threshold for %v is %v, want %v", c.precision, got, c.want)
		}
	}
	if got := ThresholdFor([]float32{0.5}, 0.9); !(got > 1) {
		t.Errorf("no pair is certain enough, yet the threshold is %v", got)
	}
}

// described gives sentences random tokens of a table.
func described(rng *rand.Rand, n, vocabulary int, vectors TokenVectors) *Described {
	d := &Described{Tokens: &Tokens{Vectors: vectors}}
	for range n {
		f := Facts{Length: int32(20 + rng.IntN(100))}
		for range rng.IntN(3) {
			f.Numbers = append(f.Numbers, uint32(rng.IntN(50)))
			f.Names = append(f.Names, uint32(rng.IntN(50)))
		}
		slices.Sort(f.Numbers)
		slices.Sort(f.Names)
		f.Names = slices.Compact(f.Names)
		d.Facts = append(d.Facts, f)
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

// TestDescribe states coverage and gaps again, slowly, and holds every value to its range and to any number of threads.
func TestDescribe(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	lists, _ := randomLists(t, 21, 70, 60, 6, 4)
	vectors := randomTable(rng, 300, 24)
	source, target := described(rng, 70, 300, vectors), described(rng, 60, 300, vectors)
	source.Tokens.Ends[3] = source.Tokens.Begins[3] // a sentence without tokens
	candidates := lists.Contenders()
	values, err := lists.Describe(context.Background(), candidates, source, target, 1)
	if err != nil {
		t.Fatal(err)
	}
	again, err := lists.Describe(context.Background(), candidates, source, target, 5)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(values, again) {
		t.Error("the number of threads shows")
	}
	a, b := source.Tokens.telling(), target.Tokens.telling()
	slow := func(c Candidate) (float64, float64) {
		one := func(own, other *weighted, x, y int32) float64 {
			sum, all := 0.0, 0.0
			for _, r := range own.of(x) {
				best := math.Inf(-1)
				for _, s := range other.of(y) {
					dot := 0.0
					for d, v := range own.vectors.row(r) {
						dot += float64(v) * float64(other.vectors.row(s)[d])
					}
					best = max(best, dot/(tokenScale*tokenScale))
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
		for at, f := range Features {
			if !(v[at] >= f.Low && v[at] <= f.High) {
				t.Errorf("%s is %v, outside %v to %v", f.Name, v[at], f.Low, f.High)
			}
		}
		if i > 0 && !(candidates[i-1].Source < c.Source || candidates[i-1].Source == c.Source && candidates[i-1].Target < c.Target) {
			t.Fatalf("candidates %d and %d are out of order", i-1, i)
		}
		forward, backward := slow(c)
		if math.Abs(forward-float64(v[fCoverSource])) > 1e-5 || math.Abs(backward-float64(v[fCoverTarget])) > 1e-5 {
			t.Fatalf("coverage %v %v, want %v %v", v[fCoverSource], v[fCoverTarget], forward, backward)
		}
		gap := func(feature int, ids []int32, self int32, other func(partner int32) Candidate) {
			rival := math.Inf(-1)
			for _, partner := range ids[:lists.K] {
				if partner != self {
					f, b := slow(other(partner))
					rival = max(rival, (f+b)/2)
				}
			}
			if want := (forward+backward)/2 - rival; math.Abs(want-float64(v[feature])) > 1e-5 {
				t.Fatalf("%s %v, want %v", Features[feature].Name, v[feature], want)
			}
		}
		ids, _ := lists.Source.Row(int(c.Source))
		gap(fCoverGapSource, ids, c.Target, func(y int32) Candidate { return Candidate{Source: c.Source, Target: y} })
		ids, _ = lists.Target.Row(int(c.Target))
		gap(fCoverGapTarget, ids, c.Source, func(x int32) Candidate { return Candidate{Source: x, Target: c.Target} })
	}
}

// TestContenders compares with the lists, pair by pair: neighbours of each other, and every sentence's best by margin that stands out.
func TestContenders(t *testing.T) {
	lists, _ := randomLists(t, 22, 40, 55, 6, 4)
	var want [][2]int32
	alone := 0
	proposed := map[[2]int32]Candidate{}
	for _, c := range lists.Candidates() {
		proposed[[2]int32{c.Source, c.Target}] = c
	}
	for x := range int32(lists.Source.Len()) {
		for y := range int32(lists.Target.Len()) {
			near := rank(lists.Source, lists.K, x, y) != Unranked && rank(lists.Target, lists.K, y, x) != Unranked
			best, ok := proposed[[2]int32{x, y}]
			above := ok && 2*best.Cosine > without(lists.Source, lists.K, x, y)+without(lists.Target, lists.K, y, x)
			if near || above {
				want = append(want, [2]int32{x, y})
			}
			if ok && !near && above {
				alone++
			}
		}
	}
	var got [][2]int32
	for _, c := range lists.Contenders() {
		pair := [2]int32{c.Source, c.Target}
		got = append(got, pair)
		if p := proposed[pair]; p.Forward != c.Forward || p.Backward != c.Backward || (p.Forward || p.Backward) && p != c {
			t.Errorf("%+v, by Candidates %+v", c, p)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("contenders %v, want %v", got, want)
	}
	if alone == 0 || len(got) == alone {
		t.Errorf("%d of %d contenders are near on one side alone: nothing was tested", alone, len(got))
	}
}

// without is the mean cosine of i's first k neighbours other than j, or other than the last.
func without(nb Neighbours, k int, i, j int32) float32 {
	ids, cosines := nb.Row(int(i))
	left := slices.Index(ids[:k], j)
	if left < 0 {
		left = k - 1
	}
	sum := float32(0)
	for at, cosine := range cosines[:k] {
		if at != left {
			sum += cosine
		}
	}
	return sum / float32(k-1)
}

// TestRankAndMatch: best first, ties by margin, each sentence once, and a cut that leaves what is taken taken.
func TestRankAndMatch(t *testing.T) {
	s := mustFit(t, made(9, 500))
	row := func(cosine float32) []float32 {
		v := make([]float32, features)
		v[fCosine] = cosine
		return v
	}
	candidates := []Candidate{{Source: 0, Target: 0, Score: 1}, {Source: 0, Target: 1, Score: 2}, {Source: 1, Target: 1, Score: 1}, {Source: 1, Target: 0, Score: 3}}
	var values FeatureValues
	for _, cosine := range []float32{0.2, 0.5, 0.2, -1} {
		values = append(values, row(cosine)...)
	}
	r := s.Rank(candidates, values)
	if r.Candidates[0].Target != 1 || !slices.Equal(r.Values.Of(0), row(0.5)) || !slices.IsSortedFunc(r.Probabilities, func(a, b float32) int {
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
	if want := []Verdict{Kept, Taken, Taken, Kept}; !slices.Equal(verdicts, want) {
		t.Errorf("verdicts %v, want %v", verdicts, want)
	}
	if kept := r.Cut(verdicts, float64(r.Probabilities[0])); kept != 1 || verdicts[3] != BelowThreshold {
		t.Errorf("%d kept, verdicts %v", kept, verdicts)
	}
}

func TestDescribeRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	lists, _ := randomLists(t, 21, 10, 9, 6, 4)
	vectors := randomTable(rng, 30, 24)
	good := func(n int) *Described { return described(rng, n, 30, vectors) }
	for name, c := range map[string]struct{ source, target *Described }{
		"facts of another number":  {good(11), good(9)},
		"tokens of one side alone": {good(10), &Described{Facts: make([]Facts, 9)}},
		"a vector not there": {func() *Described {
			d := good(10)
			d.Tokens.Rows[0] = 30
			return d
		}(), good(9)},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := lists.Describe(context.Background(), lists.Contenders(), c.source, c.target, 1); err == nil || !strings.Contains(err.Error(), "describe") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func BenchmarkDescribe(b *testing.B) {
	rng := rand.New(rand.NewPCG(8, 8))
	const n = 20000
	near := NewNeighbours(n, 4) // either way: blocks of four, all near each other
	for i := range near.IDs {
		near.IDs[i], near.Cosines[i] = int32(i/16*4+i%4), 0.5
	}
	lists, err := NewLists(near, near, 4, Ratio)
	if err != nil {
		b.Fatal(err)
	}
	vectors := randomTable(rng, 8000, 256)
	source, target := described(rng, n, 8000, vectors), described(rng, n, 8000, vectors) // some 20 tokens each
	candidates := lists.Contenders()
	for b.Loop() {
		if _, err := lists.Describe(context.Background(), candidates, source, target, 2); err != nil {
			b.Fatal(err)
		}
	}
	described := len(candidates) + len(lists.rivalsOf(candidates)) // a rival costs no less than a contender
	b.ReportMetric(float64(described*b.N)/b.Elapsed().Seconds(), "candidates/s")
}
