// What follows the sums of a static encoder in 8 bits. Sums of products are whole numbers, sums of floating-point
// numbers have a fixed order, and a product and a sum are fused in head_multiply alone, on every processor: all compute
// the same bytes.
#ifndef STATIC_HEAD_H
#define STATIC_HEAD_H
#include <stdint.h>

// HEAD_WIDTH is how many numbers are taken together, and HEAD_BLOCK how many columns of a matrix.
enum { HEAD_WIDTH = 16, HEAD_BLOCK = 2 * HEAD_WIDTH };

// head_quantise rounds rows x [n, k] to numbers [n, k], 128 for 0, with one scale a row: a number is about
// (numbers - 128) * greatest / 127.
void head_quantise(const float *x, int64_t n, int64_t k, uint8_t *numbers, float *greatest);

// head_product writes to out [n, columns] the products of quantised rows and a matrix [columns, k] of 8-bit numbers,
// times scales [columns] and greatest [n].
void head_product(const uint8_t *numbers, int64_t n, int64_t k, const int16_t *matrix, const float *scales, const float *greatest, int64_t columns, float *out);

// head_product_avx2 is head_product for a processor with AVX2 and FMA, which head_has_avx2 reports. The matrix is
// [columns/16, k/2, 16, 2]. k must be even, columns a multiple of 16.
void head_product_avx2(const uint8_t *numbers, int64_t n, int64_t k, const int16_t *matrix, const float *scales, const float *greatest, int64_t columns, float *out);
int head_has_avx2(void);

// head_multiply writes to out [n, columns] the products of rows x [n, k] and a matrix [columns/32, k, 32]. The others
// do so on the processors of head_product_avx2 and of matrix.Product.
void head_multiply(const float *x, int64_t n, int64_t k, const float *matrix, int64_t columns, float *out);
void head_multiply_avx2(const float *x, int64_t n, int64_t k, const float *matrix, int64_t columns, float *out);
void head_multiply_avx512(const float *x, int64_t n, int64_t k, const float *matrix, int64_t columns, float *out);

// Of n numbers. out may be an input.
void head_relu(const float *x, int64_t n, float *out);
void head_add(const float *x, const float *y, int64_t n, float *out);
void head_tanh(const float *x, int64_t n, float *out);

// head_normalise gives rows [n, k] length 1; a row of zeros stays. k must be a multiple of 16.
void head_normalise(const float *x, int64_t n, int64_t k, float *out);
#endif
