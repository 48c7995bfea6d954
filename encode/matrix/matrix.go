// Package matrix multiplies rows of 8-bit numbers by matrices of 8-bit numbers, on processors with AVX-512 and VNNI,
// and in AMX's tiles where there are any. Sums of products are whole numbers, so both give the same bytes.
package matrix

/*
#cgo CFLAGS: -O3 -std=c11 -D_GNU_SOURCE
#include "product.h"
*/
import "C"

import (
	"sync"
	"unsafe"

	"bitextmine/internal/usage"
)

const (
	// Width is how many columns stand together in a matrix; it has a multiple of twice as many.
	Width = C.MATRIX_WIDTH
	// Together is how many numbers of a row are multiplied at once.
	Together = 4
	// SpareRows is how many rows of numbers must follow those that are multiplied.
	SpareRows = 32
)

// Supported says whether this processor can multiply.
var Supported = sync.OnceValue(func() bool { return C.matrix_supported() != 0 })

// tiles says whether products are computed in AMX's tiles.
var tiles = sync.OnceValue(func() bool { return C.matrix_tiles() != 0 && usage.AMXPermitted() })

// Pack puts a matrix [k, columns] into the order of a product: [columns/16, k/4, 16, 4].
func Pack(numbers []byte, columns int) []int8 {
	packed, k := make([]int8, len(numbers)), len(numbers)/columns
	for i, b := range numbers {
		row, column := i/columns, i%columns
		packed[column/Width*k*Width+row/Together*Width*Together+column%Width*Together+row%Together] = int8(b)
	}
	return packed
}

// Shifts are the sums of a packed matrix's columns, times 128.
func Shifts(packed []int8, columns int) []int32 {
	shifts := make([]int32, columns)
	C.matrix_shifts((*C.int8_t)(unsafe.SliceData(packed)), C.int64_t(len(packed)/columns), C.int64_t(columns),
		(*C.int32_t)(unsafe.SliceData(shifts)))
	return shifts
}

// Product is a product of rows and a matrix, and what becomes of its sums. Row i of the result is
// (sums - Shift) * Scales * Greatest[p] + Bias, then After it (AFTER_... of product.h), then row p of Rest is added, or
// the row is multiplied by it (Times). It is written to row p of Out. p is i; with a Gap, so many rows stand between
// sentences of Tokens rows, and p does not count them.
type Product struct {
	Numbers     []uint8   // rows with 128 for 0, Step numbers apart; SpareRows follow
	Step, N, K  int       // N rows of K numbers, a multiple of 4
	Matrix      []int8    // packed
	Columns     int       // a multiple of 32
	Shift       []int32   // [Columns]
	Scales      []float32 // [Columns]
	Greatest    []float32
	Tokens, Gap int
	Bias        []float32 // [Columns]; nil: none
	After       int32
	Rest        *float32 // nil: none
	RestStride  int
	Times       bool
	Out         *float32
	Stride      int
}

// Compute computes the product.
func (p *Product) Compute() {
	C.matrix_product((*C.uint8_t)(unsafe.SliceData(p.Numbers)), C.int64_t(p.Step), C.int64_t(p.N), C.int64_t(p.K),
		(*C.int8_t)(unsafe.SliceData(p.Matrix)), (*C.int32_t)(unsafe.SliceData(p.Shift)), floats(p.Scales), floats(p.Greatest),
		C.int64_t(p.Columns), C.int64_t(p.Tokens), C.int64_t(p.Gap), floats(p.Bias), C.int(p.After), (*C.float)(p.Rest),
		C.int64_t(p.RestStride), flag(p.Times), flag(tiles()), (*C.float)(p.Out), C.int64_t(p.Stride))
}

func floats(s []float32) *C.float { return (*C.float)(unsafe.SliceData(s)) }

func flag(set bool) C.int {
	if set {
		return 1
	}
	return 0
}
