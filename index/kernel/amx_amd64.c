// The kernel for x86-64 with AMX tiles: Sapphire Rapids onwards. It scores in bfloat16 with float32 sums. A tile
// register holds a block of a panel: 16 rows of 64 bytes. Four of the eight hold the sums of 32 x 32 scores, so that
// each block that is loaded is multiplied twice.
#if defined(__linux__)
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,amx-tile,amx-bf16,prefer-vector-width=512")
#include <immintrin.h>

#include "kernel.h"

#include "bfloat16.h"
#include "half.h"
#include "tiles.h"

#define NAME "amx"
#define KERNEL kernel_amx
#define NARROW kernel_amx_int8
#define FORMAT BFLOAT16
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
        // The base panel is used again at once, the query panels come from the second cache.
        for (int line = 0; line < 2 * REGISTER; line += 64)
            _mm_prefetch(a + 4 * REGISTER + line, _MM_HINT_T0);
        _tile_loadd(4, a, 64);
        _tile_loadd(6, b, 64);
        _tile_loadd(7, b + REGISTER, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(5, a + REGISTER, 64);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
        a += 2 * REGISTER;
        b += 2 * REGISTER;
    }
    float *out = scores;
    _tile_stored(0, out, STRIDE);
    _tile_stored(1, out + 16, STRIDE);
    _tile_stored(2, out + 16 * COLS, STRIDE);
    _tile_stored(3, out + 16 * COLS + 16, STRIDE);
    const float *rows = row_floor, *cols = col_floor;
    __m512 left = _mm512_loadu_ps(cols), right = _mm512_loadu_ps(cols + 16);
    uint64_t any = 0;
    for (int r = 0; r < ROWS; r++) {
        __m512 floor = _mm512_set1_ps(rows[r]);
        uint64_t low = _mm512_cmp_ps_mask(_mm512_load_ps(out + r * COLS), _mm512_min_ps(floor, left), _CMP_GT_OQ);
        uint64_t high = _mm512_cmp_ps_mask(_mm512_load_ps(out + r * COLS + 16), _mm512_min_ps(floor, right), _CMP_GT_OQ);
        above[r] = low | high << 16;
        any |= above[r];
    }
    return any != 0;
}

#include "kernel.inc"
#endif
