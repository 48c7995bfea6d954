// The kernel for x86-64 with AVX-512: Skylake-X and Zen 4 onwards.
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,prefer-vector-width=512")
#include <immintrin.h>

#include "kernel.h"

#include "half.h"

#define NAME "avx512"
#define KERNEL kernel_avx512
#define LANES 16
#define ROWS 6
#define VECTORS 4
#define ABOVE(v, floor) _mm512_cmp_ps_mask((__m512)(v), (__m512)(floor), _CMP_GT_OQ)
#define WIDEN8(out, half) _mm256_storeu_ps(out, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(half))))
#define WIDE8(p) _mm512_cvtps_pd(_mm256_loadu_ps(p))

#include "kernel.inc"
