// One side's packed block.
#pragma once

#include "lists.h"

typedef struct {
    const kernel *kn;
    int64_t n;       // rows packed
    int64_t width;   // rows of a panel
    int64_t room;    // rows packed at most, a multiple of width
    int64_t steps;   // units of a row
    int32_t whole;   // rows are rounded to whole numbers
    int32_t by_row;  // blocks of panels have a row's units in sequence
    int32_t *rows;   // [room] distinct row of each
    int32_t *panels; // [panels, steps, width] units
    lists lists;
} block;

// The units of a row.
int64_t block_steps(const kernel *kn, int64_t dim);

// Makes room for so many queries, or base rows. Returns 0 when memory is short.
int block_init(block *b, const kernel *kn, int queries, int64_t rows, int64_t steps);
void block_free(block *b);

// Copies the rows of a span into panels, padded with zeros, whose floors no score passes, and empties the lists. final
// has what the lists hold already; NULL: nothing. buf holds 2*dim floats and the units of a row.
void block_pack(block *b, const side *rows, span at, float scale, const final_lists *final, float *buf);
