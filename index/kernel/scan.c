#include "scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A candidate's position is that on the other side.
typedef struct {
    float score; // an approximate inner product
    int32_t position;
} candidate;

// Candidate lists of a block's rows. A list is cut back when it has grown by `grow` since the last time: often enough
// for its floor to stay near the k-th score, which keeps most scores out. At most `keep` stay.
typedef struct {
    int64_t k, keep, grow, room;
    double window;    // a row this far below the k-th score cannot be among the k nearest
    candidate *items; // [rows, room]
    int32_t *count;   // [rows]
    int32_t *limit;   // [rows] the count at which to cut back
    float *floor;     // [rows] every score not in the list is at most this
    void *bar;        // [rows] the floor as tiles compare it: float32 or int32
} lists;

// One side's packed block.
typedef struct {
    int64_t lo, hi, step; // positions
    int64_t width;        // rows of a panel
    int64_t room;         // rows packed at most, a multiple of width
    void *panels;         // [panels, steps, width] units
    lists lists;
} block;

struct scanner {
    const kernel *kn;
    precision p;
    int64_t dim, steps;
    block queries, base;
    float *row;      // 5 rows of scratch
    int32_t *packed; // one packed row
    void *scores;    // one tile
    int32_t *ids;    // candidates of one list
};

static void *aligned(size_t size) { return aligned_alloc(64, (size + 63) / 64 * 64 + 64); }

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// room for near copies; what does not fit is found out by its floor
static int64_t keep_of(int64_t k) { return k + 124; }

static int64_t grow_of(int64_t k) { return 2 * k + 4; }

int64_t scanner_bytes(int64_t dim, int64_t k, int64_t queries, int64_t base) {
    int64_t list = (keep_of(k) + grow_of(k)) * (int64_t)sizeof(candidate) + 16;
    return (queries + base + 128) * (4 * dim + list);
}

static int block_init(block *b, int64_t rows, int64_t width, int64_t steps, int64_t k, double window) {
    b->width = width;
    b->room = round_up(rows, width);
    b->panels = aligned(b->room * steps * 4);
    lists *l = &b->lists;
    l->k = k;
    l->keep = keep_of(k);
    l->grow = grow_of(k);
    l->room = l->keep + l->grow;
    l->window = window;
    l->items = malloc(b->room * l->room * sizeof(candidate));
    l->count = malloc(b->room * sizeof(int32_t));
    l->limit = malloc(b->room * sizeof(int32_t));
    l->floor = malloc(b->room * sizeof(float));
    l->bar = malloc(b->room * 4);
    return b->panels && l->items && l->count && l->limit && l->floor && l->bar;
}

static void block_free(block *b) {
    free(b->panels);
    free(b->lists.items);
    free(b->lists.count);
    free(b->lists.limit);
    free(b->lists.floor);
    free(b->lists.bar);
}

scanner *scanner_new(const kernel *kn, precision p, int64_t dim, int64_t k, int64_t queries, int64_t base) {
    scanner *s = calloc(1, sizeof(scanner));
    if (s == NULL)
        return NULL;
    s->kn = kn;
    s->p = p;
    s->dim = dim;
    s->steps = kn->integer ? (dim + 1) / 2 : dim;
    int ok = block_init(&s->queries, queries, kn->rows, s->steps, k, p.window);
    ok = block_init(&s->base, base, kn->cols, s->steps, k, p.window) && ok;
    s->row = malloc(5 * dim * sizeof(float));
    s->packed = calloc(s->steps, 4);
    s->scores = aligned((size_t)kn->rows * kn->cols * 4);
    s->ids = malloc(s->queries.lists.room * sizeof(int32_t));
    if (!ok || !s->row || !s->packed || !s->scores || !s->ids) {
        scanner_free(s);
        return NULL;
    }
    return s;
}

void scanner_free(scanner *s) {
    if (s == NULL)
        return;
    block_free(&s->queries);
    block_free(&s->base);
    free(s->row);
    free(s->packed);
    free(s->scores);
    free(s->ids);
    free(s);
}

static int64_t row_at(const block *b, int64_t i, const side *rows) { return (b->lo + i) * b->step % rows->n; }

// Sets row i's floor, and the bar that says the same to a tile.
static void set_floor(const scanner *s, lists *l, int64_t i, float level) {
    l->floor[i] = level;
    if (!s->kn->integer) {
        ((float *)l->bar)[i] = level;
        return;
    }
    double bar = floor(level / s->p.unit);
    ((int32_t *)l->bar)[i] = bar < INT32_MIN ? INT32_MIN : bar > INT32_MAX ? INT32_MAX : (int32_t)bar;
}

// Copies rows into panels: [steps, width] units each, padded with zeros, whose floors no score passes.
static void pack(scanner *s, block *b, const side *rows, int64_t lo, int64_t hi, int64_t step, float scale) {
    b->lo = lo, b->hi = hi, b->step = step;
    int64_t n = hi - lo, width = b->width;
    int32_t *panels = b->panels;
    for (int64_t i = 0; i < round_up(n, width); i++) {
        int32_t *out = panels + i / width * width * s->steps + i % width;
        const int32_t *units = s->packed;
        if (i >= n) {
            for (int64_t t = 0; t < s->steps; t++)
                out[t * width] = 0;
            set_floor(s, &b->lists, i, INFINITY);
            continue;
        }
        const float *row = side_row(s->kn, rows, row_at(b, i, rows), s->row);
        if (s->kn->integer)
            s->kn->quantise((int16_t *)s->packed, row, s->dim, scale);
        else
            units = (const int32_t *)row;
        for (int64_t t = 0; t < s->steps; t++)
            out[t * width] = units[t];
        b->lists.count[i] = 0;
        b->lists.limit[i] = (int32_t)(b->lists.k + b->lists.grow);
        set_floor(s, &b->lists, i, -INFINITY);
    }
}

void scanner_base(scanner *s, const side *base, int64_t lo, int64_t hi, int64_t step) {
    pack(s, &s->base, base, lo, hi, step, s->p.base_scale);
}

void scanner_queries(scanner *s, const side *queries, int64_t lo, int64_t hi, int64_t step, const final_lists *final) {
    pack(s, &s->queries, queries, lo, hi, step, s->p.query_scale);
    for (int64_t i = 0; i < hi - lo; i++) {
        int64_t last = (row_at(&s->queries, i, queries) + 1) * final->k - 1;
        if (final->ids[last] >= 0)
            set_floor(s, &s->queries.lists, i, (float)(final->cosines[last] - s->queries.lists.window / 2));
    }
}

static inline void swap(candidate *a, candidate *b) {
    candidate t = *a;
    *a = *b;
    *b = t;
}

// Moves the n largest scores of items [len] to its front (Hoare's selection). 0 < n < len.
static void select_largest(candidate *items, int64_t len, int64_t n) {
    int64_t lo = 0, hi = len - 1;
    while (lo < hi) {
        float pivot = items[(lo + hi) / 2].score;
        int64_t i = lo, j = hi;
        while (i <= j) {
            while (items[i].score > pivot)
                i++;
            while (items[j].score < pivot)
                j--;
            if (i <= j)
                swap(&items[i++], &items[j--]);
        }
        if (n - 1 <= j)
            hi = j;
        else if (n - 1 >= i)
            lo = i;
        else
            return;
    }
}

static float smallest(const candidate *items, int64_t n) {
    float least = items[0].score;
    for (int64_t i = 1; i < n; i++)
        least = items[i].score < least ? items[i].score : least;
    return least;
}

// Cuts a list back: to what lies within the window of the k-th score, and to the `keep` best of that.
static void compact(const scanner *s, lists *l, int64_t list) {
    candidate *items = l->items + list * l->room;
    int64_t n = l->count[list];
    float floor = l->floor[list];
    if (n > l->keep) {
        select_largest(items, n, l->keep);
        for (int64_t i = l->keep; i < n; i++)
            floor = items[i].score > floor ? items[i].score : floor;
        n = l->keep;
    }
    select_largest(items, n, l->k);
    float reach = (float)(smallest(items, l->k) - l->window);
    if (reach > floor) {
        floor = reach;
        for (int64_t i = l->k; i < n;) {
            if (items[i].score <= reach)
                items[i] = items[--n];
            else
                i++;
        }
    }
    l->count[list] = (int32_t)n;
    l->limit[list] = (int32_t)(n + l->grow);
    set_floor(s, l, list, floor);
}

static inline void append(const scanner *s, lists *l, int64_t list, float score, int64_t position) {
    int32_t n = l->count[list]++;
    l->items[list * l->room + n] = (candidate){score, (int32_t)position};
    if (n + 1 == l->limit[list])
        compact(s, l, list);
}

// Gives the scores above a floor to the lists of their row and their column.
static void collect(scanner *s, int64_t row0, int64_t col0, const uint64_t *above) {
    lists *rows = &s->queries.lists, *cols = &s->base.lists;
    int64_t n_rows = s->queries.hi - s->queries.lo, n_cols = s->base.hi - s->base.lo;
    for (int64_t r = row0; r < n_rows && r < row0 + s->kn->rows; r++) {
        uint64_t bits = above[r - row0];
        if (n_cols - col0 < 64)
            bits &= (1ull << (n_cols - col0)) - 1;
        int64_t at = (r - row0) * s->kn->cols;
        for (; bits; bits &= bits - 1) {
            int64_t lane = __builtin_ctzll(bits), c = col0 + lane;
            float score = s->kn->integer ? (float)(((int32_t *)s->scores)[at + lane] * s->p.unit)
                                         : ((float *)s->scores)[at + lane];
            if (score > rows->floor[r])
                append(s, rows, r, score, s->base.lo + c);
            if (score > cols->floor[c])
                append(s, cols, c, score, s->queries.lo + r);
        }
    }
}

void scanner_scan(scanner *s) {
    const kernel *kn = s->kn;
    int64_t rows = s->queries.hi - s->queries.lo, cols = s->base.hi - s->base.lo;
    const int32_t *row_bars = s->queries.lists.bar, *col_bars = s->base.lists.bar;
    uint64_t above[16];
    for (int64_t c = 0; c < cols; c += kn->cols) {
        const int32_t *b = (const int32_t *)s->base.panels + c * s->steps;
        for (int64_t r = 0; r < rows; r += kn->rows) {
            const int32_t *a = (const int32_t *)s->queries.panels + r * s->steps;
            if (kn->tile(a, b, s->steps, row_bars + r, col_bars + c, s->scores, above))
                collect(s, r, c, above);
        }
    }
}

// Refines the lists of block b. own is the side that b was packed from, other the one its candidates' positions are on.
static int64_t settle(scanner *s, block *b, const side *own, const side *other, int64_t other_step,
                      const final_lists *final, int32_t *unproven) {
    lists *l = &b->lists;
    int64_t open = 0;
    for (int64_t i = 0; i < b->hi - b->lo; i++) {
        candidate *items = l->items + i * l->room;
        int64_t n = l->count[i], row = row_at(b, i, own);
        if (n > 0) {
            float reach = -INFINITY;
            if (n > l->k) {
                select_largest(items, n, l->k);
                reach = (float)(smallest(items, l->k) - l->window);
            }
            int64_t kept = 0;
            for (int64_t j = 0; j < n; j++)
                if (items[j].score > reach)
                    s->ids[kept++] = (int32_t)((int64_t)items[j].position * other_step % other->n);
            if (reach > l->floor[i])
                l->floor[i] = reach;
            list_refine(s->kn, other, side_row(s->kn, own, row, s->row), s->ids, kept, final, row, s->row + s->dim);
        }
        if (l->floor[i] != -INFINITY && !list_proven(final, row, l->floor[i] + s->p.slack))
            unproven[open++] = (int32_t)row;
    }
    return open;
}

int64_t scanner_settle_queries(scanner *s, const side *queries, const side *base, const final_lists *final, int32_t *unproven) {
    return settle(s, &s->queries, queries, base, s->base.step, final, unproven);
}

int64_t scanner_settle_base(scanner *s, const side *queries, const side *base, const final_lists *final, int32_t *unproven) {
    return settle(s, &s->base, base, queries, s->queries.step, final, unproven);
}
