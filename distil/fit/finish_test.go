package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func normal(r *rand.Rand, n int, scale float64) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(r.NormFloat64() * scale)
	}
	return out
}

// problem is a head with every operator, a table of 40 rows of 24 columns, and n sentences whose targets are what a
// head like it gives for another table.
func headProblem(t testing.TB, n int) (*Data, []float32, *Head) {
	const rows, dim, hidden, vector = 40, 24, 37, 16
	r := rand.New(rand.NewPCG(5, 6))
	weight := func(shape ...int) *Matrix {
		size := 1
		for _, d := range shape {
			size *= d
		}
		return NewMatrix(shape, normal(r, size, 0.3))
	}
	h := &Head{From: "sums", To: "unit", Weights: map[string]*Matrix{"w1": weight(dim, hidden), "b1": weight(hidden), "w2": weight(hidden, vector), "p": weight(dim, vector)}, Layers: []Layer{
		{"MatMul", "sums", "a", "w1"}, {"Add", "a", "b", "b1"}, {"Relu", "b", "c", ""}, {"MatMul", "c", "d", "w2"}, {"MatMul", "sums", "e", "p"},
		{"Add", "d", "f", "e"}, {"Tanh", "f", "g", ""}, {"Identity", "g", "h", ""}, {"LpNormalization", "h", "unit", ""},
	}}
	d := &Data{Vector: vector, Dim: dim}
	for i := range n {
		for range 1 + r.IntN(12) {
			d.Sentences.IDs = append(d.Sentences.IDs, int32(r.IntN(rows)))
		}
		d.Sentences.Ends = append(d.Sentences.Ends, int64(len(d.Sentences.IDs)))
		d.Scales = append(d.Scales, 0.5)
		d.Items = append(d.Items, Item{int32(i), int32(i)})
	}
	truth := normal(r, rows*dim, 1)
	var err error
	d.Targets, err = h.Vectors(n, dim, vector, 2, func(i int, to []float32) {
		ids := d.Sentences.At(i)
		gather(ids, []int64{int64(len(ids))}, truth, dim, d.Scales[i:], to)
	})
	if err != nil {
		t.Fatal(err)
	}
	return d, normal(r, rows*dim, 1), h
}

// TestGradients compares the gradients with differences of the loss.
func TestGradients(t *testing.T) {
	d, table, h := headProblem(t, 100)
	s := DefaultSettings()
	s.Batch, s.Threads, s.Temperature = 100, 1, 0.3
	r, err := newRun(d, table, h, s)
	if err != nil {
		t.Fatal(err)
	}
	columns := Transposed(d.Targets, d.Vector)
	loss := func() float64 {
		sum := 0.0
		turned := h.Turned()
		for c, p := range r.passes {
			lo := c * Chunk
			sum += r.chunk(p, d.Items[lo:min(lo+Chunk, len(d.Items))], lo, d.Targets, columns, turned)
		}
		return sum
	}
	check := func(what string, values []float32, at int, got float64) {
		t.Helper()
		const step = 1e-2
		was := values[at]
		values[at] = was + step
		up := loss()
		values[at] = was - step
		down := loss()
		values[at] = was
		if want := (up - down) / (2 * step); math.Abs(got-want) > 0.05*math.Abs(want)+0.05 { // a kink of Relu may lie between
			t.Errorf("%s %d: gradient %g, by differences %g", what, at, got, want)
		}
	}
	loss()
	grads := map[string][]float64{}
	for name, w := range h.Weights {
		grads[name] = make([]float64, len(w.Values))
		for _, p := range r.passes {
			for k, g := range p.weights[name] {
				grads[name][k] += float64(g)
			}
		}
	}
	sums := make([]float64, len(table))
	for j, item := range d.Items {
		for _, id := range d.Sentences.At(int(item.Sentence)) {
			for k, g := range r.row(r.grads, j) {
				sums[int(id)*d.Dim+k] += float64(g)
			}
		}
	}
	for name, w := range h.Weights {
		for at := 3; at < len(w.Values); at += len(w.Values)/7 + 1 {
			check(name, w.Values, at, grads[name][at])
		}
	}
	for at := 5; at < len(table); at += 97 {
		check("table", table, at, sums[at])
	}
}

// TestRunLearns: the loss falls, and the numbers are the same on any number of threads.
func TestRunLearns(t *testing.T) {
	var tables [][]float32
	for _, threads := range []int{1, 3} {
		d, table, h := headProblem(t, 2000)
		d.Round = func(_ int, values, shipped []float32) {
			for k, x := range values {
				shipped[k] = float32(math.RoundToEven(float64(x)*4) / 4)
			}
		}
		s := DefaultSettings()
		s.Epochs, s.Batch, s.Threads = 12, 150, threads
		first, last, err := Finish(t.Context(), d, table, h, s)
		if err != nil {
			t.Fatal(err)
		}
		if last > first*0.8 {
			t.Errorf("the loss goes from %g to %g, want a fifth less", first, last)
		}
		tables = append(tables, append(table, h.Weights["w1"].Values...))
	}
	if !slices.Equal(tables[0], tables[1]) {
		t.Error("the numbers depend on the threads")
	}
}

func TestHeadsThatDoNotFitAreRefused(t *testing.T) {
	for name, change := range map[string]func(h *Head){
		"a weight that is missing":     func(h *Head) { delete(h.Weights, "w1") },
		"a weight of other rows":       func(h *Head) { h.Weights["w2"] = NewMatrix([]int{3, 16}, make([]float32, 48)) },
		"a bias of other columns":      func(h *Head) { h.Weights["b1"] = NewMatrix([]int{3}, make([]float32, 3)) },
		"a tensor that nothing makes":  func(h *Head) { h.Layers = h.Layers[1:] },
		"an output that nothing makes": func(h *Head) { h.To = "x" },
	} {
		d, table, h := headProblem(t, 10)
		change(h)
		if _, _, err := Finish(t.Context(), d, table, h, DefaultSettings()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, s := range [][3]int{{1, 1, 1}, {8, 5, 32}, {9, 7, 33}, {64, 40, 100}} {
		n, d, e := s[0], s[1], s[2]
		a, b, out := normal(r, n*d, 1), normal(r, d*e, 1), normal(r, n*e, 1)
		want := make([]float64, n*e)
		for i := range want {
			want[i] = float64(out[i])
			for k := range d {
				want[i] += float64(a[i/e*d+k]) * float64(b[k*e+i%e])
			}
		}
		product(a, d, b, e, out, true)
		for i, x := range out {
			if math.Abs(float64(x)-want[i]) > 1e-4 {
				t.Fatalf("%v: number %d is %g, want %g", s, i, x, want[i])
			}
		}
	}
}

func BenchmarkProduct(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	x, w, out := normal(r, Chunk*512, 1), normal(r, 512*512, 1), make([]float32, Chunk*512)
	for b.Loop() {
		product(x, 512, w, 512, out, false)
	}
	b.ReportMetric(2*Chunk*512*512/1e9*float64(b.N)/b.Elapsed().Seconds(), "GFLOP/s")
}

// What all targets share is no part of their spread.
func TestSpread(t *testing.T) {
	for _, c := range []struct {
		targets []float32
		want    float64
	}{
		{[]float32{1, 0, -1, 0, 0, 1, 0, -1}, 1},
		{[]float32{0.6, 0.8, 0.6, -0.8}, 0.64},
		{[]float32{1, 0, 1, 0}, 0.01}, // all the same: the least
	} {
		if got := (&Data{Targets: c.targets, Vector: 2}).spread(); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("the spread of %v is %v, want %v", c.targets, got, c.want)
		}
	}
}
