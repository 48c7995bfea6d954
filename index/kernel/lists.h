// Candidate lists of a block's rows. A list's floor follows its k-th score, which keeps most scores out. A full list is
// cut back to those above its floor, and to the `keep` best of them.
#pragma once

#include "kernel.h"

typedef struct {
    float score; // an approximate inner product
    int32_t row; // distinct row of the other side
} candidate;

typedef struct {
    const kernel *kn;
    double units;     // 1 in units of an integer kernel's scores
    int64_t k, keep, room;
    int64_t stride;   // from a row of top or known to the next
    int64_t ordered;  // how many of top are kept: k, or 1 and now and then the last where there is a span
    double window;    // a row this far below the k-th score cannot be among the k nearest
    double span;      // a row further below the best than that is not wanted; infinite but for scanner_nearest
    candidate *items; // [rows, room]
    int32_t *count;   // [rows]
    float *top;       // [rows, stride] after FOUR values that are infinite: the largest scores, in descending order
    float *floor;     // [rows] every score not in the list is at most this
    void *bar;        // [rows] the floor as tiles compare it: float32 or int32
    int32_t *known;   // [rows, stride] ids of the final lists when the block was packed, or -1; NULL: no pair repeats
} lists;

// Largest scores and known ids are looked at four at a time, and before a row's largest score are four that none is
// above.
enum { FOUR = 4 };
typedef float four_scores __attribute__((vector_size(FOUR * 4), aligned(4)));
typedef int32_t four_ids __attribute__((vector_size(FOUR * 4), aligned(4)));

// Makes empty lists of so many rows. Returns 0 when memory is short.
int lists_init(lists *l, const kernel *kn, int64_t rows, int64_t k, double window, double unit);
void lists_free(lists *l);

// How many bytes a row takes at most.
int64_t lists_row_bytes(int64_t k);

// Forgets a list's candidates.
void lists_clear(lists *l, int64_t list);

// Gives a list the floor that its final list allows.
void lists_start(lists *l, int64_t list, const final_lists *final, int64_t row);

// Fetches a final list for lists_start.
static inline void lists_fetch(const final_lists *final, int64_t row) {
    __builtin_prefetch(final->ids + row * final->k);
    __builtin_prefetch(final->cosines + row * final->k);
}

// Cuts a list back.
void lists_cut(lists *l, int64_t list);

// Moves the n largest scores of items [len] to its front. 0 < n < len.
void lists_select(candidate *items, int64_t len, int64_t n);

static inline candidate *lists_items(const lists *l, int64_t list) { return l->items + list * l->room; }

static inline float *lists_top(const lists *l, int64_t list) { return l->top + list * l->stride + FOUR; }

// Sets a list's floor, and the bar that says the same to a tile, or less: what a tile lets pass is compared with the
// floor.
static inline void lists_set_floor(lists *l, int64_t list, float level) {
    l->floor[list] = level;
    if (!has_int_scores(l->kn->format)) {
        ((float *)l->bar)[list] = level;
        return;
    }
    double bar = level * l->units - 1.5; // less than the whole number below the floor, whichever way it is rounded
    ((int32_t *)l->bar)[list] = bar < INT32_MIN ? INT32_MIN : bar > INT32_MAX ? INT32_MAX : (int32_t)bar;
}

// Rows whose scores are below it by more than the window are not wanted: the k-th score, or, where there is a span,
// what is too far from the best or, once the list was cut, from the k-th.
static inline double lists_edge(const lists *l, int64_t list) {
    const float *top = lists_top(l, list);
    if (l->ordered == l->k)
        return top[l->k - 1];
    return top[0] - l->span > top[l->k - 1] ? top[0] - l->span : top[l->k - 1];
}

// Raises a list's floor to what its scores allow.
static inline void lists_follow(lists *l, int64_t list) {
    float reach = (float)(lists_edge(l, list) - l->window);
    if (reach > l->floor[list])
        lists_set_floor(l, list, reach);
}

static inline int lists_know(const lists *l, int64_t list, int32_t row) {
    const int32_t *known = l->known + list * l->stride;
    four_ids same = {0};
    for (int64_t j = 0; j < l->stride - FOUR; j += FOUR)
        same |= *(const four_ids *)(known + j) == row;
    return (same[0] | same[1] | same[2] | same[3]) != 0;
}

// Puts a score in its place among the largest, from the last four on: each becomes the score or the one before it,
// whichever is less, unless it is larger itself. A loop that stops at the place takes longer, as no processor foresees
// where that is.
static inline void lists_insert(lists *l, float *top, float score) {
    for (int64_t j = l->stride - 2 * FOUR; j >= 0; j -= FOUR) {
        four_scores now = *(four_scores *)(top + j), before = *(four_scores *)(top + j - 1), one = score - (four_scores){0};
        four_ids less = before < one;
        four_scores in = (four_scores)(((four_ids)before & less) | ((four_ids)one & ~less));
        four_ids stays = now > in;
        *(four_scores *)(top + j) = (four_scores)(((four_ids)now & stays) | ((four_ids)in & ~stays));
    }
}

static inline void lists_append(lists *l, int64_t list, float score, int32_t row) {
    // A neighbour that counted twice would raise the floor above what the list can prove.
    if (l->known && lists_know(l, list, row))
        return;
    int32_t n = l->count[list]++;
    l->items[list * l->room + n] = (candidate){score, row};
    float *top = lists_top(l, list);
    if (score > top[l->ordered - 1]) {
        if (l->ordered == 1)
            top[0] = score;
        else
            lists_insert(l, top, score);
        lists_follow(l, list);
    }
    if (n + 1 == l->room)
        lists_cut(l, list);
}
