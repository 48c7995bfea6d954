// The kernel for x86-64 with AVX2, FMA and F16C: Haswell and Zen onwards.
#pragma GCC target("avx2,fma,f16c")
#include <immintrin.h>

#include "kernel.h"

#include "half.h"

#define NAME "avx2"
#define KERNEL kernel_avx2
#define LANES 8
#define ROWS 6
#define VECTORS 2
#define ABOVE(v, floor) (unsigned)_mm256_movemask_ps(_mm256_cmp_ps((__m256)(v), (__m256)(floor), _CMP_GT_OQ))
#define WIDEN8(out, half) _mm256_storeu_ps(out, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(half))))

#include "kernel.inc"
