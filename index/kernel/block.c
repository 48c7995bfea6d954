#include "block.h"

#include <math.h>
#include <string.h>

#include "memory.h"

int64_t block_steps(const kernel *kn, int64_t dim) {
    int64_t values = kn->format == FLOAT32 ? 1 : kn->format == INT8 ? 4 : 2; // of a unit
    int64_t steps = (dim + values - 1) / values;
    return kn->blocked ? round_up(steps, BLOCK) : steps + kn->raised;
}

int block_init(block *b, const kernel *kn, int queries, int64_t rows, int64_t steps) {
    b->kn = kn;
    b->width = queries ? kn->rows : kn->cols;
    b->by_row = queries;
    b->room = round_up(rows, b->width);
    b->steps = steps;
    b->rows = malloc(b->room * sizeof(int32_t));
    b->panels = in_large_pages(b->room * steps * 4);
    return b->rows && b->panels;
}

void block_free(block *b) {
    free(b->rows);
    free(b->panels);
    lists_free(&b->lists);
}

// Copies the units of row i into its panel.
static void place(const block *b, int64_t i, const int32_t *units) {
    int64_t width = b->width, in = i % width;
    int32_t *panel = b->panels + i / width * width * b->steps;
    if (!b->kn->blocked) {
        for (int64_t t = 0; t < b->steps; t++)
            panel[t * width + in] = units[t];
        return;
    }
    panel += in / BLOCK * BLOCK * BLOCK;
    for (int64_t t = 0; t < b->steps; t += BLOCK, panel += width * BLOCK)
        if (b->by_row)
            memcpy(panel + in % BLOCK * BLOCK, units + t, BLOCK * 4);
        else
            for (int64_t j = 0; j < BLOCK; j++)
                panel[j * BLOCK + in % BLOCK] = units[t + j];
}

// How many rows packing is behind the rows that it fetches.
enum { AHEAD = 4 };

// The units of a row: its own memory, or buf, or packed.
static const int32_t *units_of(const block *b, const side *rows, int32_t row, float scale, float *buf, int32_t *packed) {
    const float *values = side_row(b->kn, rows, row, buf);
    if (b->whole) {
        b->kn->whole(buf, values, rows->dim, scale);
        values = buf;
        scale = 1;
    }
    if (b->kn->quantise == NULL)
        return (const int32_t *)values;
    if (b->by_row || b->kn->quantise_base == NULL)
        b->kn->quantise((int16_t *)packed, values, rows->dim, scale);
    else
        b->kn->quantise_base((int16_t *)packed, values, rows->dim, scale);
    return packed;
}

void block_pack(block *b, const side *rows, span at, float scale, const final_lists *final, float *buf) {
    lists *l = &b->lists;
    int32_t *packed = (int32_t *)(buf + rows->dim);
    memset(packed, 0, b->steps * sizeof(int32_t));
    b->n = at.hi - at.lo;
    for (int64_t i = 0; i < b->n; i++)
        b->rows[i] = span_row(&at, at.lo + i, rows->n);
    for (int64_t i = 0; i < b->n; i++) {
        if (i + AHEAD < b->n) {
            side_fetch(rows, b->rows[i + AHEAD]);
            if (final)
                lists_fetch(final, b->rows[i + AHEAD]);
        }
        place(b, i, units_of(b, rows, b->rows[i], scale, buf, packed));
        lists_clear(l, i);
        if (final)
            lists_start(l, i, final, b->rows[i]);
    }
    memset(packed, 0, b->steps * sizeof(int32_t));
    for (int64_t i = b->n; i < round_up(b->n, b->width); i++) {
        place(b, i, packed);
        lists_set_floor(l, i, INFINITY);
    }
}
