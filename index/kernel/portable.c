// The kernel for any CPU that GCC has vectors for: SSE2, NEON, and scalar code where there are none.
#include "kernel.h"

#include "half.h"

#define NAME "portable"
#define KERNEL kernel_portable
#define LANES 4
#define ROWS 4
#define VECTORS 2
#define ABOVE(v, floor) above4((v) > (floor))
#define WIDEN8(out, half) widen8(out, half)

typedef int32_t v4i __attribute__((vector_size(16)));

static inline unsigned above4(v4i is) { return (is[0] & 1) | (is[1] & 2) | (is[2] & 4) | (is[3] & 8); }

static inline void widen8(float *out, const uint16_t *half) {
    for (int i = 0; i < 8; i++)
        out[i] = widen_one(half[i]);
}

#include "kernel.inc"
