#include "sum.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif

WIDE void static_sum4(const int32_t *ids, int64_t n, const int8_t *table, int64_t dim, const float *scales, float *out) {
  const int64_t half = dim / 2;
  float *restrict low = out, *restrict high = out + half;
  for (int64_t i = 0; i < n; i++) {
    const int8_t *row = table + ids[i] * half;
    if (i + 2 < n) __builtin_prefetch(table + ids[i + 2] * half);
    const float scale = scales[ids[i]];
    for (int64_t k = 0; k < half; k++) {
      const int32_t both = row[k];
      low[k] += scale * (float)(both & 15);
      high[k] += scale * (float)(both >> 4);
    }
  }
}

WIDE void static_sum8(const int32_t *ids, int64_t n, const int8_t *table, int64_t dim, const float *scales, float *out) {
  for (int64_t i = 0; i < n; i++) {
    const int8_t *row = table + ids[i] * dim;
    const float scale = scales[ids[i]];
    for (int64_t k = 0; k < dim; k++) out[k] += scale * (float)row[k];
  }
}
