package embedding

import (
	"errors"
	"math"
	"os"

	"bitextmine/internal/badinput"
)

// Shape returns the rows, dim and type of a .npy file, of which it reads the header alone.
func Shape(path string) (Meta, error) {
	f, err := os.Open(path)
	if err != nil {
		return Meta{}, badinput.Errorf("%s cannot be opened: %w", path, err)
	}
	defer func() { _ = f.Close() }() // it is only read
	head := make([]byte, headerLimit+12)
	n, err := f.ReadAt(head, 0)
	if n == 0 && err != nil {
		return Meta{}, badinput.Errorf("%s is empty or cannot be read: %w", path, err)
	}
	h, err := parseHeader(head[:n])
	if err != nil {
		return Meta{}, badinput.Errorf("%s %w", path, err)
	}
	return Meta{N: h.n, Dim: h.dim, DType: h.dtype}, nil
}

// Normalise divides a row by its L2 norm. The error says why that is not possible, as in "is all zeros".
func Normalise(row []float32) error {
	sum := 0.0
	for _, x := range row {
		sum += float64(x) * float64(x)
	}
	switch {
	case math.IsNaN(sum) || math.IsInf(sum, 0):
		return errors.New("has a value that is not finite")
	case sum == 0:
		return errors.New("is all zeros, which has no direction")
	}
	norm := math.Sqrt(sum)
	for d := range row {
		row[d] = float32(float64(row[d]) / norm)
	}
	return nil
}

// unitTolerance is how far from 1 the squared length of a row of float16 numbers may be that had the length 1.
const unitTolerance = 2e-3

// Unit returns the matrix with rows of length 1: as it is if they are, otherwise a copy in float32. name is that of its
// file, for messages.
func (m Matrix) Unit(name string) (Matrix, error) {
	unit, row := true, make([]float32, m.Dim)
	for i := 0; i < m.N && unit; i++ {
		m.Float32(row, i, i+1)
		sum := 0.0
		for _, x := range row {
			sum += float64(x) * float64(x)
		}
		unit = math.Abs(sum-1) <= unitTolerance // false for NaN
	}
	if unit {
		return m, nil
	}
	rows := make([]float32, m.N*m.Dim)
	for i := range m.N {
		one := rows[i*m.Dim : (i+1)*m.Dim]
		m.Float32(one, i, i+1)
		if err := Normalise(one); err != nil {
			return m, badinput.Errorf("%s: row %d %w: leave it out", name, i, err)
		}
	}
	return FromFloat32(rows, m.Dim), nil
}
