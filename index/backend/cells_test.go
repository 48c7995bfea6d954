package backend_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"bitextmine/index"
	"bitextmine/index/indextest"
)

// shapes are cells of ordinary data with unusual sizes.
func shapes() []cell {
	var cells []cell
	for i, c := range []struct{ n, q, dim, k int }{
		{1, 1, 1, 1}, {1, 1, 16, 4}, {1, 300, 7, 4}, {300, 1, 8, 4}, {3, 5, 9, 4}, {5, 3, 64, 64},
		{257, 129, 1, 3}, {500, 400, 2, 4}, {333, 511, 17, 1}, {640, 768, 31, 16}, {1000, 900, 33, 5},
		{1030, 520, 100, 64}, {900, 500, 256, 4}, {200, 300, 768, 16}, {300, 100, 1024, 4}, {5000, 40, 24, 10},
		{2500, 9000, 16, 4}, // several blocks of either side
	} {
		rng := rand.New(rand.NewPCG(uint64(i), 11))
		n := max(c.n, c.q)
		a, b := indextest.Paired(rng, n, c.dim)
		a, b = a[:c.n*c.dim], b[:c.q*c.dim]
		name := fmt.Sprintf("%dx%d d=%d k=%d", c.n, c.q, c.dim, c.k)
		cells = append(cells,
			cell{name + " f32", indextest.Float32(a, c.dim), indextest.Float32(b, c.dim), c.k},
			cell{name + " f16 in key order of its own", indextest.Shuffled(rng, indextest.Float16(a, c.dim)),
				indextest.Shuffled(rng, indextest.Float16(b, c.dim)), c.k},
			cell{name + " f16 against f32", indextest.Float16(a, c.dim), indextest.Shuffled(rng, indextest.Float32(b, c.dim)), c.k})
	}
	return cells
}

// adversaries are cells with many ties, or with an order that is bad for a scan that expects random order.
func adversaries() []cell {
	const dim = 40
	rng := rand.New(rand.NewPCG(12, 13))
	a, b := indextest.Paired(rng, 600, dim)
	side := func(rows []float32) index.Side { return indextest.Shuffled(rng, indextest.Float32(rows, dim)) }
	half := func(rows []float32) index.Side { return indextest.Shuffled(rng, indextest.Float16(rows, dim)) }
	one := slices.Repeat(a[:dim], 700)
	few := make([]float32, 0, 900*dim)
	for range 900 {
		at := rng.IntN(5) * dim
		few = append(few, a[at:at+dim]...)
	}
	return []cell{
		{"all rows equal", side(one), side(one[:300*dim]), 4},
		{"all source rows equal", half(one), half(b), 8},
		{"all target rows equal", side(a), side(one), 8},
		{"five rows many times", side(few), half(few[:500*dim]), 7},
		{"every row three times", side(slices.Concat(a, a, a)), half(slices.Concat(b, b, b)), 4},
		{"equal rows with another sign of zero", side(signedZeros(rng, 400, dim)), side(signedZeros(rng, 300, dim)), 4},
		{"unit vectors", side(unitVectors(500, dim)), side(unitVectors(400, dim)), 4},
		{"sides orthogonal", side(subspace(rng, 500, dim, 0, dim/2)), side(subspace(rng, 600, dim, dim/2, dim)), 5},
		{"small whole numbers", side(lattice(rng, 800, dim)), side(lattice(rng, 700, dim)), 6},
		{"one step of rounding apart", side(nearCopies(rng, a[:dim], 700)), side(nearCopies(rng, a[:dim], 500)), 4},
		{"zero rows", side(make([]float32, 300*dim)), side(b), 4},
		{"ascending similarity", side(arc(900, dim)), side(arc(700, dim)), 4},
		{"descending similarity", side(reversed(arc(900, dim), dim)), side(arc(700, dim)), 12},
		{"lengths apart", side(scaled(rng, a, dim)), side(scaled(rng, b, dim)), 4},
		{"negative cosines", side(negated(a[:3*dim])), side(a[:3*dim]), 4},
	}
}

func unitVectors(n, dim int) []float32 {
	rows := make([]float32, n*dim)
	for i := range n {
		rows[i*dim+i%dim] = 1
	}
	return rows
}

// signedZeros has rows that compare equal but do not have equal bytes.
func signedZeros(rng *rand.Rand, n, dim int) []float32 {
	rows := unitVectors(n, dim)
	for i := range rows {
		if rows[i] == 0 && rng.IntN(2) == 0 {
			rows[i] = negativeZero
		}
	}
	return rows
}

var negativeZero = float32(math.Copysign(0, -1))

func subspace(rng *rand.Rand, n, dim, lo, hi int) []float32 {
	rows := make([]float32, n*dim)
	for i := range rows {
		if at := i % dim; at >= lo && at < hi {
			rows[i] = float32(rng.NormFloat64())
		}
	}
	return indextest.Normalise(rows, dim)
}

// lattice has rows of -1, 0 and 1: integer inner products, many ties, few equal rows.
func lattice(rng *rand.Rand, n, dim int) []float32 {
	rows := make([]float32, n*dim)
	for i := range rows {
		rows[i] = float32(rng.IntN(3) - 1)
	}
	return rows
}

// nearCopies are n rows that differ from row in one value by one unit in the last place.
func nearCopies(rng *rand.Rand, row []float32, n int) []float32 {
	rows := slices.Repeat(row, n)
	for i := range n {
		at := i*len(row) + rng.IntN(len(row))
		rows[at] *= 1 + 0x1p-23*float32(rng.IntN(3)-1)
	}
	return rows
}

// arc has rows along a quarter circle, sorted by their similarity to the first.
func arc(n, dim int) []float32 {
	rows := make([]float32, n*dim)
	for i := range n {
		t := float32(i) / float32(n)
		rows[i*dim], rows[i*dim+1] = 1-t, t
	}
	return indextest.Normalise(rows, dim)
}

func reversed(rows []float32, dim int) []float32 {
	out := make([]float32, 0, len(rows))
	for lo := len(rows) - dim; lo >= 0; lo -= dim {
		out = append(out, rows[lo:lo+dim]...)
	}
	return out
}

func scaled(rng *rand.Rand, rows []float32, dim int) []float32 {
	out := slices.Clone(rows)
	for lo := 0; lo < len(out); lo += dim {
		factor := float32(rng.ExpFloat64())
		for i := range dim {
			out[lo+i] *= factor
		}
	}
	return out
}

func negated(rows []float32) []float32 {
	out := slices.Clone(rows)
	for i := range out {
		out[i] = -out[i]
	}
	return out
}
