#pragma once

#include <stdint.h>
#include <string.h>

// The bfloat16 next to a finite value, the even one of two that are as near.
static inline uint16_t bfloat16_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float bfloat16_value(uint16_t b) {
    uint32_t bits = (uint32_t)b << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

// The quantise of a kernel of this format.
static inline void quantise(int16_t *out, const float *row, int64_t n, float scale) {
    (void)scale;
    for (int64_t i = 0; i < n; i++)
        out[i] = (int16_t)bfloat16_of(row[i]);
}
