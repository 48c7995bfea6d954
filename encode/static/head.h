// What follows the sums of a static encoder in 8 bits, on processors with AVX-512 and VNNI. Sums of products are whole
// numbers, and no product and sum of floating-point numbers are fused.
#ifndef STATIC_HEAD_H
#define STATIC_HEAD_H
#include <stdint.h>

// head_supported says whether this processor can run the functions below.
int head_supported(void);

// head_quantise rounds rows x [n, k] to numbers [n, k], 128 for 0, with one scale a row: a number is about
// (numbers - 128) * greatest / 127. k must be a multiple of 16.
void head_quantise(const float *x, int64_t n, int64_t k, uint8_t *numbers, float *greatest);

// head_product writes to out [n, columns] the products of quantised rows and a matrix, times scales [columns] and
// greatest [n]. The matrix is [columns/16, k/4, 16, 4]; shift [columns] is 128 times the sum of each of its columns. k
// must be a multiple of 4, columns one of 32.
void head_product(const uint8_t *numbers, int64_t n, int64_t k, const int8_t *matrix, const int32_t *shift, const float *scales, const float *greatest, int64_t columns, float *out);

// Of n numbers, a multiple of 16. out may be an input.
void head_relu(const float *x, int64_t n, float *out);
void head_add(const float *x, const float *y, int64_t n, float *out);
void head_tanh(const float *x, int64_t n, float *out);

// head_normalise gives rows [n, k] length 1; a row of zeros stays. k must be a multiple of 16.
void head_normalise(const float *x, int64_t n, int64_t k, float *out);
#endif
