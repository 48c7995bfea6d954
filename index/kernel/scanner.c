#include "scanner.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

int64_t scanner_bytes(int64_t dim, int64_t k, int64_t queries, int64_t base) {
    return (queries + base + 128) * (4 * dim + 132 + lists_row_bytes(k)) + (8 << 20);
}

static int init(block *b, const scanner *s, int queries, int64_t rows, int64_t k) {
    return block_init(b, s->kn, queries, rows, s->steps) && lists_init(&b->lists, s->kn, b->room, k, s->p.window, s->p.unit);
}

scanner *scanner_new(const kernel *kn, precision p, int64_t dim, int64_t k, int64_t queries, int64_t base) {
    scanner *s = calloc(1, sizeof(scanner));
    if (s == NULL)
        return NULL;
    s->kn = p.whole && kn->narrow ? kn->narrow : kn;
    s->p = p;
    s->dim = dim;
    s->steps = block_steps(s->kn, dim);
    int ok = init(&s->queries, s, 1, queries, k) && init(&s->base, s, 0, base, k);
    s->row = malloc((5 * dim + s->steps) * sizeof(float));
    s->scores = aligned((size_t)s->kn->rows * s->kn->cols * 4);
    s->queries.whole = s->base.whole = p.whole;
    s->ids = malloc(s->queries.lists.room * sizeof(int32_t));
    if (!ok || !s->row || !s->scores || !s->ids) {
        scanner_free(s);
        return NULL;
    }
    return s;
}

int scanner_expect_repeats(scanner *s) {
    block *blocks[] = {&s->queries, &s->base};
    for (int i = 0; i < 2; i++) {
        lists *l = &blocks[i]->lists;
        size_t size = blocks[i]->room * l->stride * sizeof(int32_t);
        l->known = malloc(size);
        if (l->known == NULL)
            return 0;
        memset(l->known, -1, size);
    }
    return 1;
}

void scanner_free(scanner *s) {
    if (s == NULL)
        return;
    block_free(&s->queries);
    block_free(&s->base);
    free(s->row);
    free(s->scores);
    free(s->ids);
    free(s);
}

void scanner_base(scanner *s, const side *base, span at, const final_lists *final) {
    block_pack(&s->base, base, at, s->p.base_scale, final, s->row);
}

void scanner_queries(scanner *s, const side *queries, span at, const final_lists *final) {
    block_pack(&s->queries, queries, at, s->p.query_scale, final, s->row);
}
