// The amx kernel without AMX: the same panels, the same sums to the bit. It is for tests on CPUs that have no tiles.
#include "kernel.h"

#include "bfloat16.h"
#include "half.h"

#define NAME "amx-emulated"
#define KERNEL kernel_amx_emulated
#define FORMAT BFLOAT16
#define BLOCKED
#define LANES 4
#define ROWS 32
#define COLS 32
#define WIDEN8(out, half) widen8(out, half)

static inline void widen8(float *out, const uint16_t *half) {
    for (int i = 0; i < 8; i++)
        out[i] = widen_one(half[i]);
}

static void begin(void) {}
static void end(void) {}

typedef float v16f __attribute__((vector_size(64)));
typedef int32_t v16i __attribute__((vector_size(64)));

// AMX takes denormal values for zeros and makes zeros of denormal results.
static inline v16f flush(v16f v) {
    v16i bits = (v16i)v;
    return (v16f)(bits & (((bits & 0x7f800000) != 0) | INT32_MIN));
}

typedef double v16d __attribute__((vector_size(128)));

// sum + value*values, rounded once: the product and its sum are exact in float64, or too far apart to matter.
static inline v16f fused(v16f sum, uint16_t value, v16f values) {
    v16d product = __builtin_convertvector(flush((v16f){0} + bfloat16_value(value)), v16d) *
                   __builtin_convertvector(flush(values), v16d);
    return flush(__builtin_convertvector(__builtin_convertvector(sum, v16d) + product, v16f));
}

// TDPBF16PS on blocks a [16 rows, 16 units] and b [16 units, 16 columns]: the even and the odd values are summed apart,
// their sum is added to the tile's (Intel's Software Developer's Manual, volume 2).
static void multiply(v16f *sum, const uint32_t *a, const v16i *b) {
    for (int r = 0; r < BLOCK; r++) {
        v16f even = {0}, odd = {0};
        for (int s = 0; s < BLOCK; s++) {
            uint32_t unit = a[r * BLOCK + s];
            even = fused(even, (uint16_t)unit, (v16f)(b[s] << 16));
            odd = fused(odd, (uint16_t)(unit >> 16), (v16f)(b[s] & (int32_t)0xffff0000));
        }
        sum[r] = flush(sum[r] + flush(even + odd));
    }
}

static int tile(const void *pa, const void *pb, int64_t steps, const void *row_floor, const void *col_floor,
                void *scores, uint64_t *above) {
    enum { UNITS = BLOCK * BLOCK };
    const uint32_t *a = pa, *b = pb;
    v16f sums[4][BLOCK] = {0};
    for (int64_t s = 0; s < steps; s += BLOCK) {
        for (int quarter = 0; quarter < 4; quarter++)
            multiply(sums[quarter], a + quarter / 2 * UNITS, (const v16i *)(b + quarter % 2 * UNITS));
        a += 2 * UNITS;
        b += 2 * UNITS;
    }
    const float *rows = row_floor, *cols = col_floor;
    float *out = scores;
    uint64_t any = 0;
    for (int r = 0; r < ROWS; r++) {
        above[r] = 0;
        for (int c = 0; c < COLS; c++) {
            float score = sums[r / BLOCK * 2 + c / BLOCK][r % BLOCK][c % BLOCK];
            float floor = rows[r] < cols[c] ? rows[r] : cols[c];
            out[r * COLS + c] = score;
            above[r] |= (uint64_t)(score > floor) << c;
        }
        any |= above[r];
    }
    return any != 0;
}

#include "kernel.inc"
