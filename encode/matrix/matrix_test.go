package matrix

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestProduct: tiles and VNNI give the same sums as whole numbers, and so the same numbers, for rows with gaps and
// without.
func TestProduct(t *testing.T) {
	if !Supported() {
		t.Skip("this processor has no VNNI")
	}
	have := tiles
	defer func() { tiles = have }()
	r := rand.New(rand.NewPCG(6, 6))
	random := func(n int) []float32 {
		all := make([]float32, n)
		for i := range all {
			all[i] = float32(r.NormFloat64())
		}
		return all
	}
	for _, c := range []struct{ sentences, tokens, gap, k, columns int }{
		{1, 1, 0, 64, 32}, {1, 70, 0, 320, 64}, {1, 33, 0, 20, 96}, {5, 7, 2, 128, 32}, {9, 5, 1, 36, 64}, {2, 40, 3, 192, 32},
	} {
		rows := c.sentences * c.tokens
		n := rows + (c.sentences-1)*c.gap
		numbers, weights := make([]uint8, (n+SpareRows)*c.k), make([]byte, c.k*c.columns)
		for i := range numbers {
			numbers[i] = uint8(r.IntN(256))
		}
		for i := range weights {
			weights[i] = byte(r.IntN(255) - 127)
		}
		packed := Pack(weights, c.columns)
		p := Product{Numbers: numbers, Step: c.k, N: n, K: c.k, Matrix: packed, Columns: c.columns, Shift: Shifts(packed, c.columns),
			Scales: random(c.columns), Greatest: random(rows), Tokens: c.tokens, Gap: c.gap, Bias: random(c.columns), Stride: c.columns}
		var results [2][]float32
		for i := range results {
			tiles = func() bool { return i == 0 && have() }
			results[i] = make([]float32, rows*c.columns)
			p.Out = &results[i][0]
			p.Compute()
		}
		if !slices.Equal(results[0], results[1]) {
			t.Errorf("%v: with AMX's tiles the numbers are others than without", c)
		}
		for row := range rows {
			in := numbers[(row/c.tokens*(c.tokens+c.gap)+row%c.tokens)*c.k:][:c.k]
			for column := range c.columns {
				sum := int32(0)
				for k, x := range in {
					sum += (int32(x) - 128) * int32(int8(weights[k*c.columns+column]))
				}
				want := float32(float32(float32(sum)*p.Scales[column])*p.Greatest[row]) + p.Bias[column]
				if got := results[1][row*c.columns+column]; got != want {
					t.Fatalf("%v: row %d, column %d is %v, want %v", c, row, column, got, want)
				}
			}
		}
	}
}

func BenchmarkProduct(b *testing.B) {
	if !Supported() {
		b.Skip("this processor has no VNNI")
	}
	const n, k, columns = 64, 512, 512
	packed := Pack(make([]byte, k*columns), columns)
	p := Product{Numbers: make([]uint8, (n+SpareRows)*k), Step: k, N: n, K: k, Matrix: packed, Columns: columns,
		Shift: Shifts(packed, columns), Scales: make([]float32, columns), Greatest: make([]float32, n), Out: &make([]float32, n*columns)[0],
		Stride: columns}
	for b.Loop() {
		p.Compute()
	}
	b.ReportMetric(float64(b.N)*n*k*columns/b.Elapsed().Seconds()/1e9, "G_products/s")
}
