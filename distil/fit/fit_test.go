package fit

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// problem has n sentences of pieces 0 to 29, features of two blocks of columns, and every tenth sentence held out.
func problem(n int) *Problem {
	r := rand.New(rand.NewPCG(1, 2))
	p := &Problem{Dim: 2 * block, Pieces: 30, Threads: 2}
	for i := range n {
		for range 1 + r.IntN(9) {
			p.Sentences.IDs = append(p.Sentences.IDs, int32(r.IntN(p.Pieces)))
		}
		p.Sentences.Ends = append(p.Sentences.Ends, int64(len(p.Sentences.IDs)))
		p.Weights = append(p.Weights, float32(min(i%10, 1)))
		for range p.Dim {
			p.Features = append(p.Features, float32(r.NormFloat64()))
		}
	}
	p.Scales, p.Total = ScalesOf(p.Sentences, 0.5), p.Squares()
	return p
}

// TestSolveIsTheNormalEquations compares the conjugate gradients with a direct solution.
func TestSolveIsTheNormalEquations(t *testing.T) {
	const ridge = 0.3
	p := problem(400)
	features := slices.Clone(p.Features)
	a := mat.NewDense(400, p.Pieces, nil)
	b := mat.NewDense(400, p.Dim, nil)
	for i := range 400 {
		for _, id := range p.Sentences.At(i) {
			a.Set(i, int(id), a.At(i, int(id))+float64(p.Weights[i]*p.Scales[i]))
		}
		for k := range p.Dim {
			b.Set(i, k, float64(p.Weights[i]*features[i*p.Dim+k]))
		}
	}
	var gram, right, want mat.Dense
	gram.Mul(a.T(), a)
	right.Mul(a.T(), b)
	for i := range p.Pieces {
		gram.Set(i, i, gram.At(i, i)+ridge)
	}
	if err := want.Solve(&gram, &right); err != nil {
		t.Fatal(err)
	}
	for _, share := range []float32{1, 0.7} {
		p := problem(400)
		table := make([]float32, p.Pieces*p.Dim)
		if err := p.Solve(t.Context(), table, ridge, 60, share); err != nil {
			t.Fatal(err)
		}
		for i, x := range table {
			if w := float64(share) * want.At(i/p.Dim, i%p.Dim); math.Abs(float64(x)-w) > 1e-4 {
				t.Fatalf("share %g: number %d of the table is %g, want %g", share, i, x, w)
			}
		}
		if err := p.Restore(t.Context(), table); err != nil {
			t.Fatal(err)
		}
		for i, x := range p.Features {
			if math.Abs(float64(x-features[i])) > 1e-5 {
				t.Fatalf("feature %d is %g after it was explained and restored, and was %g", i, x, features[i])
			}
		}
	}
}

// TestPriorMap: the map of features that are one of the pieces' vectors explains them, also where each row that a step
// of all rows over the wanted number meets is held out, or every second one.
func TestPriorMap(t *testing.T) {
	defer func(n int) { priorSentences = n }(priorSentences)
	p := problem(2000)
	alone := make([]float32, p.Pieces*p.Dim)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range alone {
		alone[i] = float32(r.NormFloat64())
	}
	for i := range p.Weights {
		p.Weights[i] = float32(min(i%50, 1))
		for k, x := range p.sum(i, alone, p.Scales[i])[:p.Dim] {
			p.Features[i*p.Dim+k] = 2*x + p.Scales[i]
		}
	}
	for _, c := range []struct{ wanted, step int }{{40, 49}, {80, 24}, {200, 10}, {2000, 1}, {4000, 1}} {
		priorSentences = c.wanted
		if got := p.priorStep(); got != c.step {
			t.Errorf("for %d rows of 2000 the step is %d, want %d", c.wanted, got, c.step)
		}
	}
	priorSentences = 40
	if _, left, err := p.PriorMap(alone, p.Scales); err != nil || !(left < 0.01) {
		t.Errorf("the map leaves %g, error %v", left, err)
	}
}

// TestChooseRidge: features that pieces say nothing of are held out best by the strongest ridge.
func TestChooseRidge(t *testing.T) {
	ridge, err := problem(400).ChooseRidge(t.Context(), 20)
	if err != nil || ridge != ridges[len(ridges)-1] {
		t.Errorf("ridge %g, error %v", ridge, err)
	}
}

func TestSolveStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	p := problem(20)
	if err := p.Solve(ctx, make([]float32, p.Pieces*p.Dim), 1, 5, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestPaddedAndCut(t *testing.T) {
	rows := []float32{1, 2, 3, 4, 5, 6}
	wide, columns := Padded(rows, 3)
	if columns != block || len(wide) != 2*block || wide[block] != 4 || wide[3] != 0 {
		t.Errorf("%d columns, %d numbers", columns, len(wide))
	}
	if got := Cut(wide, columns, 3); !slices.Equal(got, rows) {
		t.Errorf("cut to %v", got)
	}
}

func TestLowRank(t *testing.T) {
	const rows, dim, rank = 50, 12, 3
	r := rand.New(rand.NewPCG(3, 4))
	left, right := make([]float32, rows*rank), make([]float32, rank*dim)
	for i := range left {
		left[i] = float32(r.NormFloat64())
	}
	for i := range right {
		right[i] = float32(r.NormFloat64())
	}
	values := Product(left, rank, right, dim)
	counts := make([]int, rows)
	for i := range counts {
		counts[i] = 1 + i
	}
	table, basis, err := LowRank(slices.Clone(values), dim, rank, counts)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range Product(table, rank, basis, dim) {
		if math.Abs(float64(x-values[i])) > 1e-4 {
			t.Fatalf("number %d of a table of rank %d is %g, want %g", i, rank, x, values[i])
		}
	}
}
