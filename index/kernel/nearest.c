#include "scanner.h"

#include <math.h>

void scanner_only_nearest(scanner *s, double span) {
    for (int64_t i = 0; i < s->base.n; i++)
        lists_set_floor(&s->base.lists, i, INFINITY);
    s->queries.lists.span = span;
    s->queries.lists.ordered = span == INFINITY ? s->queries.lists.k : 1;
}

// One query's part of the work.
typedef struct {
    scanner *s;
    const side *base;
    const float *query;
    candidate *items;
    int64_t count;
    float *cosines; // scratch
} probe;

// Writes the k nearest of n rows to out and their cosines to p->cosines. Returns how many there are.
static int64_t rank(const probe *p, const int32_t *rows, int64_t n, int64_t k, int32_t *out) {
    final_lists to = {out, p->cosines, k, NULL};
    int64_t found = 0;
    for (int64_t j = 0; j < k; j++)
        out[j] = -1;
    list_refine(p->s->kn, p->base, p->query, rows, n, &to, 0, p->s->row + p->s->dim);
    while (found < k && out[found] >= 0)
        found++;
    return found;
}

// Moves those of at most four items whose cosine is at least the edge to the items at kept, and returns how many there
// are then.
static int64_t keep_above(const probe *p, const candidate *unsure, int64_t n, double edge, int64_t kept) {
    const float *rows[4];
    float cosines[4];
    float *buf = p->s->row + p->s->dim;
    for (int64_t i = 0; i < 4; i++)
        rows[i] = i < n ? side_row(p->s->kn, p->base, unsure[i].row, buf + i * p->s->dim) : rows[0];
    p->s->kn->dot4(cosines, p->query, rows, p->s->dim);
    for (int64_t i = 0; i < n; i++)
        if ((double)cosines[i] >= edge)
            p->items[kept++] = unsure[i];
    return kept;
}

// Moves the items whose cosine is at most the span below that of the best to the front, and returns how many there are.
static int64_t in_span(const probe *p) {
    scanner *s = p->s;
    double margin = s->p.window / 2; // a score is nearer to its cosine than that
    float best = -INFINITY, top = -INFINITY;
    for (int64_t j = 0; j < p->count; j++)
        best = p->items[j].score > best ? p->items[j].score : best;
    int64_t n = 0, kept = 0, open = 0;
    int32_t nearest;
    for (int64_t j = 0; j < p->count; j++)
        if (p->items[j].score >= best - s->p.window)
            s->ids[n++] = p->items[j].row;
    if (rank(p, s->ids, n, 1, &nearest) == 1)
        top = p->cosines[0];
    double edge = (double)top - s->queries.lists.span;
    candidate unsure[4];
    for (int64_t j = 0; j < p->count; j++) {
        double above = p->items[j].score - edge;
        if (above >= margin)
            p->items[kept++] = p->items[j];
        else if (above >= -margin)
            unsure[open++] = p->items[j];
        if (open == 4) {
            kept = keep_above(p, unsure, open, edge, kept);
            open = 0;
        }
    }
    return open > 0 ? keep_above(p, unsure, open, edge, kept) : kept;
}

// Writes the k nearest of n items to out: those whose scores are not sure are ranked by their cosines. It moves the
// items.
static int64_t choose(const probe *p, candidate *items, int64_t n, int64_t k, int32_t *out) {
    int64_t sure = 0, open = 0;
    float last = -INFINITY;
    if (n > k) {
        lists_select(items, n, k);
        last = items[0].score;
        for (int64_t j = 1; j < k; j++)
            last = items[j].score < last ? items[j].score : last;
    }
    for (int64_t j = 0; j < n; j++)
        if (n <= k || items[j].score > last + p->s->p.window)
            out[sure++] = items[j].row;
        else if (items[j].score >= last - p->s->p.window)
            p->s->ids[open++] = items[j].row;
    return sure + (sure < k && open > 0 ? rank(p, p->s->ids, open, k - sure, out + sure) : 0);
}

// The same with all packed base rows.
static int64_t choose_of_all(const probe *p, int64_t k, int32_t *out) {
    const block *base = &p->s->base;
    double span = p->s->queries.lists.span;
    int64_t found = rank(p, base->rows, base->n, k, out), wanted = 0;
    while (wanted < found && (double)p->cosines[wanted] >= (double)p->cosines[0] - span)
        wanted++;
    return wanted;
}

void scanner_nearest(scanner *s, const side *queries, const side *base, int32_t *out, int32_t *counts, float *cosines) {
    const lists *l = &s->queries.lists;
    for (int64_t i = 0; i < s->queries.n; i++, out += l->k) {
        probe p = {s, base, side_row(s->kn, queries, s->queries.rows[i], s->row), lists_items(l, i), l->count[i], cosines};
        // A list that was cut back to fewer than all within the window has a higher floor.
        if (l->floor[i] > (float)(lists_edge(l, i) - l->window))
            counts[i] = (int32_t)choose_of_all(&p, l->k, out);
        else
            counts[i] = (int32_t)choose(&p, p.items, l->span == INFINITY ? p.count : in_span(&p), l->k, out);
    }
}
