package encoder

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"bitextmine/train/data"
)

var pieces = []string{"<unk>", "<s>", "</s>", "▁nation", "▁national", "nationale", "▁rat", "経済", "経済的", "2026", "▁a", "ratio"}

func newBag(t testing.TB, s BagSettings) *Bag {
	t.Helper()
	if s.Dim == 0 {
		s.Dim = 6
	}
	s.Deviation = 0.5
	b, err := NewBag(s, pieces, 3)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// randomSide has sentences of 1 to length of the first `vocabulary` ids.
func randomSide(n, length, vocabulary int) data.Side {
	rng := rand.New(rand.NewPCG(1, 2))
	s := data.Side{N: n, Length: length, IDs: make([]int32, n*length), Lengths: make([]int32, n)}
	for i := range n {
		s.Lengths[i] = 1 + rng.Int32N(int32(length))
		for j := range int(s.Lengths[i]) {
			s.IDs[i*length+j] = rng.Int32N(int32(vocabulary))
		}
	}
	return s
}

func randomGradients(n int) []float32 {
	rng := rand.New(rand.NewPCG(5, 6))
	g := make([]float32, n)
	for i := range g {
		g[i] = float32(rng.NormFloat64())
	}
	return g
}

var bags = map[string]BagSettings{
	"pieces":   {},
	"n-grams":  {NGrams: NGrams{Min: 3, Max: 5, Deviation: 0.5}},
	"dropping": {WordDropout: 0.4, NGrams: NGrams{Min: 3, Max: 4, Deviation: 0.5}},
}

func TestBagIsTheMeanOfItsTable(t *testing.T) {
	for name, s := range bags {
		b, side := newBag(t, s), randomSide(40, 7, len(pieces))
		table := b.Table()
		got, err := b.Forward(t.Context(), side, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range side.N {
			for d := range b.Dim() {
				var sum float64
				for _, id := range side.IDs[i*side.Length:][:side.Lengths[i]] {
					sum += float64(table[int(id)*b.Dim()+d])
				}
				if want := sum / float64(side.Lengths[i]); math.Abs(want-float64(got[i*b.Dim()+d])) > 1e-6 {
					t.Fatalf("%s: number %d of sentence %d is %g, the mean is %g", name, d, i, got[i*b.Dim()+d], want)
				}
			}
		}
	}
}

// The vectors are linear in the tensors, so a difference over any step is the gradient but for rounding.
func TestBagGradients(t *testing.T) {
	for name, s := range bags {
		t.Run(name, func(t *testing.T) {
			b, side := newBag(t, s), randomSide(9, 5, len(pieces)-1)
			up := randomGradients(side.N * b.Dim())
			loss := func() (sum float64) {
				vectors, err := b.Forward(t.Context(), side, 77)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range vectors {
					sum += float64(v) * float64(up[i])
				}
				return sum
			}
			if err := b.Backward(t.Context(), side, 77, up); err != nil {
				t.Fatal(err)
			}
			for _, tensor := range b.Weights() {
				for i := range tensor.Data {
					const step = 0.25
					was := tensor.Data[i]
					tensor.Data[i] = was + step
					above := loss()
					tensor.Data[i] = was - step
					want := (above - loss()) / (2 * step)
					tensor.Data[i] = was
					if got := float64(tensor.Grad[i]); math.Abs(got-want) > 1e-4*max(1, math.Abs(want)) {
						t.Fatalf("%s[%d]: the gradient is %g, the difference %g", tensor.Name, i, got, want)
					}
					if row := int32(i / b.Dim()); tensor.Grad[i] != 0 && !slices.Contains(tensor.Touched, row) {
						t.Fatalf("%s: row %d has a gradient and is not among the touched %v", tensor.Name, row, tensor.Touched)
					}
				}
			}
		})
	}
}

// Two sides one after the other touch the union of their rows; clearing forgets them.
func TestBagTouchedRows(t *testing.T) {
	b := newBag(t, BagSettings{})
	one := data.Side{N: 1, Length: 2, IDs: []int32{7, 3}, Lengths: []int32{2}}
	two := data.Side{N: 1, Length: 2, IDs: []int32{5, 7}, Lengths: []int32{2}}
	for _, want := range [][]int32{{3, 5, 7}, {3, 5, 7}} {
		for _, side := range []data.Side{one, two} {
			if err := b.Backward(t.Context(), side, 0, make([]float32, b.Dim())); err != nil {
				t.Fatal(err)
			}
		}
		if got := b.pieces.Touched; !slices.Equal(got, want) {
			t.Errorf("touched rows %v, want %v", got, want)
		}
		b.pieces.ZeroGrad()
	}
}

func TestBagOnAnyNumberOfThreads(t *testing.T) {
	side := randomSide(500, 9, len(pieces))
	wide := bags["dropping"]
	wide.Dim = 256 // enough numbers to be worth several goroutines
	up := randomGradients(500 * wide.Dim)
	var first [][]float32
	for _, threads := range []int{1, 2, 7} {
		before := runtime.GOMAXPROCS(threads)
		b := newBag(t, wide)
		vectors, err := b.Forward(t.Context(), side, 5)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Backward(t.Context(), side, 5, up); err != nil {
			t.Fatal(err)
		}
		runtime.GOMAXPROCS(before)
		got := [][]float32{vectors, b.pieces.Grad, b.ngrams.Grad}
		if first == nil {
			first = got
		}
		for i := range got {
			if !slices.Equal(got[i], first[i]) {
				t.Errorf("array %d on %d threads is not that on one", i, threads)
			}
		}
	}
}

func TestNGrams(t *testing.T) {
	n := NGrams{Min: 3, Max: 4}
	for piece, want := range map[string][]string{
		"▁nation": {"▁na", "nat", "ati", "tio", "ion", "▁nat", "nati", "atio", "tion"},
		"rats":    {"rat", "ats", "rats"},
		"▁rat":    nil,
		"2026":    nil,
		"▁経済的":    {"経", "済", "的", "経済", "済的"},
		"経":       nil,
	} {
		if got := n.split(piece); !slices.Equal(got, want) {
			t.Errorf("%s has the n-grams %q, want %q", piece, got, want)
		}
	}
	// 経済 and its characters stand in two pieces; nationale and ratio share more with others than with each other.
	if p := n.of([]string{"▁a", "経済", "経済的"}); p.distinct != 3 || len(p.of(0)) != 0 || len(p.of(1)) != 3 || len(p.of(2)) != 3 {
		t.Errorf("the shared n-grams are %d: %v %v %v", p.distinct, p.of(0), p.of(1), p.of(2))
	}
}

// A batch as the default encoder is trained with.
func BenchmarkBag(b *testing.B) {
	many := make([]string, 45000)
	for i := range many {
		many[i] = "▁" + string(rune('a'+i%26)) + "nat" + string(rune('a'+i/26%26)) + "ion" + string(rune('a'+i/676%26))
	}
	bag, err := NewBag(BagSettings{Dim: 512, Deviation: 0.05, NGrams: NGrams{Min: 3, Max: 5, Deviation: 0.02}}, many, 1)
	if err != nil {
		b.Fatal(err)
	}
	side := randomSide(2048, 32, 5000) // real text has so many distinct pieces in a batch of this size
	up := randomGradients(2048 * 512)
	for _, pass := range []struct {
		name string
		run  func() error
	}{
		{"forward", func() error { _, err := bag.Forward(b.Context(), side, 1); return err }},
		{"backward", func() error { return bag.Backward(b.Context(), side, 1, up) }},
	} {
		b.Run(pass.name, func(b *testing.B) {
			for b.Loop() {
				if err := pass.run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(2048*b.N)/b.Elapsed().Seconds(), "sentences/s")
		})
	}
}
