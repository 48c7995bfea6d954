package fit

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Padded fills rows of dim columns with zeros up to a multiple of block, and gives the multiple.
func Padded(rows []float32, dim int) ([]float32, int) {
	wide := (dim + block - 1) / block * block
	if wide == dim {
		return rows, dim
	}
	n := len(rows) / dim
	out := make([]float32, n*wide)
	for i := range n {
		copy(out[i*wide:], rows[i*dim:(i+1)*dim])
	}
	return out, wide
}

// Cut cuts rows of wide columns to dim.
func Cut(rows []float32, wide, dim int) []float32 {
	if wide == dim {
		return rows
	}
	n := len(rows) / wide
	for i := range n {
		copy(rows[i*dim:(i+1)*dim], rows[i*wide:])
	}
	return rows[:n*dim]
}

// LowRank cuts a table [pieces, dim] to the rank columns that hold most of its squares, weighted by the counts of the
// pieces: table [pieces, rank] and basis [rank, dim]. The columns are turned once more, so that each holds about as
// much as any other, which suits few bits a number best.
func LowRank(values []float32, dim, rank int, counts []int) (table, basis []float32, err error) {
	weighted := slices.Clone(values)
	for i, n := range counts {
		scale := float32(math.Sqrt(float64(n)))
		for k := i * dim; k < (i+1)*dim; k++ {
			weighted[k] *= scale
		}
	}
	axes, _, err := Axes(weighted, dim, rank)
	if err != nil {
		return nil, nil, err
	}
	basis = Product(cosines(rank), rank, axes, dim)
	return Product(values, dim, Transposed(basis, dim), rank), basis, nil
}

// cosines is the matrix [n, n] of the cosine transform: orthogonal, without large numbers.
func cosines(n int) []float32 {
	out := make([]float32, n*n)
	for i := range n {
		for k := range n {
			scale := math.Sqrt(2 / float64(n))
			if k == 0 {
				scale = math.Sqrt(1 / float64(n))
			}
			out[i*n+k] = float32(scale * math.Cos(math.Pi*(float64(i)+0.5)*float64(k)/float64(n)))
		}
	}
	return out
}

// Axes finds the orthogonal axes [rank, dim] that hold most of the squares of rows [n, dim], by falling share, and the
// share that they hold.
func Axes(rows []float32, dim, rank int) (axes []float32, held float64, err error) {
	squares := make([]float64, dim*dim)
	gram(rows, dim, rows, dim, squares)
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(dim, squares), true) {
		return nil, 0, errors.New("rows have no principal axes: they are not finite")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors) // columns, by rising eigenvalue
	all := 0.0
	for i, value := range eigen.Values(nil) {
		all += value
		if i >= dim-rank {
			held += value
		}
	}
	for j := range rank {
		column := mat.Col(nil, dim-1-j, &vectors)
		sign := math.Copysign(1, largest(column))
		for _, x := range column {
			axes = append(axes, float32(sign*x))
		}
	}
	return axes, held / all, nil
}

// Transposed is a matrix [n, columns] as [columns, n].
func Transposed(m []float32, columns int) []float32 {
	n := len(m) / columns
	out := make([]float32, len(m))
	for i, x := range m {
		out[i%columns*n+i/columns] = x
	}
	return out
}

// largest is the number farthest from 0. Its sign determines the sign of an axis.
func largest(x []float64) float64 {
	most := 0.0
	for _, v := range x {
		if math.Abs(v) > math.Abs(most) {
			most = v
		}
	}
	return most
}
