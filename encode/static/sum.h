// The sum of a static encoder's rows. Numbers are added in the order of the ids, and no product and sum are fused, so
// that every processor gives the same bits.
#ifndef STATIC_SUM_H
#define STATIC_SUM_H
#include <stdint.h>

// sum4 writes to out [dim], which must be all zero, the sum of scales[id] times the numbers of row id for every id; a
// row is dim/2 bytes: the number of a column of the first half in the low bits, less 8 that of its fellow of the second
// in the high ones.
void static_sum4(const int32_t *ids, int64_t n, const int8_t *table, int64_t dim, const float *scales, float *out);

// sum8 is the same of rows of dim bytes, a number each.
void static_sum8(const int32_t *ids, int64_t n, const int8_t *table, int64_t dim, const float *scales, float *out);
#endif
