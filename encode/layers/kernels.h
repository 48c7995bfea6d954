// Layers of an encoder in 8 bits, on processors with AVX-512 and VNNI, and in AMX's tiles where there are any: sums of
// products are whole numbers, so both give the same bytes. Tensors are float32 rows, each `stride` numbers after the
// one before; numbers of columns are multiples of 16. A row of a result depends on its own sentence alone.
#ifndef LAYERS_KERNELS_H
#define LAYERS_KERNELS_H
#include <stdint.h>

// layers_supported says whether this processor can run the functions below.
int layers_supported(void);

// layers_tiles says whether the processor has AMX's tiles for products. A process may use them once Linux permits it.
int layers_tiles(void);

// layers_quantise rounds rows x [n, k] to numbers [n, k], 128 for 0, with one scale a row: a number is about
// (numbers - 128) * greatest / 127.
void layers_quantise(const float *x, int64_t stride, int64_t n, int64_t k, uint8_t *numbers, float *greatest);

// layers_quantise_sentences has one scale for all `tokens` rows of each of n sentences; greatest [n * tokens] repeats
// it. `gap` rows of 128 stand before the first sentence and after each.
void layers_quantise_sentences(const float *x, int64_t stride, int64_t n, int64_t tokens, int64_t k, int64_t gap, uint8_t *numbers, float *greatest);

enum { LAYERS_PLAIN, LAYERS_RELU, LAYERS_GELU, LAYERS_TANH_GELU, LAYERS_SILU };

// layers_product multiplies n rows of k numbers, `step` numbers apart, by a matrix [columns/16, k/4, 16, 4]. Row i of
// the product is (sums - shift) * scales * greatest[p] + bias, then `after` it (LAYERS_...), then row p of rest is
// added, or the row is multiplied by it (times). It is written to row p of out: p is i, or with a gap token i %
// (tokens + gap) of sentence i / (tokens + gap), and rows of gaps are left out. bias and rest may be null. k is a
// multiple of 4, columns one of 32; 31 rows after the last are read, too.
void layers_product(const uint8_t *numbers, int64_t step, int64_t n, int64_t k, const int8_t *matrix, const int32_t *shift, const float *scales,
                    const float *greatest, int64_t columns, int64_t tokens, int64_t gap, const float *bias, int after, const float *rest,
                    int64_t rest_stride, int times, int tiles, float *out, int64_t out_stride);

// layers_shifts writes the sums of the columns of such a matrix, times 128: what `shift` is.
void layers_shifts(const int8_t *matrix, int64_t k, int64_t columns, int32_t *shift);

// layers_map writes after(x) (LAYERS_...) to out [n, k], with y added or times y if there is one; with y_stride 0 the
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
