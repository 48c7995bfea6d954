// Rounding of float32 to binary16 by the processor's own instruction.
#ifndef EMBEDDING_HALF_H
#define EMBEDDING_HALF_H
#include <stdint.h>

// half_narrow rounds n numbers to nearest, ties to even. It returns 0, and leaves anything in out, if this processor
// has no instruction for it or if a rounded number is not finite.
int half_narrow(const float *in, int64_t n, uint16_t *out);
#endif
