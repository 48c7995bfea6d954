// Package embedding reads and writes embedding files. An embedding file is a `.npy` of shape [n, dim], C order, float16
// or float32, whose row i is the L2-normalised vector of shard row i. A `.json` beside it names the encoder and the
// shard that it was made from.
package embedding

// Matrix is n row vectors of dim values, C order. Exactly one of F16 and F32 is set. The memory may be a mapped file:
// it is read-only and valid until its File is closed.
type Matrix struct {
	N, Dim int
	F16    []uint16  // IEEE 754 binary16 bits, [n, dim]
	F32    []float32 // [n, dim]
}

// FromFloat32 wraps rows [n, dim] without copying.
func FromFloat32(rows []float32, dim int) Matrix {
	return Matrix{N: len(rows) / dim, Dim: dim, F32: rows}
}
