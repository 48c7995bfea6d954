// The part of the vnni kernel for rows of whole numbers up to 127: int8 products summed in int32, at twice the rate of
// int16. The sums are exact. The instruction multiplies numbers without a sign by numbers with one, so queries are
// raised by 128, and the last unit of a base row is what that adds to each of its sums, with the other sign.
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c,prefer-vector-width=512")
#include <immintrin.h>

#include "kernel.h"

#include "half.h"

#define NAME "vnni-int8"
#define KERNEL kernel_vnni_int8
#define FORMAT INT8
#define MULTIPLY _mm512_dpbusd_epi32
#define RAISED 1
#include "vnni.h"

static void quantise(int16_t *out, const float *row, int64_t n, float scale) {
    (void)scale;
    uint8_t *bytes = (uint8_t *)out;
    for (int64_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)((int32_t)row[i] + 128);
}

static void quantise_base(int16_t *out, const float *row, int64_t n, float scale) {
    (void)scale;
    int8_t *bytes = (int8_t *)out;
    int32_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        bytes[i] = (int8_t)(int32_t)row[i];
        sum += bytes[i];
    }
    ((int32_t *)out)[(n + 3) / 4] = -128 * sum;
}

#include "kernel.inc"
