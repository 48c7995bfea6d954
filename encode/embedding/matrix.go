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
