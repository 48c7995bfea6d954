#include "memory.h"
#include "scanner.h"

#include <math.h>
#include <string.h>

static inline float score_at(const scanner *s, int64_t i) {
    return has_int_scores(s->kn->format) ? (float)(((int32_t *)s->scores)[i] * s->p.unit) : ((float *)s->scores)[i];
}

// Gives the scores above a floor to the lists of their row and their column.
static void collect(scanner *s, int64_t row0, int64_t col0, const uint64_t *above) {
    lists *rows = &s->queries.lists, *cols = &s->base.lists;
    int64_t n_rows = s->queries.n, n_cols = s->base.n;
    for (int64_t r = row0; r < n_rows && r < row0 + s->kn->rows; r++) {
        uint64_t bits = above[r - row0];
        if (n_cols - col0 < 64)
            bits &= (1ull << (n_cols - col0)) - 1;
        int64_t at = (r - row0) * s->kn->cols;
        for (; bits; bits &= bits - 1) {
            int64_t lane = __builtin_ctzll(bits), c = col0 + lane;
            float score = score_at(s, at + lane);
            if (score > rows->floor[r])
                lists_append(rows, r, score, s->base.rows[c]);
            if (score > cols->floor[c])
                lists_append(cols, c, score, s->queries.rows[r]);
        }
    }
}

// Scores the packed queries lo to hi with all packed base rows.
static void scan_rows(scanner *s, int64_t lo, int64_t hi) {
    const kernel *kn = s->kn;
    const int32_t *row_bars = s->queries.lists.bar, *col_bars = s->base.lists.bar;
    uint64_t above[MAX_ROWS];
    int64_t tiles = (hi - lo + kn->rows - 1) / kn->rows, panel = kn->cols * s->steps, share = panel / tiles + 1;
    for (int64_t c = 0; c < s->base.n; c += kn->cols) {
        const int32_t *b = s->base.panels + c * s->steps, *next = b + panel;
        for (int64_t r = lo; r < hi; r += kn->rows, next += share) {
            // Each tile fetches its share of the next base panel into the second cache.
            for (int64_t unit = 0; unit < share; unit += 16)
                __builtin_prefetch(next + unit, 0, 2);
            const int32_t *a = s->queries.panels + r * s->steps;
            if (kn->tile(a, b, s->steps, row_bars + r, col_bars + c, s->scores, above))
                collect(s, r, c, above);
        }
    }
}

// CACHED is how many bytes of query panels are run past the base panels at a time: they stay in the second cache.
enum { CACHED = 1 << 20 };

void scanner_scan(scanner *s) {
    int64_t rows = s->queries.n, width = s->kn->rows;
    int64_t part = round_up(CACHED / (4 * s->steps) + 1, width);
    if (s->kn->begin)
        s->kn->begin();
    for (int64_t lo = 0; lo < rows; lo += part)
        scan_rows(s, lo, lo + part < rows ? lo + part : rows);
    if (s->kn->end)
        s->kn->end();
}

void scanner_scores(scanner *s, float *out) {
    const kernel *kn = s->kn;
    int64_t n_rows = s->queries.n, n_cols = s->base.n;
    int32_t lowest[MAX_ROWS + 64];
    uint64_t above[MAX_ROWS];
    for (int i = 0; i < MAX_ROWS + 64; i++) {
        float none = -INFINITY;
        lowest[i] = INT32_MIN;
        if (!has_int_scores(kn->format))
            memcpy(&lowest[i], &none, 4);
    }
    if (kn->begin)
        kn->begin();
    for (int64_t c = 0; c < n_cols; c += kn->cols)
        for (int64_t r = 0; r < n_rows; r += kn->rows) {
            kn->tile(s->queries.panels + r * s->steps, s->base.panels + c * s->steps,
                     s->steps, lowest, lowest, s->scores, above);
            for (int64_t i = r; i < n_rows && i < r + kn->rows; i++)
                for (int64_t j = c; j < n_cols && j < c + kn->cols; j++)
                    out[i * n_cols + j] = score_at(s, (i - r) * kn->cols + j - c);
        }
    if (kn->end)
        kn->end();
}
