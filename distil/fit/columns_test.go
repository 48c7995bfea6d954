package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A table whose rows lie in three directions of eight, one of them far more than the others, is the same in three
// columns, and each of those holds a like share of its squares.
func TestLowRankColumnsHoldAlikeMuch(t *testing.T) {
	const rows, dim, rank = 4000, 8, 3
	random := rand.New(rand.NewPCG(1, 2))
	directions := make([]float32, rank*dim)
	for i := range directions {
		directions[i] = float32(random.NormFloat64())
	}
	own := make([]float32, rows*rank)
	counts := make([]int, rows)
	for i := range rows {
		counts[i] = 1 + i%3
		for k := range rank {
			own[i*rank+k] = float32(random.NormFloat64() * []float64{10, 1, 1}[k])
		}
	}
	values := Product(own, rank, directions, dim)
	table, basis, err := LowRank(values, dim, rank, counts)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range Product(table, rank, basis, dim) {
		if math.Abs(float64(x-values[i])) > 1e-3 {
			t.Fatalf("value %d is %g, want %g", i, x, values[i])
		}
	}
	var held [rank]float64
	for i, x := range table {
		held[i%rank] += float64(x) * float64(x)
	}
	for k, x := range held {
		if x < 0.05*(held[0]+held[1]+held[2]) {
			t.Errorf("column %d holds %v of the squares %v", k, x, held)
		}
	}
}

func TestAxes(t *testing.T) {
	rows := []float32{3, 0, 0, 0, 4, 0, -3, 0, 0, 0, 4, 1} // squares 18, 32, 1
	axes, held, err := Axes(rows, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(held-(51-0.97)/51) > 0.01 {
		t.Errorf("two axes hold %g of the squares", held)
	}
	if axes[1] < 0.98 || axes[3] < 0.99 {
		t.Errorf("the axes are %v, want nearly those of the second number and of the first", axes)
	}
	back := Transposed(Transposed(axes, 3), 2)
	for i, x := range back {
		if x != axes[i] {
			t.Fatalf("transposed twice: %v, want %v", back, axes)
		}
	}
}
