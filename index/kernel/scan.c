#include "scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

typedef struct {
    float score; // an approximate inner product
    int32_t row; // distinct row of the other side
} candidate;

// Candidate lists of a block's rows. A list's floor follows its k-th score, which keeps most scores out. A full list is
// cut back to those above its floor, and to the `keep` best of them.
typedef struct {
    int64_t k, keep, room;
    double window;    // a row this far below the k-th score cannot be among the k nearest
    candidate *items; // [rows, room]
    int32_t *count;   // [rows]
    float *top;       // [rows, k] the k largest scores, in descending order
    float *floor;     // [rows] every score not in the list is at most this
    void *bar;        // [rows] the floor as tiles compare it: float32 or int32
    int32_t *known;   // [rows, k] ids in the final lists when the block was packed, -1 for none; NULL: no pair repeats
} lists;

// One side's packed block.
typedef struct {
    int64_t n;     // rows packed
    int64_t width; // rows of a panel
    int64_t room;  // rows packed at most, a multiple of width
    int32_t *rows; // [room] distinct row of each
    void *panels;  // [panels, steps, width] units
    lists lists;
} block;

struct scanner {
    const kernel *kn;
    precision p;
    int64_t dim, steps;
    block queries, base;
    float *row;      // 5 rows of scratch
    int32_t *packed; // one packed row
    int32_t *zeros;  // another, of no row
    void *scores;    // one tile
    int32_t *ids;    // candidates of one list
};

static void *aligned(size_t size) { return aligned_alloc(64, (size + 63) / 64 * 64 + 64); }

// Memory of panels, in pages of 2 MiB where the system has them: with those of 4 KiB the amx kernel waits for the
// translation of addresses for up to a third of its time.
static void *in_large_pages(size_t size) {
    enum { PAGE = 2 << 20 };
    void *memory = aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE);
#if defined(__linux__)
    if (memory)
        madvise(memory, (size + PAGE - 1) / PAGE * PAGE, MADV_HUGEPAGE); // advice only: refused, nothing is lost
#endif
    return memory;
}

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// room for near copies; what does not fit is found out by its floor
static int64_t keep_of(int64_t k) { return k + 124; }

static int64_t room_of(int64_t k) { return keep_of(k) + 32; }

int64_t scanner_bytes(int64_t dim, int64_t k, int64_t queries, int64_t base) {
    int64_t list = room_of(k) * (int64_t)sizeof(candidate) + 4 * k + 16;
    return (queries + base + 128) * (4 * dim + 132 + list + 4 * k) + (8 << 20);
}

static int block_init(block *b, int64_t rows, int64_t width, int64_t steps, int64_t k, double window) {
    b->width = width;
    b->room = round_up(rows, width);
    b->rows = malloc(b->room * sizeof(int32_t));
    b->panels = in_large_pages(b->room * steps * 4);
    lists *l = &b->lists;
    l->k = k;
    l->keep = keep_of(k);
    l->room = room_of(k);
    l->window = window;
    l->items = in_large_pages(b->room * l->room * sizeof(candidate));
    l->count = malloc(b->room * sizeof(int32_t));
    l->top = malloc(b->room * k * sizeof(float));
    l->floor = malloc(b->room * sizeof(float));
    l->bar = malloc(b->room * 4);
    return b->rows && b->panels && l->items && l->count && l->top && l->floor && l->bar;
}

static void block_free(block *b) {
    free(b->rows);
    free(b->panels);
    free(b->lists.items);
    free(b->lists.count);
    free(b->lists.top);
    free(b->lists.floor);
    free(b->lists.bar);
    free(b->lists.known);
}

scanner *scanner_new(const kernel *kn, precision p, int64_t dim, int64_t k, int64_t queries, int64_t base) {
    scanner *s = calloc(1, sizeof(scanner));
    if (s == NULL)
        return NULL;
    s->kn = kn;
    s->p = p;
    s->dim = dim;
    s->steps = kn->format == FLOAT32 ? dim : (dim + 1) / 2;
    if (kn->blocked)
        s->steps = round_up(s->steps, BLOCK);
    int ok = block_init(&s->queries, queries, kn->rows, s->steps, k, p.window);
    ok = block_init(&s->base, base, kn->cols, s->steps, k, p.window) && ok;
    s->row = malloc(5 * dim * sizeof(float));
    s->packed = calloc(s->steps, 4);
    s->zeros = calloc(s->steps, 4);
    s->scores = aligned((size_t)kn->rows * kn->cols * 4);
    s->ids = malloc(s->queries.lists.room * sizeof(int32_t));
    if (!ok || !s->row || !s->packed || !s->zeros || !s->scores || !s->ids) {
        scanner_free(s);
        return NULL;
    }
    return s;
}

int scanner_expect_repeats(scanner *s) {
    block *blocks[] = {&s->queries, &s->base};
    for (int i = 0; i < 2; i++) {
        lists *l = &blocks[i]->lists;
        l->known = malloc(blocks[i]->room * l->k * sizeof(int32_t));
        if (l->known == NULL)
            return 0;
    }
    return 1;
}

void scanner_free(scanner *s) {
    if (s == NULL)
        return;
    block_free(&s->queries);
    block_free(&s->base);
    free(s->row);
    free(s->packed);
    free(s->zeros);
    free(s->scores);
    free(s->ids);
    free(s);
}

// Sets row i's floor, and the bar that says the same to a tile.
static void set_floor(const scanner *s, lists *l, int64_t i, float level) {
    l->floor[i] = level;
    if (s->kn->format != INT16) {
        ((float *)l->bar)[i] = level;
        return;
    }
    double bar = floor(level / s->p.unit);
    ((int32_t *)l->bar)[i] = bar < INT32_MIN ? INT32_MIN : bar > INT32_MAX ? INT32_MAX : (int32_t)bar;
}

// Raises a list's floor to what its k-th score allows.
static void follow(const scanner *s, lists *l, int64_t i) {
    float reach = (float)(l->top[(i + 1) * l->k - 1] - l->window);
    if (reach > l->floor[i])
        set_floor(s, l, i, reach);
}

// Copies the units of row i into its panel.
static void place(const scanner *s, block *b, int64_t i, const int32_t *units) {
    int64_t width = b->width, in = i % width;
    int32_t *panel = (int32_t *)b->panels + i / width * width * s->steps;
    if (!s->kn->blocked) {
        for (int64_t t = 0; t < s->steps; t++)
            panel[t * width + in] = units[t];
        return;
    }
    panel += in / BLOCK * BLOCK * BLOCK;
    for (int64_t t = 0; t < s->steps; t += BLOCK, panel += width * BLOCK)
        if (b == &s->queries)
            memcpy(panel + in % BLOCK * BLOCK, units + t, BLOCK * 4);
        else
            for (int64_t j = 0; j < BLOCK; j++)
                panel[j * BLOCK + in % BLOCK] = units[t + j];
}

// Fetches a row into the second cache.
static void prefetch_row(const side *rows, int64_t i, size_t bytes) {
    const char *row = (const char *)rows->rows + (size_t)(rows->first ? rows->first[i] : i) * bytes;
    for (size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(row + at, 0, 2);
}

// How many rows packing is behind the rows that it fetches.
enum { AHEAD = 4 };

// Copies rows into panels: [steps, width] units each, padded with zeros, whose floors no score passes.
static void pack(scanner *s, block *b, const side *rows, span at, float scale) {
    b->n = at.hi - at.lo;
    for (int64_t i = 0; i < b->n; i++)
        b->rows[i] = span_row(&at, at.lo + i, rows->n);
    size_t row_bytes = (size_t)rows->dim * (rows->half ? 2 : 4);
    for (int64_t i = 0; i < round_up(b->n, b->width); i++) {
        if (i + AHEAD < b->n)
            prefetch_row(rows, b->rows[i + AHEAD], row_bytes);
        if (i >= b->n) {
            place(s, b, i, s->zeros);
            set_floor(s, &b->lists, i, INFINITY);
            continue;
        }
        const float *row = side_row(s->kn, rows, b->rows[i], s->row);
        const int32_t *units = s->packed;
        if (s->kn->quantise)
            s->kn->quantise((int16_t *)s->packed, row, s->dim, scale);
        else
            units = (const int32_t *)row;
        place(s, b, i, units);
        b->lists.count[i] = 0;
        for (int64_t j = 0; j < b->lists.k; j++)
            b->lists.top[i * b->lists.k + j] = -INFINITY;
        set_floor(s, &b->lists, i, -INFINITY);
    }
}

// Gives the packed rows the floors that their final lists allow.
static void raise_floors(const scanner *s, block *b, const final_lists *final) {
    lists *l = &b->lists;
    for (int64_t i = 0; i < b->n; i++) {
        int64_t first = b->rows[i] * l->k;
        if (l->known)
            memcpy(l->known + i * l->k, final->ids + first, l->k * sizeof(int32_t));
        // A cosine counts as much as a score that is half a window above: it is sure, and the score may be too high.
        for (int64_t j = 0; j < l->k && final->ids[first + j] >= 0; j++)
            l->top[i * l->k + j] = (float)(final->cosines[first + j] + l->window / 2);
        follow(s, l, i);
    }
}

void scanner_base(scanner *s, const side *base, span at, const final_lists *final) {
    pack(s, &s->base, base, at, s->p.base_scale);
    if (final)
        raise_floors(s, &s->base, final);
}

void scanner_queries(scanner *s, const side *queries, span at, const final_lists *final) {
    pack(s, &s->queries, queries, at, s->p.query_scale);
    if (final)
        raise_floors(s, &s->queries, final);
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

// Cuts a list back to the scores above its floor, and to the `keep` best of them.
static void compact(const scanner *s, lists *l, int64_t list) {
    candidate *items = l->items + list * l->room;
    float floor = l->floor[list];
    int64_t n = 0;
    for (int64_t i = 0; i < l->count[list]; i++)
        if (items[i].score > floor)
            items[n++] = items[i];
    if (n > l->keep) {
        select_largest(items, n, l->keep);
        for (int64_t i = l->keep; i < n; i++)
            floor = items[i].score > floor ? items[i].score : floor;
        n = l->keep;
        set_floor(s, l, list, floor);
    }
    l->count[list] = (int32_t)n;
}

static int is_known(const lists *l, int64_t list, int32_t row) {
    const int32_t *known = l->known + list * l->k;
    for (int64_t j = 0; j < l->k; j++)
        if (known[j] == row)
            return 1;
    return 0;
}

static inline void append(const scanner *s, lists *l, int64_t list, float score, int32_t row) {
    // A neighbour that counted twice would raise the floor above what the list can prove.
    if (l->known && is_known(l, list, row))
        return;
    int32_t n = l->count[list]++;
    l->items[list * l->room + n] = (candidate){score, row};
    float *top = l->top + list * l->k;
    if (score > top[l->k - 1]) {
        int64_t at = l->k - 1;
        for (; at > 0 && top[at - 1] < score; at--)
            top[at] = top[at - 1];
        top[at] = score;
        follow(s, l, list);
    }
    if (n + 1 == l->room)
        compact(s, l, list);
}

static inline float score_at(const scanner *s, int64_t i) {
    return s->kn->format == INT16 ? (float)(((int32_t *)s->scores)[i] * s->p.unit) : ((float *)s->scores)[i];
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
                append(s, rows, r, score, s->base.rows[c]);
            if (score > cols->floor[c])
                append(s, cols, c, score, s->queries.rows[r]);
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
        const int32_t *b = (const int32_t *)s->base.panels + c * s->steps, *next = b + panel;
        for (int64_t r = lo; r < hi; r += kn->rows, next += share) {
            // Each tile fetches its share of the next base panel into the second cache.
            for (int64_t unit = 0; unit < share; unit += 16)
                __builtin_prefetch(next + unit, 0, 2);
            const int32_t *a = (const int32_t *)s->queries.panels + r * s->steps;
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
        if (kn->format != INT16)
            memcpy(&lowest[i], &none, 4);
    }
    if (kn->begin)
        kn->begin();
    for (int64_t c = 0; c < n_cols; c += kn->cols)
        for (int64_t r = 0; r < n_rows; r += kn->rows) {
            kn->tile((const int32_t *)s->queries.panels + r * s->steps, (const int32_t *)s->base.panels + c * s->steps,
                     s->steps, lowest, lowest, s->scores, above);
            for (int64_t i = r; i < n_rows && i < r + kn->rows; i++)
                for (int64_t j = c; j < n_cols && j < c + kn->cols; j++)
                    out[i * n_cols + j] = score_at(s, (i - r) * kn->cols + j - c);
        }
    if (kn->end)
        kn->end();
}

// Refines the lists of block b. own is the side that b was packed from.
static int64_t settle(scanner *s, block *b, const side *own, const side *other, const final_lists *final,
                      int32_t *unproven) {
    lists *l = &b->lists;
    int64_t open = 0;
    for (int64_t i = 0; i < b->n; i++) {
        const candidate *items = l->items + i * l->room;
        int64_t row = b->rows[i], kept = 0;
        for (int64_t j = 0; j < l->count[i]; j++)
            if (items[j].score > l->floor[i])
                s->ids[kept++] = items[j].row;
        if (kept > 0)
            list_refine(s->kn, other, side_row(s->kn, own, row, s->row), s->ids, kept, final, row, s->row + s->dim);
        if (l->floor[i] != -INFINITY && !list_proven(final, row, l->floor[i] + s->p.slack))
            unproven[open++] = (int32_t)row;
    }
    return open;
}

int64_t scanner_settle_queries(scanner *s, const side *queries, const side *base, const final_lists *final, int32_t *unproven) {
    return settle(s, &s->queries, queries, base, final, unproven);
}

int64_t scanner_settle_base(scanner *s, const side *queries, const side *base, const final_lists *final, int32_t *unproven) {
    return settle(s, &s->base, base, queries, final, unproven);
}

void scanner_mute_base(scanner *s) {
    for (int64_t i = 0; i < s->base.n; i++)
        set_floor(s, &s->base.lists, i, INFINITY);
}

// Offers all packed base rows to a list.
static void offer_all(scanner *s, const side *base, const float *query, const final_lists *to) {
    for (int64_t at = 0; at < s->base.n; at += 64)
        list_refine(s->kn, base, query, s->base.rows + at, s->base.n - at < 64 ? s->base.n - at : 64, to, 0, s->row + s->dim);
}

void scanner_nearest(scanner *s, const side *queries, const side *base, int32_t *out, float *cosines) {
    const lists *l = &s->queries.lists;
    for (int64_t i = 0; i < s->queries.n; i++, out += l->k) {
        const candidate *items = l->items + i * l->room;
        float last = l->top[(i + 1) * l->k - 1];
        int64_t sure = 0, open = 0;
        for (int64_t j = 0; j < l->count[i]; j++)
            if (items[j].score > last + l->window)
                out[sure++] = items[j].row;
            else if (items[j].score > l->floor[i])
                s->ids[open++] = items[j].row;
        // A list that was cut back to fewer than all within the window has a higher floor.
        int cut = l->floor[i] > (float)(last - l->window);
        sure = cut ? 0 : sure;
        final_lists rest = {out + sure, cosines, l->k - sure};
        for (int64_t j = 0; j < rest.k; j++)
            rest.ids[j] = -1;
        const float *query = side_row(s->kn, queries, s->queries.rows[i], s->row);
        if (cut)
            offer_all(s, base, query, &rest);
        else
            list_refine(s->kn, base, query, s->ids, open, &rest, 0, s->row + s->dim);
    }
}
