// The kernel for x86-64 with AMX tiles: Sapphire Rapids onwards. It scores in bfloat16 with float32 sums. A tile
// register holds a block of a panel: 16 rows of 64 bytes. Four of the eight hold the sums of 32 x 32 scores, so that
// each block that is loaded is multiplied twice.
#if defined(__linux__)
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,amx-tile,amx-bf16,prefer-vector-width=512")
#include <immintrin.h>

#include "kernel.h"

#include "bfloat16.h"
#include "half.h"
#define MULTIPLY _tile_dpbf16ps
#include "tiles.h"

#define NAME "amx"
#define KERNEL kernel_amx
#define NARROW kernel_amx_int8
#define FORMAT BFLOAT16

static int tile(const void *pa, const void *pb, int64_t steps, const void *row_floor, const void *col_floor,
                void *scores, uint64_t *above) {
    multiply(pa, pb, steps, scores);
    const float *out = scores;
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
