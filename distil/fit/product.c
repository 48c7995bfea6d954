#include "product.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif

// A tile of out stays in registers while columns of a and rows of b pass by, the latter copied to where they lie next
// to each other.
#define ROWS 8

WIDE void finish_product(const float *a, int64_t n, int64_t d, const float *b, int64_t e, float *out, int add, float *panel) {
  for (int64_t k = 0; k < e; k += COLUMNS) {
    const int64_t wide = k + COLUMNS <= e ? COLUMNS : e - k;
    for (int64_t r = 0; r < d; r++)
      for (int64_t x = 0; x < COLUMNS; x++) panel[r * COLUMNS + x] = x < wide ? b[r * e + k + x] : 0;
    for (int64_t i = 0; i < n; i += ROWS) {
      const int64_t high = i + ROWS <= n ? ROWS : n - i;
      const float *row[ROWS];
      for (int64_t y = 0; y < ROWS; y++) row[y] = a + (i + (y < high ? y : 0)) * d;
      float sum[ROWS][COLUMNS] = {{0}};
      for (int64_t r = 0; r < d; r++)
        for (int64_t y = 0; y < ROWS; y++)
          for (int64_t x = 0; x < COLUMNS; x++) sum[y][x] += row[y][r] * panel[r * COLUMNS + x];
      for (int64_t y = 0; y < high; y++)
        for (int64_t x = 0; x < wide; x++) {
          float *to = out + (i + y) * e + k + x;
          *to = add ? *to + sum[y][x] : sum[y][x];
        }
    }
  }
}

WIDE void finish_gather(const int32_t *ids, const int64_t *ends, int64_t n, const float *table, int64_t dim, const float *scales, float *out) {
  int64_t begin = 0;
  for (int64_t i = 0; i < n; begin = ends[i++]) {
    float *to = out + i * dim;
    memset(to, 0, sizeof(float) * dim);
    for (int64_t j = begin; j < ends[i]; j++) {
      const float *from = table + (int64_t)ids[j] * dim;
      for (int64_t k = 0; k < dim; k++) to[k] += from[k];
    }
    for (int64_t k = 0; k < dim; k++) to[k] *= scales[i];
  }
}

WIDE double finish_sum(const int32_t *which, int64_t n, const float *rows, int64_t dim, float *out) {
  memset(out, 0, sizeof(float) * dim);
  for (int64_t i = 0; i < n; i++) {
    const float *from = rows + (int64_t)which[i] * dim;
    for (int64_t k = 0; k < dim; k++) out[k] += from[k];
  }
  double squares = 0;
  for (int64_t k = 0; k < dim; k++) squares += (double)out[k] * out[k];
  return squares;
}

WIDE void finish_step(float factor, const float *x, int64_t n, float *y) {
  for (int64_t k = 0; k < n; k++) y[k] += factor * x[k];
}
