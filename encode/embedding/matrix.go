// Package embedding reads and writes embedding files. An embedding file is a `.npy` of shape [n, dim], C order, float16
// or float32, whose row i is the L2-normalised vector of shard row i. A `.json` beside it names the encoder and the
// shard that it was made from.
package embedding

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"bitextmine/internal/badinput"
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

// stepRows is the number of rows that are looked at between two releases.
const stepRows = 8192

// InSteps calls do, on several cores, with parts lo to hi-1 of n numbers of rows, and releases the rows now and then.
// It stops early when the context ends.
func (m Matrix) InSteps(ctx context.Context, n int, do func(lo, hi int)) error {
	return inParts(n, func(from, to int) error {
		for lo := from; lo < to; lo += stepRows {
			if err := ctx.Err(); err != nil {
				return err
			}
			do(lo, min(lo+stepRows, to))
			if err := m.Release(); err != nil {
				return err
			}
		}
		return nil
	})
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

// Unit returns the matrix with rows of length 1: as it is if they are, otherwise a copy in float32. name is its file's
// name in messages.
func (m Matrix) Unit(name string) (Matrix, error) {
	var other atomic.Bool // a row of another length was found
	err := inParts(m.N, func(lo, hi int) error {
		row := make([]float32, m.Dim)
		for i := lo; i < hi && !other.Load(); i++ {
			m.Float32(row, i, i+1)
			sum := 0.0
			for _, x := range row {
				sum += float64(x) * float64(x)
			}
			if !(math.Abs(sum-1) <= unitTolerance) { // also for NaN
				other.Store(true)
			}
		}
		return nil
	})
	if err != nil || !other.Load() {
		return m, err
	}
	rows := make([]float32, m.N*m.Dim)
	err = inParts(m.N, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			one := rows[i*m.Dim : (i+1)*m.Dim]
			m.Float32(one, i, i+1)
			if err := Normalise(one); err != nil {
				return badinput.Errorf("%s: row %d %w: leave it out", name, i, err)
			}
		}
		return nil
	})
	return FromFloat32(rows, m.Dim), err
}

// inParts divides n rows among all processors. It returns the error of the first part that failed.
func inParts(n int, do func(lo, hi int) error) error {
	threads := runtime.GOMAXPROCS(0)
	errs := make([]error, threads)
	var wait sync.WaitGroup
	for i := range threads {
		wait.Go(func() { errs[i] = do(i*n/threads, (i+1)*n/threads) })
	}
	wait.Wait()
	return cmp.Or(errs...)
}

// narrow rounds x to IEEE 754 binary16, to nearest, ties to even. A value that rounds beyond 65,504 becomes an
// infinity.
func narrow(x float32) uint16 {
	const (
		overflow  = 0x47800000 // 65,536: from here on the result is infinite or NaN
		smallest  = 0x38800000 // 2^-14, the smallest normal binary16
		bias      = 112 << 23  // difference of the exponent biases, shifted to the exponent's place
		alignHalf = 126 << 23  // 0.5: adding it shifts a subnormal's bits to the low end, and the adder rounds them
	)
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	bits &= 0x7fffffff
	switch {
	case bits >= overflow:
		if bits > 0x7f800000 {
			return sign | 0x7e00 // NaN
		}
		return sign | 0x7c00
	case bits < smallest:
		return sign | uint16(math.Float32bits(math.Float32frombits(bits)+0.5)-alignHalf)
	}
	bits += 0xfff + bits>>13&1 // adds half of the last bit that stays, less one unless that bit is odd
	return sign | uint16((bits-bias)>>13)
}

// Widen converts binary16 to float32, which is exact.
func Widen(h uint16) float32 {
	sign, exponent, fraction := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	if exponent-1 < 30 { // normal: one comparison for the exponents 1 to 30
		return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
	}
	if exponent == 0 {
		subnormal := float32(fraction) * (1.0 / (1 << 24))
		return math.Float32frombits(sign | math.Float32bits(subnormal))
	}
	return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
}

// Float32 writes rows lo to hi-1 to dst [hi-lo, Dim] as float32.
func (m Matrix) Float32(dst []float32, lo, hi int) {
	lo, hi = lo*m.Dim, hi*m.Dim
	dst = dst[:hi-lo]
	if m.F32 != nil {
		copy(dst, m.F32[lo:hi])
		return
	}
	for i, h := range m.F16[lo:hi] {
		dst[i] = Widen(h)
	}
}

// Narrow returns m as float16, rounded to nearest, ties to even. A float16 matrix is returned unchanged.
func Narrow(m Matrix) Matrix {
	if m.F16 != nil {
		return m
	}
	out := Matrix{N: m.N, Dim: m.Dim, F16: make([]uint16, len(m.F32))}
	for i, x := range m.F32 {
		out.F16[i] = narrow(x)
	}
	return out
}
