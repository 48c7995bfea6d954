package kernel_test

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bitextmine/encode/embedding"
	"bitextmine/index/indextest"
	"bitextmine/index/kernel"
	"bitextmine/internal/usage"
	"bitextmine/mine"
)

// each runs a test on every kernel that this CPU has.
func each(t *testing.T, test func(t *testing.T, kn *kernel.Kernel)) {
	for _, name := range append(kernel.Names, kernel.Emulated) {
		t.Run(name, func(t *testing.T) {
			kn := kernel.Get(name)
			if kn == nil {
				t.Skipf("this CPU lacks the instructions of %s", name)
			}
			test(t, kn)
		})
	}
}

func TestGetUnknown(t *testing.T) {
	if kn := kernel.Get("mmx"); kn != nil {
		t.Errorf("Get gave %v", kn)
	}
}

func TestWidenEveryFloat16(t *testing.T) {
	half := make([]uint16, 1<<16)
	for i := range half {
		half[i] = uint16(i)
	}
	each(t, func(t *testing.T, kn *kernel.Kernel) {
		got := make([]float32, len(half))
		kn.Widen(got[:5], half[:5]) // a length below one vector
		kn.Widen(got, half)
		for i, g := range got {
			if want := value(uint16(i)); math.Float32bits(g) != math.Float32bits(want) && !(math.IsNaN(float64(g)) && math.IsNaN(float64(want))) {
				t.Fatalf("float16 %#04x became %v, want %v", i, g, want)
			}
		}
	})
}

// value is a float16's number, by its definition.
func value(h uint16) float32 {
	exponent, mantissa := int(h>>10&31), float64(h&0x3ff)
	v := math.Ldexp(mantissa, -24)
	switch {
	case exponent == 31 && mantissa != 0:
		v = math.NaN()
	case exponent == 31:
		v = math.Inf(1)
	case exponent > 0:
		v = math.Ldexp(1024+mantissa, exponent-25)
	}
	if h&0x8000 != 0 {
		v = math.Copysign(v, -1)
	}
	return float32(v)
}

func TestInspect(t *testing.T) {
	rows := []float32{3, 4, 0, 1, 6, 8, float32(math.NaN()), 1}
	each(t, func(t *testing.T, kn *kernel.Kernel) {
		s := kernel.NewSide(embedding.FromFloat32(rows, 2), nil, nil)
		defer s.Close()
		for _, c := range []struct {
			lo, hi int
			limit  float64
			square float64
			bad    int
		}{{0, 2, 1000, 25, -1}, {0, 3, 1000, 100, -1}, {0, 3, 99, 25, 2}, {1, 4, 1000, 100, 3}} {
			square, bad := kn.Inspect(s, c.lo, c.hi, c.limit)
			if square != c.square || bad != c.bad {
				t.Errorf("rows %d to %d below %v: %v, %d; want %v, %d", c.lo, c.hi, c.limit, square, bad, c.square, c.bad)
			}
		}
	})
}

// Every kernel's cosines are embedding.Dot's to the bit, in both forms of the code: one query with some rows, and all
// with all.
func TestCosinesAreDots(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	each(t, func(t *testing.T, kn *kernel.Kernel) {
		for _, dim := range []int{1, 3, 7, 8, 9, 15, 16, 17, 64, 100, 255} {
			const n, q = 37, 7
			a, b := indextest.Random(rng, q, dim), indextest.Random(rng, n, dim)
			queries := kernel.NewSide(embedding.FromFloat32(a, dim), nil, nil)
			base := kernel.NewSide(embedding.FromFloat32(b, dim), nil, nil)
			refined, exhausted := mine.NewNeighbours(q, n), mine.NewNeighbours(q, n)
			lists, all := kernel.NewLists(refined.IDs, refined.Cosines, n), kernel.NewLists(exhausted.IDs, exhausted.Cosines, n)
			candidates := make([]int64, 0, n*q)
			which := make([]int32, q)
			for i := range q {
				which[i] = int32(i)
				for j := range n {
					candidates = append(candidates, int64(j))
				}
			}
			if unproven := kn.Refine(queries, base, lists, 0, q, candidates, make([]float64, q)); len(unproven) > 0 {
				t.Errorf("dim %d: lists of all rows are not proven: %v", dim, unproven)
			}
			kn.Exhaust(queries, base, all, which, kernel.Span{Hi: n, Step: 1})
			for i := range q {
				ids, cosines := refined.Row(i)
				for j, id := range ids {
					if want := embedding.Dot(a[i*dim:(i+1)*dim], b[int(id)*dim:(int(id)+1)*dim]); cosines[j] != want {
						t.Fatalf("dim %d: cosine of %d and %d is %v, want %v", dim, i, id, cosines[j], want)
					}
				}
			}
			ids, products := slices.Repeat([]int32{n - 1, 0, 5, 5, 7}, 3), make([]float32, 15)
			kn.Dots(queries, []int32{4, 0, 4}, base, ids, 5, products)
			for at, got := range products {
				i := []int{4, 0, 4}[at/5] * dim
				if j := int(ids[at]) * dim; got != embedding.Dot(a[i:i+dim], b[j:j+dim]) {
					t.Fatalf("dim %d: product %d is %v", dim, at, got)
				}
			}
			if !slices.Equal(refined.IDs, exhausted.IDs) || !slices.Equal(refined.Cosines, exhausted.Cosines) {
				t.Errorf("dim %d: Refine and Exhaust differ", dim)
			}
			for _, c := range []interface{ Close() }{queries, base, lists, all} {
				c.Close()
			}
		}
	})
}

func TestRefineTellsWhatIsNotProven(t *testing.T) {
	rows := []float32{1, 0.5, 0.25, 0.125}
	s := kernel.NewSide(embedding.FromFloat32(rows, 1), nil, nil)
	defer s.Close()
	for name, c := range map[string]struct {
		candidates []int64
		ceiling    float64
		unproven   int
	}{
		"the rest is below":        {[]int64{0, 1}, 0.4, 0},
		"the rest may tie":         {[]int64{0, 1}, 0.5, 1},
		"the rest may be above":    {[]int64{0, 2}, 0.5, 1},
		"the list is not full":     {[]int64{0, int64(mine.None)}, -1, 1},
		"the last rounds up":       {[]int64{0, 1}, 0.5 - 1e-9, 1},
		"the candidates are all":   {[]int64{3, 2, 1, 0}, 1, 0},
		"the same candidate twice": {[]int64{0, 0, 1}, 0.4, 0},
	} {
		t.Run(name, func(t *testing.T) {
			out := mine.NewNeighbours(1, 2)
			lists := kernel.NewLists(out.IDs, out.Cosines, 2)
			defer lists.Close()
			if got := kernel.Best.Refine(s, s, lists, 0, 1, c.candidates, []float64{c.ceiling}); len(got) != c.unproven {
				t.Errorf("%d lists not proven, want %d (list %v)", len(got), c.unproven, out.IDs)
			}
		})
	}
}

// The window must be wide enough to prove ordinary lists: the fallback is for ties alone. That holds for pairs that
// come again, too, by other spans.
func TestScannerProvesOrdinaryLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const n, q, dim, k = 3000, 500, 96, 4
	a, b := indextest.Paired(rng, n, dim)
	each(t, func(t *testing.T, kn *kernel.Kernel) {
		base := kernel.NewSide(embedding.FromFloat32(a, dim), nil, nil)
		queries := kernel.NewSide(embedding.FromFloat32(b[:q*dim], dim), nil, nil)
		defer base.Close()
		defer queries.Close()
		base.Length, queries.Length = 1.000001, 1.000001
		rows, cols := mine.NewNeighbours(q, k), mine.NewNeighbours(n, k)
		rowLists, colLists := kernel.NewLists(rows.IDs, rows.Cosines, k), kernel.NewLists(cols.IDs, cols.Cosines, k)
		defer rowLists.Close()
		defer colLists.Close()
		s, err := kn.NewScanner(queries, base, k, q, n)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.ExpectRepeats(); err != nil {
			t.Fatal(err)
		}
		backwards := make([]int32, n)
		for i := range backwards {
			backwards[i] = int32(n - 1 - i)
		}
		var first []float32
		for _, at := range []kernel.Span{{Hi: n, Step: 1}, kernel.All(backwards)} {
			s.Base(at, colLists)
			s.Queries(kernel.Span{Hi: q, Step: 7}, rowLists)
			s.Scan()
			if open := len(s.SettleQueries(rowLists)) + len(s.SettleBase(colLists)); open > 0 {
				t.Errorf("%d lists of %d not proven", open, n+q)
			}
			if now := slices.Concat(rows.Cosines, cols.Cosines); first == nil {
				first = now
			} else if !slices.Equal(now, first) {
				t.Error("pairs that come again change the lists")
			}
		}
	})
}

// wholeNumbers rounds rows as Nearest does.
func wholeNumbers(rows []float32) (out []float32, scale float32) {
	top := 0.0
	for _, v := range rows {
		top = max(top, math.Abs(float64(v)))
	}
	scale = float32(127 / top)
	for _, v := range rows {
		out = append(out, float32(math.RoundToEven(float64(v)*float64(scale))))
	}
	return out, scale
}

// The rows with the largest products as whole numbers, of equal ones the lower, also where copies fill the room of a
// list's candidates. A span leaves those that are further below the nearest, and no others.
func TestNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const n, q, dim, k = 700, 90, 40, 9
	a, b := indextest.Paired(rng, n, dim)
	copies := slices.Concat(slices.Repeat(a[:dim], 400), a[:300*dim])
	each(t, func(t *testing.T, kn *kernel.Kernel) {
		for name, rows := range map[string][]float32{"ordinary": a, "copies": copies} {
			base := kernel.NewSide(embedding.FromFloat32(rows, dim), nil, nil)
			queries := kernel.NewSide(embedding.FromFloat32(b[:q*dim], dim), nil, nil)
			base.Length, queries.Length = 1.000001, 1.000001
			if err := errors.Join(kn.MeasureTop(t.Context(), base), kn.MeasureTop(t.Context(), queries)); err != nil {
				t.Fatal(err)
			}
			s, err := kn.NewWhole(queries, base, k, q, n)
			if err != nil {
				t.Fatal(err)
			}
			wholeQueries, queryScale := wholeNumbers(b[:q*dim])
			wholeBase, baseScale := wholeNumbers(rows)
			unit := float64(queryScale) * float64(baseScale)
			want := mine.NewNeighbours(q, k)
			for i := range q {
				products := make([]float32, n)
				order := make([]int32, n)
				for j := range n {
					products[j] = embedding.Dot(wholeQueries[i*dim:(i+1)*dim], wholeBase[j*dim:(j+1)*dim])
					order[j] = int32(j)
				}
				slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(products[b], products[a]) })
				ids, sorted := want.Row(i)
				for j, id := range order[:k] {
					ids[j], sorted[j] = id, products[id]
				}
			}
			_, sorted := want.Row(0)
			third := (float64(sorted[0]) - float64(sorted[2])) / unit // margin of the first query: the bound itself is within
			// All rows are within 1.9: more than a list has room for.
			for _, span := range []float64{math.Inf(1), 0, 0.3, 1.9, third} {
				s.Base(kernel.Span{Hi: n, Step: 1}, nil)
				s.OnlyNearest(span)
				s.Queries(kernel.Span{Hi: q, Step: 1}, nil)
				s.Scan()
				got, products, counts := make([]int32, q*k), make([]float32, q*k), make([]int32, q)
				s.Nearest(got, products, counts)
				for i := range q {
					ids, sorted := want.Row(i)
					within := 0
					for within < k && float64(sorted[within]) >= float64(sorted[0])-span*unit {
						within++
					}
					for j, id := range got[i*k : i*k+int(counts[i])] {
						if product := embedding.Dot(wholeQueries[i*dim:(i+1)*dim], wholeBase[int(id)*dim:(int(id)+1)*dim]); products[i*k+j] != product {
							t.Fatalf("%s, span %v: product %v of %d and %d, want %v", name, span, products[i*k+j], i, id, product)
						}
					}
					list := slices.Sorted(slices.Values(got[i*k : i*k+int(counts[i])]))
					if ids = slices.Sorted(slices.Values(ids[:within])); !slices.Equal(list, ids) {
						t.Fatalf("%s, span %v: query %d: nearest %v, want %v", name, span, i, list, ids)
					}
				}
			}
			s.Close()
			base.Close()
			queries.Close()
		}
	})
}

func BenchmarkScan(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 3))
	const n, q, k = 8192, 2048, 4
	for _, dim := range []int{256, 1024} {
		rows := indextest.Random(rng, n, dim)
		for _, name := range kernel.Names {
			kn := kernel.Get(name)
			if kn == nil {
				continue
			}
			b.Run(name+"/"+map[int]string{256: "d=256", 1024: "d=1024"}[dim], func(b *testing.B) {
				base := kernel.NewSide(embedding.FromFloat32(rows, dim), nil, nil)
				queries := kernel.NewSide(embedding.FromFloat32(rows[:q*dim], dim), nil, nil)
				defer base.Close()
				defer queries.Close()
				base.Length, queries.Length = 1.000001, 1.000001
				out := mine.NewNeighbours(q, k)
				lists := kernel.NewLists(out.IDs, out.Cosines, k)
				defer lists.Close()
				s, err := kn.NewScanner(queries, base, k, q, n)
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				s.Base(kernel.Span{Hi: n, Step: 1}, nil)
				s.Queries(kernel.Span{Hi: q, Step: 1}, lists)
				before := usage.CPUSeconds() // other programs on the machine disturb it least
				for b.Loop() {
					s.Scan()
				}
				b.ReportMetric(2*n*q*float64(dim)*float64(b.N)/(usage.CPUSeconds()-before)/1e9, "GFLOP/s")
			})
		}
	}
}
