// The dense and sparse loops of the finish. Matrices are row by row, float32. No sum's order depends on threads, and no
// product and sum are fused, so that every processor gives the same bits.
#ifndef FINISH_PRODUCT_H
#define FINISH_PRODUCT_H
#include <stdint.h>

// COLUMNS of a product are computed together.
#define COLUMNS 32

// product writes a b to out, or adds it; a is [n, d], b [d, e]. panel has room for COLUMNS * d
// numbers.
void finish_product(const float *a, int64_t n, int64_t d, const float *b, int64_t e, float *out, int add, float *panel);

// gather writes scales[i] times the sum of table's rows [dim] of sentence i's ids to out [n, dim].
void finish_gather(const int32_t *ids, const int64_t *ends, int64_t n, const float *table, int64_t dim, const float *scales, float *out);

// sum writes the sum of rows[which[i]] [dim] to out [dim], and returns its squares' sum.
double finish_sum(const int32_t *which, int64_t n, const float *rows, int64_t dim, float *out);

// step adds factor times x to y; both [n].
void finish_step(float factor, const float *x, int64_t n, float *y);
#endif
