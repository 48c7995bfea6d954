// The part of the amx kernel for rows of whole numbers up to 127: int8 products summed in int32, at twice the rate of
// bfloat16. The sums are exact.
#if defined(__linux__)
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,amx-tile,amx-int8,prefer-vector-width=512")
#include <immintrin.h>

#include "kernel.h"

#include "half.h"
#define MULTIPLY _tile_dpbssd
#include "tiles.h"

#define NAME "amx-int8"
#define KERNEL kernel_amx_int8
#define FORMAT INT8

static int tile(const void *pa, const void *pb, int64_t steps, const void *row_floor, const void *col_floor,
                void *scores, uint64_t *above) {
    multiply(pa, pb, steps, scores);
    const int32_t *out = scores;
    const int32_t *rows = row_floor, *cols = col_floor;
    __m512i left = _mm512_loadu_si512(cols), right = _mm512_loadu_si512(cols + 16);
    uint64_t any = 0;
    for (int r = 0; r < ROWS; r++) {
        __m512i floor = _mm512_set1_epi32(rows[r]);
        uint64_t low = _mm512_cmpgt_epi32_mask(_mm512_load_si512(out + r * COLS), _mm512_min_epi32(floor, left));
        uint64_t high = _mm512_cmpgt_epi32_mask(_mm512_load_si512(out + r * COLS + 16), _mm512_min_epi32(floor, right));
        above[r] = low | high << 16;
        any |= above[r];
    }
    return any != 0;
}

static void quantise(int16_t *out, const float *row, int64_t n, float scale) {
    (void)scale;
    int8_t *bytes = (int8_t *)out;
    for (int64_t i = 0; i < n; i++)
        bytes[i] = (int8_t)(int32_t)row[i];
}

#include "kernel.inc"
#endif
