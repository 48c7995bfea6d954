// The part of the amx kernel for rows of whole numbers up to 127: int8 products summed in int32, at twice the rate of
// bfloat16. The sums are exact.
#if defined(__linux__)
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,amx-tile,amx-int8,prefer-vector-width=512")
#include <immintrin.h>

#include "kernel.h"

#include "half.h"
#include "tiles.h"

#define NAME "amx-int8"
#define KERNEL kernel_amx_int8
#define FORMAT INT8
#define BLOCKED
#define LANES 16
#define ROWS 32
#define COLS 32
#define WIDEN8(out, half) _mm256_storeu_ps(out, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(half))))
#define WIDE8(p) _mm512_cvtps_pd(_mm256_loadu_ps(p))

static int tile(const void *pa, const void *pb, int64_t steps, const void *row_floor, const void *col_floor,
                void *scores, uint64_t *above) {
    enum { REGISTER = 1024, STRIDE = COLS * 4 };
    const char *a = pa, *b = pb;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t s = 0; s < steps; s += BLOCK) {
        for (int line = 0; line < 2 * REGISTER; line += 64)
            _mm_prefetch(a + 4 * REGISTER + line, _MM_HINT_T0);
        _tile_loadd(4, a, 64);
        _tile_loadd(6, b, 64);
        _tile_loadd(7, b + REGISTER, 64);
        _tile_dpbssd(0, 4, 6);
        _tile_loadd(5, a + REGISTER, 64);
        _tile_dpbssd(1, 4, 7);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
        a += 2 * REGISTER;
        b += 2 * REGISTER;
    }
    int32_t *out = scores;
    _tile_stored(0, out, STRIDE);
    _tile_stored(1, out + 16, STRIDE);
    _tile_stored(2, out + 16 * COLS, STRIDE);
    _tile_stored(3, out + 16 * COLS + 16, STRIDE);
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
