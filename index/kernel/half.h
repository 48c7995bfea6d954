#pragma once

#include <stdint.h>
#include <string.h>

// Widens one float16; exact. Shifted into place, the exponent is off by 112 for every number but infinity and NaN,
// which a multiplication mends, for subnormal numbers too.
static inline float widen_one(uint16_t h) {
    uint32_t bits = (uint32_t)(h & 0x7fff) << 13;
    if (bits >= 0x7c00u << 13)
        bits |= 0x7f800000;
    float value;
    memcpy(&value, &bits, 4);
    if (bits < 0x7f800000)
        value *= 0x1p112f;
    memcpy(&bits, &value, 4);
    bits |= (uint32_t)(h & 0x8000) << 16;
    memcpy(&value, &bits, 4);
    return value;
}
