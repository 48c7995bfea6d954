#include "scanner.h"

#include <math.h>

void scanner_only_nearest(scanner *s, double span) {
    for (int64_t i = 0; i < s->base.n; i++)
        lists_set_floor(&s->base.lists, i, INFINITY);
    s->queries.lists.span = span * ((double)s->p.query_scale * s->p.base_scale);
    s->queries.lists.ordered = span == INFINITY ? s->queries.lists.k : 1;
}

// One query's part of the work.
typedef struct {
    scanner *s;
    const side *queries, *base;
    int32_t query;
    candidate *items;
    int64_t count;
} probe;

// The product of a query and a base row as whole numbers: what a tile computes.
static float product(scanner *s, const side *queries, int32_t query, const side *base, int32_t row) {
    float *a = s->row, *b = a + s->dim, *buf = b + s->dim;
    s->kn->whole(a, side_row(s->kn, queries, query, buf), s->dim, s->p.query_scale);
    s->kn->whole(b, side_row(s->kn, base, row, buf), s->dim, s->p.base_scale);
    int64_t sum = 0;
    for (int64_t i = 0; i < s->dim; i++)
        sum += (int32_t)a[i] * (int32_t)b[i];
    return (float)sum;
}

// Writes the k nearest of n rows to out, and their products. Returns how many there are.
static int64_t rank(const probe *p, const int32_t *rows, int64_t n, int64_t k, int32_t *out, float *products) {
    final_lists to = {out, products, k, NULL};
    for (int64_t j = 0; j < k; j++)
        out[j] = -1;
    for (int64_t j = 0; j < n; j++)
        list_offer(p->base, &to, 0, rows[j], product(p->s, p->queries, p->query, p->base, rows[j]));
    return n < k ? n : k;
}

// Moves the items that are at most the span below the best to the front, and returns how many there are.
static int64_t in_span(const probe *p) {
    float best = -INFINITY;
    int64_t kept = 0;
    for (int64_t j = 0; j < p->count; j++)
        best = p->items[j].score > best ? p->items[j].score : best;
    double edge = (double)best - p->s->queries.lists.span;
    for (int64_t j = 0; j < p->count; j++)
        if ((double)p->items[j].score >= edge)
            p->items[kept++] = p->items[j];
    return kept;
}

// Writes the k nearest of the first n items to out: those that tie for the last places are ranked. It moves the items.
static int64_t choose(const probe *p, int64_t n, int64_t k, int32_t *out, float *products) {
    candidate *items = p->items;
    int64_t sure = 0, open = 0;
    float last = -INFINITY;
    if (n > k) {
        lists_select(items, n, k);
        last = items[0].score;
        for (int64_t j = 1; j < k; j++)
            last = items[j].score < last ? items[j].score : last;
    }
    for (int64_t j = 0; j < n; j++)
        if (n <= k || items[j].score > last) {
            out[sure] = items[j].row;
            products[sure++] = items[j].score;
        } else if (items[j].score == last)
            p->s->ids[open++] = items[j].row;
    return sure + (sure < k && open > 0 ? rank(p, p->s->ids, open, k - sure, out + sure, products + sure) : 0);
}

// The same with all packed base rows.
static int64_t choose_of_all(const probe *p, int64_t k, int32_t *out, float *products) {
    const block *base = &p->s->base;
    double span = p->s->queries.lists.span;
    int64_t found = rank(p, base->rows, base->n, k, out, products), wanted = 0;
    while (wanted < found && (double)products[wanted] >= (double)products[0] - span)
        wanted++;
    return wanted;
}

void scanner_nearest(scanner *s, const side *queries, const side *base, int32_t *out, float *products, int32_t *counts) {
    const lists *l = &s->queries.lists;
    for (int64_t i = 0; i < s->queries.n; i++, out += l->k, products += l->k) {
        probe p = {s, queries, base, s->queries.rows[i], lists_items(l, i), l->count[i]};
        // A list that was cut back to fewer than all within the window has a higher floor.
        if (l->floor[i] > (float)(lists_edge(l, i) - l->window))
            counts[i] = (int32_t)choose_of_all(&p, l->k, out, products);
        else
            counts[i] = (int32_t)choose(&p, in_span(&p), l->k, out, products);
    }
}

void scanner_exhaust_queries(scanner *s, const side *queries, const side *base, const final_lists *final, const int32_t *which,
                             int64_t n, span at) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t p = at.lo; p < at.hi; p++) {
            int32_t row = span_row(&at, p, base->n);
            list_offer(base, final, which[i], row, product(s, queries, which[i], base, row));
        }
}

void scanner_exhaust_base(scanner *s, const side *queries, const side *base, const final_lists *final, const int32_t *which, int64_t n,
                          span at) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t p = at.lo; p < at.hi; p++) {
            int32_t query = span_row(&at, p, queries->n);
            list_offer(queries, final, which[i], query, product(s, queries, query, base, which[i]));
        }
}
