package cuda

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/indextest"
	"bitextmine/mine"
)

// TestLossesAreBounded: products of the rounded rows are as near the true ones as the bound says, sums apart.
func TestLossesAreBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	const dim, n = 33, 60
	for name, value := range hardRows {
		rows := make([]float32, 2*n*dim)
		for i := range rows {
			rows[i] = value(rng, i/dim, i%dim)
		}
		a, b := indextest.Float32(rows[:n*dim], dim), indextest.Float32(rows[n*dim:], dim)
		cell, err := index.NewCell(t.Context(), a, b, 1)
		if err != nil {
			t.Fatal(err)
		}
		forward, _ := cell.Halves()
		queries, base := newOperand(forward.Queries), newOperand(forward.Base)
		left, right := rounded(t, queries), rounded(t, base)
		bound := slack(queries, base)
		for i := range queries.rows.Len() {
			for j := range base.rows.Len() {
				x, y := queries.rows.Block(i, i+1, make([]float32, dim)), base.rows.Block(j, j+1, make([]float32, dim))
				var want, got float64
				for d := range dim {
					want += float64(x[d]) * float64(y[d])
					got += float64(left[i*dim+d]) * float64(right[j*dim+d]) / float64(queries.scale) / float64(base.scale)
				}
				if off := math.Abs(got - want); !(off <= bound) {
					t.Fatalf("%s: rows %d and %d: %v instead of %v, farther off than %v", name, i, j, got, want, bound)
				}
			}
		}
		cell.Close()
	}
}

// rounded is a side in float16, widened again.
func rounded(t *testing.T, o *operand) []float32 {
	t.Helper()
	n, dim := o.rows.Len(), o.rows.Dim()
	width := dim + 3
	half, wide := slices.Repeat([]uint16{0x7e00}, (n+2)*width), make([]float32, n*dim)
	if err := o.float16(t.Context(), 2, 0, n+2, n-1, width, half); err != nil {
		t.Fatal(err)
	}
	for row := range n {
		embedding.Matrix{N: 1, Dim: dim, F16: half[row*width : row*width+dim]}.Float32(wide[row*dim:], 0, 1)
		if !slices.Equal(half[row*width+dim:(row+1)*width], []uint16{0, 0, 0}) {
			t.Fatal("what is beyond a row is not zero")
		}
	}
	last := half[(n-1)*width : n*width]
	if !slices.Equal(half[n*width:(n+1)*width], last) || !slices.Equal(half[(n+1)*width:], last) {
		t.Fatal("what is beyond the rows is not the last one")
	}
	again := make([]uint16, 2*width) // where only such rows are asked for
	if err := o.float16(t.Context(), 2, n, n+2, n-1, width, again); err != nil || !slices.Equal(again, half[n*width:]) {
		t.Fatalf("rows beyond the last one differ, %v", err)
	}
	return wide
}

// TestFloat16RowsLoseNothing: embeddings are stored so.
func TestFloat16RowsLoseNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	side := indextest.Float16(indextest.Random(rng, 50, 16), 16)
	cell, err := index.NewCell(t.Context(), side, side, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer cell.Close()
	o := newOperand(cell.Source)
	rounded(t, o)
	if o.loss() != 0 {
		t.Errorf("float16 rows lose %v", o.loss())
	}
}

func TestMerge(t *testing.T) {
	low := float32(math.Inf(-1))
	all := newLists(2, 3)
	for _, block := range []lists{
		{3, []float32{0.2, low, 0.5}, []int32{3, mine.None, 2}},
		{3, []float32{0.3, 0.9, 0.1}, []int32{-3, -4, -2}},
	} {
		block.sort(5)
		all.merge(1, 2, block)
	}
	if row := all.part(1, 2); !slices.Equal(row.ids, []int32{1, 7, 2}) || !slices.Equal(row.scores, []float32{0.9, 0.5, 0.3}) || all.ids[0] != mine.None {
		t.Errorf("merged %v %v", all.ids, all.scores)
	}
}

// TestCheckFindsWrongScores: a device whose scores are not the products of the rows is noticed.
func TestCheckFindsWrongScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	side := indextest.Float32(indextest.Random(rng, 30, 16), 16)
	cell, err := index.NewCell(t.Context(), side, side, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer cell.Close()
	half, _ := cell.Halves()
	found := newLists(1, 3)
	copy(found.ids, []int32{5, 0, 9})
	if err := half.RefineExact(t.Context(), 1, 0, 1, []int64{5, 0, 9}, []float64{-2}); err != nil {
		t.Fatal(err)
	}
	ids, cosines := half.List(0)
	for i, id := range found.ids {
		found.scores[i] = -1
		for j := range ids {
			if ids[j] == id {
				found.scores[i] = cosines[j]
			}
		}
	}
	if err := found.check(half, 0, 1, 1e-6); err != nil {
		t.Errorf("right scores: %v", err)
	}
	found.scores[1] += 0.01
	if err := found.check(half, 0, 1, 1e-6); err == nil || !strings.Contains(err.Error(), "farther off") {
		t.Errorf("a wrong score: %v", err)
	}
}
