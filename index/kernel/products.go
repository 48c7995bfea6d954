package kernel

/*
#include "kernel.h"
*/
import "C"

import "unsafe"

// Dots writes embedding.Dot of queries with base rows to out: each base rows for each query, which ids [queries, each]
// names. which names the queries; nil: the first.
func (kn *Kernel) Dots(queries *Side, which []int32, base *Side, ids []int32, each int, out []float32) {
	buf := make([]float32, 5*base.Dim)
	C.kernel_dots(kn.c, &queries.c, (*C.int32_t)(unsafe.SliceData(which)), C.int64_t(len(ids)/each), &base.c,
		(*C.int32_t)(unsafe.SliceData(ids)), C.int64_t(each), floats(out), floats(buf))
}
