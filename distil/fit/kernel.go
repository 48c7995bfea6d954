package fit

/*
#cgo CFLAGS: -O3 -std=c11
#include "kernel.h"
#include "product.h"
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// block is how many columns the kernels take.
const block = C.BLOCK

func floats(x []float32) *C.float { return (*C.float)(unsafe.Pointer(unsafe.SliceData(x))) }

func ids32(x []int32) *C.int32_t { return (*C.int32_t)(unsafe.SliceData(x)) }

// Sparse is a matrix [sentences, pieces] of the counts of pieces in sentences, row by row, without its scales.
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
	return ids32(a.IDs), (*C.int64_t)(unsafe.SliceData(a.Ends)), C.int64_t(len(a.Ends))
}

// scatter adds A' diag(weights) rows to out [pieces, block]; rows are block columns, from the first, of a matrix of
// stride columns.
func (a Sparse) scatter(weights, rows []float32, stride int, out []float32) {
	ids, ends, n := a.c()
	C.ls_scatter(ids, ends, n, floats(weights), floats(rows), C.int64_t(stride), floats(out))
}

// normal adds A' diag(weights) A x to out; both [pieces, block].
func (a Sparse) normal(weights, x, out []float32) {
	ids, ends, n := a.c()
	C.ls_normal(ids, ends, n, floats(weights), floats(x), floats(out))
}

// subtract takes diag(scales) A x, x [pieces, block], from block columns of rows.
func (a Sparse) subtract(scales, x, rows []float32, stride int) {
	ids, ends, n := a.c()
	C.ls_subtract(ids, ends, n, floats(scales), floats(x), floats(rows), C.int64_t(stride))
}

// dots are the dot products of the columns of x and y [n, block].
func dots(x, y []float32) (out [block]float64) {
	C.ls_dot(floats(x), floats(y), C.int64_t(len(x)/block), (*C.double)(unsafe.Pointer(&out[0])))
	return out
}

// addColumns adds factors times y's columns to x's.
func addColumns(x, y []float32, factors *[block]float32) {
	C.ls_add(floats(x), floats(y), C.int64_t(len(x)/block), floats(factors[:]))
	runtime.KeepAlive(factors)
}

// scaleRows writes factors [n] times x's rows to out [n, block].
func scaleRows(x, factors, out []float32) {
	C.ls_scale(floats(x), floats(factors), C.int64_t(len(factors)), floats(out))
}

// turnColumns writes to x the sum of y and factors times x's columns [n, block].
func turnColumns(x, y []float32, factors *[block]float32) {
	C.ls_turn(floats(x), floats(y), C.int64_t(len(x)/block), floats(factors[:]))
	runtime.KeepAlive(factors)
}

// gram adds a' b to out [d, e]; a is [n, d], b [n, e]. Sums of 256 rows are float32, the rest float64.
func gram(a []float32, d int, b []float32, e int, out []float64) {
	scratch := make([]float32, d*e)
	C.ls_gram(floats(a), C.int64_t(d), floats(b), C.int64_t(e), C.int64_t(len(a)/d),
		(*C.double)(unsafe.Pointer(&out[0])), floats(scratch))
}

// product writes a b to out, or adds it; a is [n, d], b [d, e].
func product(a []float32, d int, b []float32, e int, out []float32, add bool) {
	if len(a) == 0 {
		return
	}
	plus := C.int(0)
	if add {
		plus = 1
	}
	panel := make([]float32, C.COLUMNS*d)
	C.finish_product(floats(a), C.int64_t(len(a)/d), C.int64_t(d), floats(b), C.int64_t(e), floats(out), plus,
		floats(panel))
}

// gather writes scales[i] times the sum of table's rows of sentence i's ids to out [sentences, dim].
func gather(ids []int32, ends []int64, table []float32, dim int, scales, out []float32) {
	a, e, n := Sparse{IDs: ids, Ends: ends}.c()
	C.finish_gather(a, e, n, floats(table), C.int64_t(dim), floats(scales), floats(out))
}

// sumRows writes the sum of rows[which[i]] [dim] to out, and returns its squares' sum.
func sumRows(which []int32, rows []float32, dim int, out []float32) float64 {
	return float64(C.finish_sum(ids32(which), C.int64_t(len(which)), floats(rows), C.int64_t(dim), floats(out)))
}

// addScaled adds factor times x to y.
func addScaled(factor float32, x, y []float32) {
	C.finish_step(C.float(factor), floats(x), C.int64_t(len(x)), floats(y))
}

// Product is a b; a is [n, d], b [d, e].
func Product(a []float32, d int, b []float32, e int) []float32 {
	out := make([]float32, len(a)/d*e)
	if len(out) > 0 {
		C.ls_product(floats(a), C.int64_t(len(a)/d), C.int64_t(d), floats(b), C.int64_t(e), floats(out))
	}
	return out
}
