// The fused pass: scores of a block of queries with a block of base rows, candidates of both sides kept from the same
// tile.
#pragma once

#include "kernel.h"

typedef struct scanner scanner;

// Score-domain settings. A score times unit is the inner product, off by at most slack.
typedef struct {
    float query_scale, base_scale; // integer kernels: rows are scaled before they are rounded
    int32_t whole;                 // rows are scaled and rounded to whole numbers in every kernel, and scores are exact
    double unit;
    double slack;
    // a score this far below the k-th cannot be among the k nearest: twice the slack, and float32 rounding
    double window;
} precision;

// One thread's memory for blocks of at most `queries` and `base` rows; NULL when memory is short.
scanner *scanner_new(const kernel *kn, precision p, int64_t dim, int64_t k, int64_t queries, int64_t base);
void scanner_free(scanner *s);

// Makes room to notice pairs whose cosine is in the final lists already; every block must then be packed with its final
// lists. Returns 0 when memory is short.
int scanner_expect_repeats(scanner *s);

// How many bytes scanner_new allocates at most, whatever the kernel.
int64_t scanner_bytes(int64_t dim, int64_t k, int64_t queries, int64_t base);

// Packs the base rows of a span and forgets the candidates of the last block. Their floors are what their final lists
// hold already; NULL: nothing.
void scanner_base(scanner *s, const side *base, span at, const final_lists *lists);

// Packs the queries of a span, likewise.
void scanner_queries(scanner *s, const side *queries, span at, const final_lists *lists);

// Scores the packed queries with the packed base rows.
void scanner_scan(scanner *s);

// Writes all scores [queries, base rows] of what is packed, as inner products. It is for tests.
void scanner_scores(scanner *s, float *out);

// Refines the candidates of the packed queries, or of the packed base rows, into their final lists, which hold cosines
// or, where rows are whole numbers, products. Writes the distinct rows whose lists are not proven to unproven and
// returns their number.
int64_t scanner_settle_queries(scanner *s, const side *queries, const side *base, const final_lists *lists, int32_t *unproven);
int64_t scanner_settle_base(scanner *s, const side *queries, const side *base, const final_lists *lists, int32_t *unproven);

// Where rows are whole numbers: offers to the final lists of the given queries, or base rows, the products with every
// row of a span of the other side.
void scanner_exhaust_queries(scanner *s, const side *queries, const side *base, const final_lists *lists,
                             const int32_t *which, int64_t n, span at);
void scanner_exhaust_base(scanner *s, const side *queries, const side *base, const final_lists *lists,
                          const int32_t *which, int64_t n, span at);

// Prepares what is packed for scanner_nearest: the base rows take no candidates, and the queries those alone whose
// products are at most span below their best; infinite: all.
void scanner_only_nearest(scanner *s, double span);

// Writes the k nearest of the packed base rows within the span for each packed query to out [queries, k], in no order,
// their products to products, and how many there are to counts. They are those of the largest products of rows as whole
// numbers, of equal ones the rows that come first in the base side's order, or the lower ones without it.
void scanner_nearest(scanner *s, const side *queries, const side *base, int32_t *out, float *products, int32_t *counts);
