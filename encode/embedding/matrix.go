// Package embedding reads and writes embedding files. An embedding file is a `.npy` of shape [n, dim], C order, float16
// or float32, whose row i is the L2-normalised vector of shard row i. A `.json` beside it names the encoder and the
// shard that it was made from.
package embedding

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Matrix is n row vectors of dim values, C order. Exactly one of F16 and F32 is set. The memory may be a mapped file:
// it is read-only and valid until its File is closed.
type Matrix struct {
	N, Dim int
	F16    []uint16  // IEEE 754 binary16 bits, [n, dim]
	F32    []float32 // [n, dim]

	mapped []byte // the whole file, if that is where the rows are
}

// Release drops the rows of a mapped file from the process's memory until they are read again.
// The system keeps the file in its cache. It may be called while others read the rows.
func (m Matrix) Release() error {
	if len(m.mapped) == 0 {
		return nil
	}
	if err := unix.Madvise(m.mapped, unix.MADV_DONTNEED); err != nil {
		return fmt.Errorf("release an embedding file's memory: %w", err)
	}
	return nil
}

// FromFloat32 wraps rows [n, dim] without copying.
func FromFloat32(rows []float32, dim int) Matrix {
	return Matrix{N: len(rows) / dim, Dim: dim, F32: rows}
}

// Dot returns the inner product of two float32 rows [dim] of equal length. It is accumulated in float64 in one fixed
// order and rounded once to float32. Every cosine that the program writes is computed here, so it is the same whichever
// BLAS, CPU or thread count found the pair.
//
// The order: eight interleaved sums (element i is added to sum i mod 8), then a balanced tree over the eight, then the
// remaining elements in order. The product of two float32 values is exact in float64, so a fused multiply-add gives the
// same bits and a SIMD version may replace this one.
func Dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s [8]float64
	i := 0
	for ; i+8 <= len(a); i += 8 {
		for lane := range s {
			s[lane] += float64(a[i+lane]) * float64(b[i+lane])
		}
	}
	sum := ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
	for ; i < len(a); i++ {
		sum += float64(a[i]) * float64(b[i])
	}
	return float32(sum)
}
