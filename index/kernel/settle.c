#include "scanner.h"

#include <math.h>

// Offers the candidates of a list with their cosines or, where rows are whole numbers, with their products.
static void offer(scanner *s, const lists *l, int64_t list, const side *own, int32_t row, const side *other, const final_lists *final) {
    const candidate *items = lists_items(l, list);
    int64_t kept = 0;
    if (s->p.whole)
        final_lock(final, row);
    for (int64_t j = 0; j < l->count[list]; j++) {
        if (items[j].score <= l->floor[list])
            continue;
        if (s->p.whole)
            list_insert(other, final, row, items[j].row, items[j].score);
        else
            s->ids[kept++] = items[j].row;
    }
    if (s->p.whole)
        final_unlock(final, row);
    if (kept > 0)
        list_refine(s->kn, other, side_row(s->kn, own, row, s->row), s->ids, kept, final, row, s->row + s->dim);
}

// Refines the lists of block b. own is the side that b was packed from.
static int64_t settle(scanner *s, block *b, const side *own, const side *other, const final_lists *final,
                      int32_t *unproven) {
    lists *l = &b->lists;
    int64_t open = 0;
    for (int64_t i = 0; i < b->n; i++) {
        int32_t row = b->rows[i];
        if (l->count[i] == 0)
            continue; // no score was above the floor that the final list gave, so it is as proven as it was
        offer(s, l, i, own, row, other, final);
        if (l->floor[i] != -INFINITY && !list_proven(final, row, l->floor[i] + s->p.slack))
            unproven[open++] = row;
    }
    return open;
}

int64_t scanner_settle_queries(scanner *s, const side *queries, const side *base, const final_lists *final, int32_t *unproven) {
    return settle(s, &s->queries, queries, base, final, unproven);
}

int64_t scanner_settle_base(scanner *s, const side *queries, const side *base, const final_lists *final, int32_t *unproven) {
    return settle(s, &s->base, base, queries, final, unproven);
}
