#include "sum.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif

// rest4 is sum4 of the columns from `from` on.
WIDE static void rest4(const int32_t *ids, int64_t n, const int8_t *table, int64_t half, int64_t from, const float *scales, float *out) {
  float *restrict low = out, *restrict high = out + half;
  for (int64_t i = 0; i < n; i++) {
    const int8_t *row = table + ids[i] * half;
    const float scale = scales[ids[i]];
    for (int64_t k = from; k < half; k++) {
      const int32_t both = row[k];
      low[k] += scale * (float)(both & 15);
      high[k] += scale * (float)(both >> 4);
    }
  }
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

enum { LINE = 64, WIDTH = 16, PARTS = LINE / WIDTH, AHEAD = 8 };

// line4 adds one cache line of each row; its columns' sums stay in registers. It asks for as many lines of a later row
// as there are in `ask`.
__attribute__((target("avx512f"))) static void line4(const int32_t *ids, int64_t n, const int8_t *table, int64_t half, const float *scales, float *low, float *high, int64_t ask) {
  __m512 lows[PARTS], highs[PARTS];
  for (int p = 0; p < PARTS; p++) lows[p] = highs[p] = _mm512_setzero_ps();
  const __m512i fifteen = _mm512_set1_epi32(15);
  for (int64_t i = 0; i < n; i++) {
    const int8_t *row = table + ids[i] * half;
    if (i + AHEAD < n)
      for (int64_t k = 0; k < ask; k++) __builtin_prefetch(table + ids[i + AHEAD] * half + k * LINE);
    const __m512 scale = _mm512_set1_ps(scales[ids[i]]);
    for (int p = 0; p < PARTS; p++) {
      const __m512i both = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(row + p * WIDTH)));
      lows[p] = _mm512_add_ps(lows[p], _mm512_mul_ps(scale, _mm512_cvtepi32_ps(_mm512_and_si512(both, fifteen))));
      highs[p] = _mm512_add_ps(highs[p], _mm512_mul_ps(scale, _mm512_cvtepi32_ps(_mm512_srai_epi32(both, 4))));
    }
  }
  for (int p = 0; p < PARTS; p++) {
    _mm512_storeu_ps(low + p * WIDTH, lows[p]);
    _mm512_storeu_ps(high + p * WIDTH, highs[p]);
  }
}

// lines4 sums as many columns of a half as it can, and returns their number.
static int64_t lines4(const int32_t *ids, int64_t n, const int8_t *table, int64_t half, const float *scales, float *out) {
  int64_t done = 0;
  if (!__builtin_cpu_supports("avx512f")) return done;
  for (; done + LINE <= half; done += LINE) line4(ids, n, table + done, half, scales, out + done, out + half + done, done == 0 ? half / LINE : 0);
  return done;
}
#else
static int64_t lines4(const int32_t *ids, int64_t n, const int8_t *table, int64_t half, const float *scales, float *out) { return 0; }
#endif

void static_sum4(const int32_t *ids, int64_t n, const int8_t *table, int64_t dim, const float *scales, float *out) {
  const int64_t half = dim / 2, done = lines4(ids, n, table, half, scales, out);
  if (done < half) rest4(ids, n, table, half, done, scales, out);
}

WIDE void static_sum8(const int32_t *ids, int64_t n, const int8_t *table, int64_t dim, const float *scales, float *out) {
  for (int64_t i = 0; i < n; i++) {
    const int8_t *row = table + ids[i] * dim;
    const float scale = scales[ids[i]];
    for (int64_t k = 0; k < dim; k++) out[k] += scale * (float)row[k];
  }
}
