// Which BLAS is loaded, and its thread count. See blas.go.
#pragma once

const char *blas_path(void);            // shared object of sgemm_, "" if unknown
const char *blas_openblas_config(void); // NULL when the BLAS is not OpenBLAS
const char *blas_openblas_core(void);   // whose kernels it uses, "" if it does not report it
void blas_openblas_choose(const char *core); // unless OPENBLAS_CORETYPE is already set
const char *blas_best_core(void);       // for this CPU, "" if not known
int blas_openblas_parallel(void);       // 0 sequential, 1 pthread, 2 OpenMP
const char *blas_blis_version(void);    // NULL when the BLAS is not BLIS
int blas_is_mkl(void);
void blas_set_threads(int n);
