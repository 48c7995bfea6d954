// Layers of an encoder in 8 bits but for their products, on processors that matrix.Supported reports. Tensors are
// float32 rows, each `stride` numbers after the one before; numbers of columns are multiples of 16. A row of a result
// depends on its own sentence alone.
#ifndef LAYERS_KERNELS_H
#define LAYERS_KERNELS_H
#include "../matrix/product.h"

// layers_quantise rounds rows x [n, k] to numbers [n, k], 128 for 0, with one scale a row: a number is about
// (numbers - 128) * greatest / 127.
void layers_quantise(const float *x, int64_t stride, int64_t n, int64_t k, uint8_t *numbers, float *greatest);

// layers_quantise_sentences has one scale for all `tokens` rows of each of n sentences; greatest [n * tokens] repeats
// it. `gap` rows of 128 stand before the first sentence and after each.
void layers_quantise_sentences(const float *x, int64_t stride, int64_t n, int64_t tokens, int64_t k, int64_t gap, uint8_t *numbers, float *greatest);

// layers_map writes after(x) (AFTER_...) to out [n, k], with y added or times y if there is one; with y_stride 0 the
// same row y is taken for all.
void layers_map(int after, const float *x, int64_t x_stride, int times, const float *y, int64_t y_stride, int64_t n, int64_t k, float *out,
                int64_t out_stride);

// layers_normalise gives rows [n, k] mean 0 and variance 1 (with epsilon added), then times scale plus bias.
void layers_normalise(const float *x, int64_t stride, int64_t n, int64_t k, const float *scale, const float *bias, float epsilon, float *out, int64_t out_stride);

// layers_scale divides each of `parts` parts of k columns of rows x by its root mean square (with epsilon added to the
// square), times scale [k].
void layers_scale(const float *x, int64_t stride, int64_t n, int64_t parts, int64_t k, const float *scale, float epsilon, float *out, int64_t out_stride);

// layers_rotate turns the pairs of columns i and i + dim/2 of each head by the angle of its token, whose cosines and
// sines [tokens, dim/2] are given. dim is a multiple of 32.
void layers_rotate(const float *x, int64_t stride, int64_t n, int64_t tokens, int64_t heads, int64_t dim, const float *cosines, const float *sines,
                   float *out, int64_t out_stride);

// layers_mean writes to out [n, k] the mean of the rows of each sentence.
void layers_mean(const float *x, int64_t stride, int64_t n, int64_t tokens, int64_t k, float *out, int64_t out_stride);

// layers_attention writes, for each of n sentences and each head of `dim` columns, softmax(scale q k') v. heads /
// shared heads of queries have one of keys and values. A token looks at those up to `before` before it and up to
// `after` behind it, if these are not negative. dim is a multiple of 16; scratch holds (dim + 4) * (tokens + 31)
// numbers.
void layers_attention(const float *q, int64_t q_stride, const float *k, int64_t k_stride, const float *v, int64_t v_stride, int64_t n, int64_t tokens,
                      int64_t heads, int64_t shared, int64_t dim, int64_t before, int64_t after, float scale, float *scratch, float *out,
                      int64_t out_stride);
#endif
