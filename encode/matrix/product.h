// Products of rows and matrices of 8-bit numbers: see Product in matrix.go.
#ifndef MATRIX_PRODUCT_H
#define MATRIX_PRODUCT_H
#include <stdint.h>

enum { MATRIX_WIDTH = 16 };

// What is computed of a sum.
enum { AFTER_PLAIN, AFTER_RELU, AFTER_GELU, AFTER_TANH_GELU, AFTER_SILU };

// matrix_supported says whether this processor can run the functions below.
int matrix_supported(void);

// matrix_tiles says whether the processor has AMX's tiles for products. A process may use them once Linux permits it.
int matrix_tiles(void);

// matrix_product computes a Product: `after` is AFTER_..., bias and rest may be null, and tiles says whether to take
// AMX's. 31 rows after the last are read, too.
void matrix_product(const uint8_t *numbers, int64_t step, int64_t n, int64_t k, const int8_t *matrix, const int32_t *shift, const float *scales,
                    const float *greatest, int64_t columns, int64_t tokens, int64_t gap, const float *bias, int after, const float *rest,
                    int64_t rest_stride, int times, int tiles, float *out, int64_t out_stride);

// matrix_shifts writes the sums of the columns of such a matrix, times 128: what `shift` is.
void matrix_shifts(const int8_t *matrix, int64_t k, int64_t columns, int32_t *shift);
#endif
