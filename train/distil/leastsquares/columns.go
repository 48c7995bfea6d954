package leastsquares

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

// LowRank cuts a table [pieces, dim] to the rank columns that hold most of its squares, each row counted as often as
// its piece stands in the text: table [pieces, rank] and basis [rank, dim].
func LowRank(values []float32, dim, rank int, counts []int) (table, basis []float32, err error) {
	weighted := slices.Clone(values)
	for i, n := range counts {
		scale := float32(math.Sqrt(float64(n)))
		for k := i * dim; k < (i+1)*dim; k++ {
			weighted[k] *= scale
		}
	}
	squares := make([]float64, dim*dim)
	gram(weighted, dim, weighted, dim, squares)
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(dim, squares), true) {
		return nil, nil, errors.New("the table's columns have no principal axes: it is not finite")
	}
	var axes mat.Dense
	eigen.VectorsTo(&axes) // columns, by rising eigenvalue
	turn, basis := make([]float32, dim*rank), make([]float32, rank*dim)
	for j := range rank {
		column := mat.Col(nil, dim-1-j, &axes)
		if sign := largest(column); sign < 0 {
			for i := range column {
				column[i] = -column[i]
			}
		}
		for i, x := range column {
			turn[i*rank+j], basis[j*dim+i] = float32(x), float32(x)
		}
	}
	return Product(values, dim, turn, rank), basis, nil
}

// largest is the number farthest from 0, whose sign fixes an axis's.
func largest(x []float64) float64 {
	most := 0.0
	for _, v := range x {
		if math.Abs(v) > math.Abs(most) {
			most = v
		}
	}
	return most
}
