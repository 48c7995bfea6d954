package main

/*
#cgo LDFLAGS: -lblas
extern void sgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const float *alpha,
                   const float *a, const int *lda, const float *b, const int *ldb, const float *beta,
                   float *c, const int *ldc);
static void gemm(int m, int n, int k, const float *a, const float *b, float *c) {
    float one = 1, zero = 0;
    sgemm_("T", "N", &m, &n, &k, &one, a, &k, b, &k, &zero, c, &m);
}
*/
import "C"

import (
	"fmt"
	"runtime"

	"bitextmine/index"
	"bitextmine/index/faiss"
)

// rawGEMM multiplies every source row with every target row by BLAS alone and discards the products. A search that only
// calls sgemm cannot be faster. The blocks are large enough for OpenBLAS's best speed.
func rawGEMM(src, tgt index.Side, threads int) error {
	a, b, dim := src.Vectors.F32, tgt.Vectors.F32, src.Vectors.Dim
	if a == nil || b == nil {
		return fmt.Errorf("sgemm supports only float32 rows")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	faiss.SetBLASThreads(threads)
	const blockA, blockB = 16384, 4096
	products := make([]float32, blockA*blockB)
	for i := 0; i < src.Vectors.N; i += blockA {
		m := min(blockA, src.Vectors.N-i)
		for j := 0; j < tgt.Vectors.N; j += blockB {
			n := min(blockB, tgt.Vectors.N-j)
			C.gemm(C.int(m), C.int(n), C.int(dim), (*C.float)(&a[i*dim]), (*C.float)(&b[j*dim]), (*C.float)(&products[0]))
		}
	}
	return nil
}
