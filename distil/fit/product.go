package fit

/*
#cgo CFLAGS: -O3 -std=c11
#include "product.h"
*/
import "C"

import "unsafe"

func floats(x []float32) *C.float { return (*C.float)(unsafe.Pointer(unsafe.SliceData(x))) }

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
	C.finish_product(floats(a), C.int64_t(len(a)/d), C.int64_t(d), floats(b), C.int64_t(e), floats(out), plus, floats(panel))
}

// transposed is a [n, d] as [d, n].
func transposed(a []float32, d int) []float32 {
	n := len(a) / d
	out := make([]float32, len(a))
	for i := range n {
		for k := range d {
			out[k*n+i] = a[i*d+k]
		}
	}
	return out
}

// gather writes scales[i] times the sum of table's rows of sentence i's ids to out [sentences, dim].
func gather(ids []int32, ends []int64, table []float32, dim int, scales, out []float32) {
	C.finish_gather((*C.int32_t)(unsafe.SliceData(ids)), (*C.int64_t)(unsafe.SliceData(ends)), C.int64_t(len(ends)), floats(table), C.int64_t(dim), floats(scales), floats(out))
}

// sumRows writes the sum of rows[which[i]] [dim] to out, and returns its squares' sum.
func sumRows(which []int32, rows []float32, dim int, out []float32) float64 {
	return float64(C.finish_sum((*C.int32_t)(unsafe.SliceData(which)), C.int64_t(len(which)), floats(rows), C.int64_t(dim), floats(out)))
}

// addScaled adds factor times x to y.
func addScaled(factor float32, x, y []float32) {
	C.finish_step(C.float(factor), floats(x), C.int64_t(len(x)), floats(y))
}
