// The kernel for x86-64 with AVX512-VNNI: Cascade Lake, Ice Lake and Zen 4 onwards. It scores in int16, at two products
// for each one of float32, and so has twice the speed. Rows are scaled to INTEGER_LENGTH and rounded; the sums are
// exact: no part of a sum can leave int32, as by Cauchy and Schwarz it is at most the product of two lengths.
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c,prefer-vector-width=512")
#include <immintrin.h>

#include "kernel.h"

#include "half.h"

#define NAME "vnni"
#define KERNEL kernel_vnni
#define FORMAT INT16
#define LANES 16
#define ROWS 6
#define VECTORS 4
#define WIDEN8(out, half) _mm256_storeu_ps(out, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(half))))
#define WIDE8(p) _mm512_cvtps_pd(_mm256_loadu_ps(p))

static int tile(const void *pa, const void *pb, int64_t steps, const void *row_floor, const void *col_floor,
                void *scores, uint64_t *above) {
    const int32_t *a = pa;
    const __m512i *b = pb;
    // Sums by name: as an array, GCC 12 keeps them on the stack.
#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)
#define ZERO(r) __m512i s##r##0 = _mm512_setzero_si512(), s##r##1 = s##r##0, s##r##2 = s##r##0, s##r##3 = s##r##0;
#define STEP(r)                                      \
    {                                                \
        __m512i row = _mm512_set1_epi32(a[r]);       \
        s##r##0 = _mm512_dpwssd_epi32(s##r##0, row, b[0]); \
        s##r##1 = _mm512_dpwssd_epi32(s##r##1, row, b[1]); \
        s##r##2 = _mm512_dpwssd_epi32(s##r##2, row, b[2]); \
        s##r##3 = _mm512_dpwssd_epi32(s##r##3, row, b[3]); \
    }
#define GATHER(r) {s##r##0, s##r##1, s##r##2, s##r##3},
    EACH_ROW(ZERO)
    for (int64_t s = 0; s < steps; s++) {
        EACH_ROW(STEP)
        a += ROWS;
        b += VECTORS;
    }
    const __m512i sum[ROWS][VECTORS] = {EACH_ROW(GATHER)};
    const int32_t *rows = row_floor, *cols = col_floor;
    uint64_t any = 0;
    for (int r = 0; r < ROWS; r++) {
        uint64_t bits = 0;
        for (int v = 0; v < VECTORS; v++) {
            __m512i floor = _mm512_min_epi32(_mm512_set1_epi32(rows[r]), _mm512_loadu_si512(cols + v * LANES));
            bits |= (uint64_t)_mm512_cmpgt_epi32_mask(sum[r][v], floor) << (v * LANES);
        }
        above[r] = bits;
        any |= bits;
    }
    if (any == 0)
        return 0;
    for (int r = 0; r < ROWS; r++)
        for (int v = 0; v < VECTORS; v++)
            _mm512_storeu_si512((int32_t *)scores + (r * VECTORS + v) * LANES, sum[r][v]);
    return 1;
}

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
