// The loops of the least squares over sparse sentences. Every function works on a block of BLOCK columns, each column
// by itself and in the order of the rows, so that neither the width of the processor's vectors nor the number of
// threads shows in a result. (ISO C, -std=c11, contracts no product and sum.)
#ifndef MINE_DISTIL_KERNEL_H
#define MINE_DISTIL_KERNEL_H

#include <stdint.h>

#define BLOCK 64

// Sentence i has the ids ids[ends[i-1]:ends[i]] (ends[-1] = 0). Matrices are row-major.

// scatter adds weights[i] * rows[i*stride : +BLOCK] to out [pieces, BLOCK] for every id of sentence i.
void ls_scatter(const int32_t *ids, const int64_t *ends, int64_t n, const float *weights, const float *rows, int64_t stride, float *out);

// normal adds weights[i] * sum of x over sentence i's ids to out [pieces, BLOCK] for every id of sentence i.
void ls_normal(const int32_t *ids, const int64_t *ends, int64_t n, const float *weights, const float *x, float *out);

// subtract takes scales[i] * sum of x over sentence i's ids from rows[i*stride : +BLOCK].
void ls_subtract(const int32_t *ids, const int64_t *ends, int64_t n, const float *scales, const float *x, float *rows, int64_t stride);

// dot gives the dot products [BLOCK] of the columns of x and y [n, BLOCK].
void ls_dot(const float *x, const float *y, int64_t n, double *out);

// add adds factors [BLOCK] times y's columns to x's; both [n, BLOCK].
void ls_add(float *x, const float *y, int64_t n, const float *factors);

// scale writes factors [n] times x's rows to out; both [n, BLOCK].
void ls_scale(const float *x, const float *factors, int64_t n, float *out);

// turn writes y + factors [BLOCK] times x's columns to x; both [n, BLOCK].
void ls_turn(float *x, const float *y, int64_t n, const float *factors);

// gram adds the products of a's columns with b's, a [n, d], b [n, e], to out [d, e].
void ls_gram(const float *a, int64_t d, const float *b, int64_t e, int64_t n, double *out, float *scratch);

// product writes a b, a [n, d], b [d, e], to out [n, e].
void ls_product(const float *a, int64_t n, int64_t d, const float *b, int64_t e, float *out);

#endif
