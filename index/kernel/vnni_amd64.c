// The kernel for x86-64 with AVX512-VNNI: Cascade Lake, Ice Lake and Zen 4 onwards. It scores in int16, at two products
// for each one of float32, and so has twice the speed. Rows are scaled to INTEGER_LENGTH and rounded; the sums are
// exact: no part of a sum can leave int32, as by Cauchy and Schwarz it is at most the product of two lengths.
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c,prefer-vector-width=512")
#include <immintrin.h>

#include "kernel.h"

#include "half.h"

#define NAME "vnni"
#define KERNEL kernel_vnni
#define NARROW kernel_vnni_int8
#define FORMAT INT16

#define MULTIPLY _mm512_dpwssd_epi32
#define RAISED 0
#include "vnni.h"

static void quantise(int16_t *out, const float *row, int64_t n, float scale) {
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m512i q = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(row + i), _mm512_set1_ps(scale)));
        _mm256_storeu_si256((__m256i *)(out + i), _mm512_cvtepi32_epi16(q));
    }
    for (; i < n; i++)
        out[i] = (int16_t)_mm_cvtss_si32(_mm_set_ss(row[i] * scale));
}

#include "kernel.inc"
