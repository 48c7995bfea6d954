#include "lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

// room for near copies; what does not fit is found out by its floor
static int64_t keep_of(int64_t k) { return k + 124; }

static int64_t room_of(int64_t k) { return keep_of(k) + 32; }

static int64_t stride_of(int64_t k) { return round_up(k, FOUR) + FOUR; }

int64_t lists_row_bytes(int64_t k) { return room_of(k) * (int64_t)sizeof(candidate) + 8 * stride_of(k) + 16; }

int lists_init(lists *l, const kernel *kn, int64_t rows, int64_t k, double window, double unit) {
    *l = (lists){.kn = kn, .units = 1 / unit, .k = k, .ordered = k, .keep = keep_of(k), .room = room_of(k), .stride = stride_of(k),
                 .window = window, .span = INFINITY};
    l->items = in_large_pages(rows * l->room * sizeof(candidate));
    l->count = malloc(rows * sizeof(int32_t));
    l->top = malloc(rows * l->stride * sizeof(float));
    l->floor = malloc(rows * sizeof(float));
    l->bar = malloc(rows * 4);
    return l->items && l->count && l->top && l->floor && l->bar;
}

void lists_free(lists *l) {
    free(l->items);
    free(l->count);
    free(l->top);
    free(l->floor);
    free(l->bar);
    free(l->known);
}

void lists_clear(lists *l, int64_t list) {
    l->count[list] = 0;
    float *top = l->top + list * l->stride;
    for (int64_t j = 0; j < l->stride; j++)
        top[j] = j < FOUR ? INFINITY : -INFINITY;
    lists_set_floor(l, list, -INFINITY);
}

void lists_start(lists *l, int64_t list, const final_lists *final, int64_t row) {
    const int32_t *ids = final->ids + row * l->k;
    final_lock(final, row);
    if (l->known)
        memcpy(l->known + list * l->stride, ids, l->k * sizeof(int32_t));
    // A cosine counts as much as a score that is half a window above: it is sure, and the score may be too high.
    for (int64_t j = 0; j < l->k && ids[j] >= 0; j++)
        lists_top(l, list)[j] = (float)(final->cosines[row * l->k + j] + l->window / 2);
    final_unlock(final, row);
    lists_follow(l, list);
}

static inline void swap(candidate *a, candidate *b) {
    candidate t = *a;
    *a = *b;
    *b = t;
}

// Hoare's selection.
void lists_select(candidate *items, int64_t len, int64_t n) {
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

// Drops the scores that are not above the floor.
static int64_t above_floor(const lists *l, int64_t list, int64_t n) {
    candidate *items = lists_items(l, list);
    float floor = l->floor[list];
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (items[i].score > floor)
            items[kept++] = items[i];
    return kept;
}

// Finds the k-th score of a list with a span, so that the floor can follow it.
static void find_last(lists *l, int64_t list, int64_t n) {
    candidate *items = lists_items(l, list);
    lists_select(items, n, l->k);
    float last = items[0].score;
    for (int64_t i = 1; i < l->k; i++)
        last = items[i].score < last ? items[i].score : last;
    lists_top(l, list)[l->k - 1] = last;
    lists_follow(l, list);
}

// Back to the scores above the floor, and to the `keep` best of them.
void lists_cut(lists *l, int64_t list) {
    int64_t n = above_floor(l, list, l->count[list]);
    if (l->ordered < l->k && n > l->k) {
        find_last(l, list, n);
        n = above_floor(l, list, n);
    }
    if (n > l->keep) {
        candidate *items = lists_items(l, list);
        float floor = l->floor[list];
        lists_select(items, n, l->keep);
        for (int64_t i = l->keep; i < n; i++)
            floor = items[i].score > floor ? items[i].score : floor;
        n = l->keep;
        lists_set_floor(l, list, floor);
    }
    l->count[list] = (int32_t)n;
}
