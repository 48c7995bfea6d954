// The tile of kernels with AVX512-VNNI. MULTIPLY is the instruction that adds the products of a unit's values to a sum,
// RAISED how many units stand at a base row's end for its sums to begin with: 1 or 0.
#pragma once

#include <immintrin.h>
#include <stdint.h>

#define LANES 16
#define ROWS 6
#define VECTORS 4
#define WIDEN8(out, half) _mm256_storeu_ps(out, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(half))))
#define WIDE8(p) _mm512_cvtps_pd(_mm256_loadu_ps(p))

static int tile(const void *pa, const void *pb, int64_t steps, const void *row_floor, const void *col_floor,
                void *scores, uint64_t *above) {
    const int32_t *a = pa;
    const __m512i *b = pb, none[VECTORS] = {0}, *start = RAISED ? b + (steps - 1) * VECTORS : none;
    // Sums by name: as an array, GCC 12 keeps them on the stack.
#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)
#define START(r) __m512i s##r##0 = start[0], s##r##1 = start[1], s##r##2 = start[2], s##r##3 = start[3];
#define STEP(r)                                      \
    {                                                \
        __m512i row = _mm512_set1_epi32(a[r]);       \
        s##r##0 = MULTIPLY(s##r##0, row, b[0]);      \
        s##r##1 = MULTIPLY(s##r##1, row, b[1]);      \
        s##r##2 = MULTIPLY(s##r##2, row, b[2]);      \
        s##r##3 = MULTIPLY(s##r##3, row, b[3]);      \
    }
#define GATHER(r) {s##r##0, s##r##1, s##r##2, s##r##3},
    EACH_ROW(START)
    for (int64_t s = RAISED; s < steps; s++) {
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
