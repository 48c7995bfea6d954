package feature

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func randomTable(rng *rand.Rand, n, dim int) TokenVectors {
	v := NewTokenVectors(dim)
	row := make([]float32, dim)
	for i := range n {
		for d := range row {
			row[d] = float32(rng.NormFloat64())
		}
		if i == 1 { // the whole length in one value gives the largest product
			clear(row)
			row[dim-1] = -3
		}
		if err := v.Append(row); err != nil {
			panic(err)
		}
	}
	return v
}

// TestDotRowsIsExact checks that every kernel gives the sums of the generic one.
func TestDotRowsIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, dim := range []int{1, 31, 32, 33, 256, 384} {
		table := randomTable(rng, 50, dim)
		for _, n := range []int{4, 8, 20, 48} {
			rows := make([]int32, n)
			for i := range rows {
				rows[i] = int32(rng.IntN(table.Len()))
			}
			rows[0] = 1
			want, u, v := [2][]int32{make([]int32, n), make([]int32, n)}, make([]int32, n), make([]int32, n)
			dotRowsGeneric(want[0], table.row(1), table.values, rows)
			dotRowsGeneric(want[1], table.row(2), table.values, rows)
			if cosine := float64(want[0][0]) / (tokenScale * tokenScale); cosine < 0.99 || cosine > 1 {
				t.Errorf("dim %d: a vector's cosine with itself is %v", dim, cosine)
			}
			for name, kernel := range kernels() {
				clear(u)
				clear(v)
				kernel(u, v, table.row(1), table.row(2), table.values, rows)
				if !slices.Equal(u, want[0]) || !slices.Equal(v, want[1]) {
					t.Errorf("%s, dim %d, %d rows: %v and %v, want %v", name, dim, n, u, v, want)
				}
			}
		}
	}
}

func BenchmarkDotRows(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 1))
	v := randomTable(rng, 8000, 256)
	rows := make([]int32, 28)
	for i := range rows {
		rows[i] = int32(rng.IntN(v.Len()))
	}
	first, second := make([]int32, len(rows)), make([]int32, len(rows))
	for name, kernel := range kernels() {
		b.Run(fmt.Sprintf("%s/dim=256", name), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				kernel(first, second, v.row(int32(i%8000)), v.row(int32((i+1)%8000)), v.values, rows)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N*len(rows)), "ns/dot")
		})
	}
}
