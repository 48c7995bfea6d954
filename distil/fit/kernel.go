package fit

/*
#cgo CFLAGS: -O3 -std=c11
#include "kernel.h"
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// block is how many columns the kernels take.
const block = C.BLOCK

func cFloats(x []float32) *C.float { return (*C.float)(unsafe.Pointer(unsafe.SliceData(x))) }

// Sparse is a matrix [sentences, pieces] of how often a piece stands in a sentence, row by row, without its scales.
type Sparse struct {
	IDs  []int32
	Ends []int64
}

// Rows is the number of sentences.
func (a Sparse) Rows() int { return len(a.Ends) }

// At is the ids of row i.
func (a Sparse) At(i int) []int32 {
	lo := int64(0)
	if i > 0 {
		lo = a.Ends[i-1]
	}
	return a.IDs[lo:a.Ends[i]]
}

func (a Sparse) c() (*C.int32_t, *C.int64_t, C.int64_t) {
	return (*C.int32_t)(unsafe.Pointer(unsafe.SliceData(a.IDs))), (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(a.Ends))), C.int64_t(len(a.Ends))
}

// scatter adds A' diag(weights) rows to out [pieces, block]; rows are block columns, from the first, of a matrix of
// stride columns.
func (a Sparse) scatter(weights, rows []float32, stride int, out []float32) {
	ids, ends, n := a.c()
	C.ls_scatter(ids, ends, n, cFloats(weights), cFloats(rows), C.int64_t(stride), cFloats(out))
}

// normal adds A' diag(weights) A x to out; both [pieces, block].
func (a Sparse) normal(weights, x, out []float32) {
	ids, ends, n := a.c()
	C.ls_normal(ids, ends, n, cFloats(weights), cFloats(x), cFloats(out))
}

// subtract takes diag(scales) A x, x [pieces, block], from block columns of rows.
func (a Sparse) subtract(scales, x, rows []float32, stride int) {
	ids, ends, n := a.c()
	C.ls_subtract(ids, ends, n, cFloats(scales), cFloats(x), cFloats(rows), C.int64_t(stride))
}

// dots are the dot products of the columns of x and y [n, block].
func dots(x, y []float32) (out [block]float64) {
	C.ls_dot(cFloats(x), cFloats(y), C.int64_t(len(x)/block), (*C.double)(unsafe.Pointer(&out[0])))
	return out
}

// addColumns adds factors times y's columns to x's.
func addColumns(x, y []float32, factors *[block]float32) {
	C.ls_add(cFloats(x), cFloats(y), C.int64_t(len(x)/block), cFloats(factors[:]))
	runtime.KeepAlive(factors)
}

// scaleRows writes factors [n] times x's rows to out [n, block].
func scaleRows(x, factors, out []float32) {
	C.ls_scale(cFloats(x), cFloats(factors), C.int64_t(len(factors)), cFloats(out))
}

// turnColumns makes x of y and factors times x's columns [n, block].
func turnColumns(x, y []float32, factors *[block]float32) {
	C.ls_turn(cFloats(x), cFloats(y), C.int64_t(len(x)/block), cFloats(factors[:]))
	runtime.KeepAlive(factors)
}

// gram adds a' b to out [d, e]; a is [n, d], b [n, e]. Sums of 256 rows are float32, the rest float64.
func gram(a []float32, d int, b []float32, e int, out []float64) {
	scratch := make([]float32, d*e)
	C.ls_gram(cFloats(a), C.int64_t(d), cFloats(b), C.int64_t(e), C.int64_t(len(a)/d), (*C.double)(unsafe.Pointer(&out[0])), cFloats(scratch))
}

// Product is a b; a is [n, d], b [d, e].
func Product(a []float32, d int, b []float32, e int) []float32 {
	out := make([]float32, len(a)/d*e)
	if len(out) > 0 {
		C.ls_product(cFloats(a), C.int64_t(len(a)/d), C.int64_t(d), cFloats(b), C.int64_t(e), cFloats(out))
	}
	return out
}
