#define _GNU_SOURCE
#include "blas.h"

#include <dlfcn.h>
#include <omp.h>
#include <stddef.h>
#include <stdlib.h>

extern void sgemm_(void);

// The libraries' own functions are looked up by name because the program must start with any of them.
static void *symbol(const char *name) { return dlsym(RTLD_DEFAULT, name); }

const char *blas_path(void) {
    Dl_info info;
    // Through dlsym, not &sgemm_: the address in a non-PIE binary may be that of the binary's own call stub.
    void *sgemm = symbol("sgemm_");
    if (sgemm == NULL || !dladdr(sgemm, &info) || info.dli_fname == NULL)
        return "";
    return info.dli_fname;
}

const char *blas_openblas_config(void) {
    const char *(*config)(void) = symbol("openblas_get_config");
    return config ? config() : NULL;
}

const char *blas_openblas_core(void) {
    const char *(*core)(void) = symbol("openblas_get_corename");
    return core ? core() : "";
}

void blas_openblas_choose(const char *core) {
    void (*quit)(void) = symbol("gotoblas_dynamic_quit");
    void (*init)(void) = symbol("gotoblas_dynamic_init");
    if (quit == NULL || init == NULL || setenv("OPENBLAS_CORETYPE", core, 0) != 0)
        return;
    quit();
    init(); // reads the variable
}

const char *blas_best_core(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "Haswell";
#endif
    return "";
}

int blas_openblas_parallel(void) {
    int (*parallel)(void) = symbol("openblas_get_parallel");
    return parallel ? parallel() : 0;
}

const char *blas_blis_version(void) {
    const char *(*version)(void) = symbol("bli_info_get_version_str");
    return version ? version() : NULL;
}

int blas_is_mkl(void) { return symbol("mkl_get_version") != NULL || symbol("MKL_Get_Version") != NULL; }

void blas_set_threads(int n) {
    // An OpenMP build of OpenBLAS follows this count, which OpenMP keeps per calling thread; FAISS does too.
    omp_set_num_threads(n);
    void (*openblas)(int) = symbol("openblas_set_num_threads");
    if (openblas && blas_openblas_parallel() == 1)
        openblas(n);
    // BLIS's type for a count, dim_t, is 64 bits wide in every 64-bit build.
    void (*blis)(long) = symbol("bli_thread_set_num_threads");
    if (blis)
        blis(n);
}

// Keeps the linker from dropping a BLAS that only other packages call (--as-needed).
void (*const blas_keep)(void) = sgemm_;
