package match

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"bitextmine/encode/embedding"
)

// made makes n documents of some sentences on the source side, their noisy translations among others on the target
// side, in another order, and where each is.
func made(n, others int) (source, target *Side, where []int) {
	const dim = 32
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(near []float32, noise float64) []float32 {
		v := make([]float32, dim)
		var square float64
		for c := range v {
			v[c] = float32(noise * rng.NormFloat64())
			if near != nil {
				v[c] += near[c]
			}
			square += float64(v[c] * v[c])
		}
		for c := range v {
			v[c] /= float32(math.Sqrt(square))
		}
		return v
	}
	source, target = &Side{Dim: dim}, &Side{Dim: dim}
	add := func(s *Side, vectors ...[]float32) {
		s.Documents = append(s.Documents, Document{Name: fmt.Sprint(len(s.Documents)), First: len(s.Vectors) / dim, Count: len(vectors)})
		for _, v := range vectors {
			s.Vectors = append(s.Vectors, v...)
		}
	}
	texts := make([][][]float32, n+others)
	for d := range texts {
		for range 3 + rng.IntN(8) {
			texts[d] = append(texts[d], random(nil, 1))
		}
	}
	for _, text := range texts[:n] {
		add(source, text...)
	}
	where = make([]int, n)
	for at, d := range rng.Perm(n + others) {
		if d < n {
			where[d] = at
		}
		var noisy [][]float32
		for k, v := range texts[d] {
			if k == 0 || rng.IntN(5) > 0 { // some sentences are missing
				noisy = append(noisy, random(v, 0.1))
			}
		}
		add(target, noisy...)
	}
	return source, target, where
}

func TestMatch(t *testing.T) {
	source, target, where := made(100, 100)
	pairs, err := Match(t.Context(), source, target, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for k, p := range pairs {
		if where[p.Source] == p.Target {
			found++
		}
		if k > 0 && p.Score > pairs[k-1].Score {
			t.Error("pairs are not in the order of their scores")
		}
	}
	if len(pairs) != 100 || found != 100 {
		t.Errorf("%d pairs, %d of 100 correct", len(pairs), found)
	}
	o := DefaultOptions()
	o.MinScore = 2
	if pairs, err := Match(t.Context(), source, target, o); err != nil || len(pairs) != 0 {
		t.Errorf("%d pairs above the greatest score, %v", len(pairs), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Match(ctx, source, target, o); err == nil {
		t.Error("a cancelled match has no error")
	}
}

// compared are the best cosines of two documents.
func compared(source, target *Side, a, b Document) (found Bests) {
	for side, n := range Compared(a.Count, b.Count) {
		found[side] = make([]float32, n)
	}
	if err := Compare(found, a.Count, b.Count, Held(source.rows(a), source.Dim), Held(target.rows(b), source.Dim), source.Dim); err != nil {
		panic(err)
	}
	return found
}

// TestBiMax: the best cosines are 1 and 0.6 from the source, 1 from the target.
func TestBiMax(t *testing.T) {
	source := &Side{Documents: []Document{{Count: 2}}, Dim: 2, Vectors: []float32{1, 0, 0.6, 0.8}}
	target := &Side{Documents: []Document{{Count: 1}}, Dim: 2, Vectors: []float32{1, 0}}
	found := compared(source, target, source.Documents[0], target.Documents[0])
	if got := found.biMax(); math.Abs(got-0.9) > 1e-6 {
		t.Errorf("BiMax %v, want 0.9", got)
	}
}

// TestRivals: of two documents with the same sentence, the one that the sentence does not belong to loses.
func TestRivals(t *testing.T) {
	unit := func(axes ...int) (v []float32) {
		for _, axis := range axes {
			row := make([]float32, 4)
			row[axis] = 1
			v = append(v, row...)
		}
		return v
	}
	// The first source document lacks its second sentence. The first target document is half of it and half of the second.
	source := &Side{Documents: []Document{{First: 0, Count: 1}, {First: 1, Count: 2}}, Dim: 4, Vectors: unit(0, 2, 3)}
	target := &Side{Documents: []Document{{First: 0, Count: 2}, {First: 2, Count: 2}, {First: 4, Count: 2}}, Dim: 4, Vectors: unit(0, 2, 0, 1, 2, 3)}
	pairs, err := Match(t.Context(), source, target, DefaultOptions())
	if err != nil || len(pairs) != 2 {
		t.Fatal(pairs, err)
	}
	for _, p := range pairs {
		if p.Target != p.Source+1 {
			t.Errorf("source document %d is paired with %d", p.Source, p.Target)
		}
	}
	if p := pairs[1]; p.Source != 0 || math.Abs(p.BiMax-0.75) > 1e-6 || math.Abs(p.Score-0.75) > 1e-6 {
		t.Errorf("%+v", p)
	}
}

// TestRivalsOfLongDocument: sentences of a long document that were sampled are compared with what rivals have of these,
// not of its first ones.
func TestRivalsOfLongDocument(t *testing.T) {
	const n = 10 * samples
	r, err := newRivals(nil, []Document{{Count: n}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	r.clear()
	excerpt := Bests{make([]float32, n), nil} // a translation of the first sentences alone
	for i := range samples {
		excerpt[0][i] = 0.9
	}
	r.add([2]int32{0, 1}, excerpt, nil)
	long := Bests{make([]float32, samples), nil}
	for i := range long[0] {
		long[0][i] = 0.5
	}
	if got, want := r.excess([2]int32{0, 0}, long), 0.4*0.1; math.Abs(got-want) > 1e-6 {
		t.Errorf("excess %v, want %v: a tenth of the samples stands in the excerpt, better by 0.4", got, want)
	}
}

func TestAddresses(t *testing.T) {
	got := stripped([]Document{
		{URL: "https://www.example.de/de/news/1.html"}, {URL: "http://en.example.com/news/1.html?lang=en"}, {URL: "https://example.com/"}, {URL: ""}, {URL: "https://example.com/news/2.html"}, {URL: "%zz"},
	})
	if got[0] == "" || got[0] != got[1] || got[2] != "" || got[3] != "" || got[4] == got[0] || got[5] != "" {
		t.Errorf("%q", got)
	}
	source := &Side{Documents: []Document{{Count: 1, URL: "https://a.org/de/page"}}, Dim: 2, Vectors: []float32{1, 0}}
	target := &Side{
		Documents: []Document{{Count: 1, URL: "https://a.org/en/other"}, {First: 1, Count: 1, URL: "https://a.org/en/page"}}, Dim: 2,
		Vectors: []float32{0.9, 0.4358899, 0.88, 0.4749737},
	}
	pairs, err := Match(t.Context(), source, target, DefaultOptions())
	if err != nil || len(pairs) != 1 || pairs[0].Target != 1 || !pairs[0].SameURL {
		t.Errorf("%+v %v: the address decides between two near documents", pairs, err)
	}
}

// TestLongDocuments: of documents of more than 1,000 sentences a sample is compared, with all of the other one.
func TestLongDocuments(t *testing.T) {
	const n, dim = 2500, 8
	rng := rand.New(rand.NewPCG(1, 2))
	sides := [2]*Side{}
	for side := range sides {
		sides[side] = &Side{Dim: dim, Documents: []Document{{Count: n}}, Vectors: make([]float32, n*dim)}
	}
	for k := range n {
		v := make([]float32, dim)
		var square float64
		for i := range v {
			v[i] = rng.Float32() - 0.5
			square += float64(v[i]) * float64(v[i])
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(square))
		}
		copy(sides[0].Vectors[k*dim:], v)
		copy(sides[1].Vectors[(n-1-k)*dim:], v) // reverse order
	}
	found, err := Match(t.Context(), sides[0], sides[1], DefaultOptions())
	if err != nil || len(found) != 1 || math.Abs(found[0].BiMax-1) > 1e-5 {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestUnrelated: the mean cosine of all pairs of sentences, also of vectors that share a direction.
func TestUnrelated(t *testing.T) {
	t.Parallel()
	source, target, _ := made(20, 20)
	for _, shared := range []float32{0, 0.8} {
		var sum float64
		n := 0
		for _, s := range []*Side{source, target} {
			for i := range s.Vectors {
				s.Vectors[i] *= float32(math.Sqrt(float64(1 - shared)))
				if i%s.Dim == 0 {
					s.Vectors[i] += float32(math.Sqrt(float64(shared)))
				}
			}
		}
		for i := range len(source.Vectors) / source.Dim {
			for j := range len(target.Vectors) / target.Dim {
				sum += float64(embedding.Dot(source.sentence(i), target.sentence(j)))
				n++
			}
		}
		if got, want := Unrelated(source, target), sum/float64(n); math.Abs(got-want) > 1e-6 || math.Abs(got-float64(shared)) > 0.1 {
			t.Errorf("%v, want %v, about %v", got, want, shared)
		}
	}
}

// random makes a document of rows in many dimensions for each count.
func random(counts ...int) *Side {
	const dim = 67 // no multiple of a vector
	rng := rand.New(rand.NewPCG(3, 4))
	s := &Side{Dim: dim}
	for _, n := range counts {
		s.Documents = append(s.Documents, Document{First: len(s.Vectors) / dim, Count: n})
		for range n {
			v := make([]float32, dim)
			for c := range v {
				v[c] = float32(rng.NormFloat64())
			}
			if err := embedding.Normalise(v); err != nil {
				panic(err)
			}
			s.Vectors = append(s.Vectors, v...)
		}
	}
	return s
}

// TestCompare: the cosines of short and of long documents are those of all pairs of sentences.
func TestCompare(t *testing.T) {
	t.Parallel()
	s := random(3, 40, 70, 900, 1300, 2*Part+5)
	for _, a := range s.Documents {
		for _, b := range s.Documents {
			found := compared(s, s, a, b)
			for side, d := range [2][2]Document{{a, b}, {b, a}} {
				if want := d[0].Count; a.Count*b.Count <= longest*longest && len(found[side]) != want || len(found[side]) == 0 {
					t.Fatalf("%d x %d: %d cosines, want %d", a.Count, b.Count, len(found[side]), want)
				}
				for _, k := range []int{0, len(found[side]) / 2, len(found[side]) - 1} {
					want := float32(-1)
					own := s.sentence(d[0].First + k*d[0].Count/len(found[side]))
					for j := range d[1].Count {
						want = max(want, embedding.Dot(own, s.sentence(d[1].First+j)))
					}
					if got := found[side][k]; math.Abs(float64(got-want)) > 1e-6 {
						t.Errorf("%d x %d, side %d, sentence %d: %v, want %v", a.Count, b.Count, side, k, got, want)
					}
				}
			}
		}
	}
}

// TestOneAddress: an address that many documents have makes no candidates: their number would be its square.
func TestOneAddress(t *testing.T) {
	t.Parallel()
	counts := make([]int, 3000)
	for d := range counts {
		counts[d] = 1
	}
	s := random(counts...)
	for d := range s.Documents {
		s.Documents[d].URL = "https://a.org/de/page"
	}
	documents, means := [2][]Document{s.Documents, s.Documents}, [2]embedding.Matrix{s.means(), s.means()}
	found, err := Candidates(t.Context(), nil, documents, means, 20)
	if err != nil || len(found) > 2*20*len(counts) {
		t.Errorf("%d candidates of %d documents, %v", len(found), len(counts), err)
	}
}

// TestMemory: an upper bound has what a search of many documents keeps of each besides blocks. 400,000 on either side
// took 351 MB.
func TestMemory(t *testing.T) {
	if bound := Memory(800_000, 2, 8, 16); bound < 351<<20 || bound > 2*351<<20 {
		t.Errorf("%d MB", bound>>20)
	}
	if less, more := Memory(10_000, 2, 8, 16), Memory(20_000, 2, 8, 16); more-less < 10_000*(8*16+rowNumbers) {
		t.Errorf("%d and %d bytes", less, more)
	}
}

// BenchmarkMatch: documents of several lengths, all of which are candidates of each other.
func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{1, 10, 250, 1000, 10_000} {
		counts := make([]int, min(20_000, 60_000/n))
		for d := range counts {
			counts[d] = n
		}
		s := random(counts...)
		b.Run(fmt.Sprintf("%dx%d", len(counts), n), func(b *testing.B) {
			for b.Loop() {
				if _, err := Match(b.Context(), s, s, DefaultOptions()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
