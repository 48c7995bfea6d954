#include "kernel.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif

WIDE void ls_scatter(const int32_t *ids, const int64_t *ends, int64_t n, const float *weights, const float *rows, int64_t stride, float *out) {
  int64_t begin = 0;
  for (int64_t i = 0; i < n; begin = ends[i++]) {
    float sum[BLOCK];
    for (int k = 0; k < BLOCK; k++) sum[k] = weights[i] * rows[i * stride + k];
    for (int64_t j = begin; j < ends[i]; j++) {
      float *to = out + (int64_t)ids[j] * BLOCK;
      for (int k = 0; k < BLOCK; k++) to[k] += sum[k];
    }
  }
}

WIDE void ls_normal(const int32_t *ids, const int64_t *ends, int64_t n, const float *weights, const float *x, float *out) {
  int64_t begin = 0;
  for (int64_t i = 0; i < n; begin = ends[i++]) {
    float sum[BLOCK] = {0};
    for (int64_t j = begin; j < ends[i]; j++) {
      const float *from = x + (int64_t)ids[j] * BLOCK;
      for (int k = 0; k < BLOCK; k++) sum[k] += from[k];
    }
    for (int k = 0; k < BLOCK; k++) sum[k] *= weights[i];
    for (int64_t j = begin; j < ends[i]; j++) {
      float *to = out + (int64_t)ids[j] * BLOCK;
      for (int k = 0; k < BLOCK; k++) to[k] += sum[k];
    }
  }
}

WIDE void ls_subtract(const int32_t *ids, const int64_t *ends, int64_t n, const float *scales, const float *x, float *rows, int64_t stride) {
  int64_t begin = 0;
  for (int64_t i = 0; i < n; begin = ends[i++]) {
    float sum[BLOCK] = {0};
    for (int64_t j = begin; j < ends[i]; j++) {
      const float *from = x + (int64_t)ids[j] * BLOCK;
      for (int k = 0; k < BLOCK; k++) sum[k] += from[k];
    }
    for (int k = 0; k < BLOCK; k++) rows[i * stride + k] -= scales[i] * sum[k];
  }
}

WIDE void ls_dot(const float *x, const float *y, int64_t n, double *out) {
  double sum[BLOCK] = {0};
  for (int64_t i = 0; i < n; i++)
    for (int k = 0; k < BLOCK; k++) sum[k] += (double)x[i * BLOCK + k] * (double)y[i * BLOCK + k];
  memcpy(out, sum, sizeof sum);
}

WIDE void ls_add(float *x, const float *y, int64_t n, const float *factors) {
  for (int64_t i = 0; i < n; i++)
    for (int k = 0; k < BLOCK; k++) x[i * BLOCK + k] += factors[k] * y[i * BLOCK + k];
}

WIDE void ls_scale(const float *x, const float *factors, int64_t n, float *out) {
  for (int64_t i = 0; i < n; i++)
    for (int k = 0; k < BLOCK; k++) out[i * BLOCK + k] = factors[i] * x[i * BLOCK + k];
}

WIDE void ls_turn(float *x, const float *y, int64_t n, const float *factors) {
  for (int64_t i = 0; i < n; i++)
    for (int k = 0; k < BLOCK; k++) x[i * BLOCK + k] = y[i * BLOCK + k] + factors[k] * x[i * BLOCK + k];
}

// Four rows at a time keep the sums in fewer writes; a row of out stays float32 for 256 rows of a and b.
WIDE void ls_gram(const float *a, int64_t d, const float *b, int64_t e, int64_t n, double *out, float *scratch) {
  const int64_t together = 256;
  for (int64_t lo = 0; lo < n; lo += together) {
    const int64_t hi = lo + together < n ? lo + together : n;
    memset(scratch, 0, sizeof(float) * d * e);
    int64_t i = lo;
    for (; i + 4 <= hi; i += 4) {
      const float *y = b + i * e;
      for (int64_t r = 0; r < d; r++) {
        const float f0 = a[i * d + r], f1 = a[(i + 1) * d + r], f2 = a[(i + 2) * d + r], f3 = a[(i + 3) * d + r];
        float *to = scratch + r * e;
        for (int64_t k = 0; k < e; k++) to[k] += f0 * y[k] + f1 * y[e + k] + f2 * y[2 * e + k] + f3 * y[3 * e + k];
      }
    }
    for (; i < hi; i++)
      for (int64_t r = 0; r < d; r++)
        for (int64_t k = 0; k < e; k++) scratch[r * e + k] += a[i * d + r] * b[i * e + k];
    for (int64_t k = 0; k < d * e; k++) out[k] += (double)scratch[k];
  }
}

WIDE void ls_product(const float *a, int64_t n, int64_t d, const float *b, int64_t e, float *out) {
  for (int64_t i = 0; i < n; i++) {
    float *to = out + i * e;
    memset(to, 0, sizeof(float) * e);
    int64_t r = 0;
    for (; r + 4 <= d; r += 4) {
      const float f0 = a[i * d + r], f1 = a[i * d + r + 1], f2 = a[i * d + r + 2], f3 = a[i * d + r + 3];
      const float *y = b + r * e;
      for (int64_t k = 0; k < e; k++) to[k] += f0 * y[k] + f1 * y[e + k] + f2 * y[2 * e + k] + f3 * y[3 * e + k];
    }
    for (; r < d; r++)
      for (int64_t k = 0; k < e; k++) to[k] += a[i * d + r] * b[r * e + k];
  }
}
