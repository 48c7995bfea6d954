#include "kernel.h"

// Whether id comes before other, whose cosine is the same.
static int first_by_place(const side *base, int32_t id, int32_t other) { return side_place(base, id) < side_place(base, other); }

void list_insert(const side *base, const final_lists *lists, int64_t list, int32_t id, float cosine) {
    int64_t k = lists->k;
    int32_t *ids = lists->ids + list * k;
    float *cosines = lists->cosines + list * k;
    int full = ids[k - 1] >= 0;
    if (full && cosine < cosines[k - 1])
        return;
    int64_t at = k;
    while (at > 0 && (ids[at - 1] < 0 || cosine > cosines[at - 1] ||
                      (cosine == cosines[at - 1] && first_by_place(base, id, ids[at - 1]))))
        at--;
    if (at == k || (at > 0 && ids[at - 1] == id))
        return;
    for (int64_t i = k - 1; i > at; i--) {
        ids[i] = ids[i - 1];
        cosines[i] = cosines[i - 1];
    }
    ids[at] = id;
    cosines[at] = cosine;
}

void list_offer(const side *base, const final_lists *lists, int64_t list, int32_t id, float cosine) {
    final_lock(lists, list);
    list_insert(base, lists, list, id, cosine);
    final_unlock(lists, list);
}

// Computes the cosines of query with the candidates and offers them. Candidates that are no row of base are none. buf
// holds 4*dim floats.
void list_refine(const kernel *kn, const side *base, const float *query, const int32_t *candidates, int64_t n,
                 const final_lists *lists, int64_t list, float *buf) {
    const float *rows[4];
    int32_t ids[4];
    int have = 0;
    for (int64_t i = 0; i < n; i++) {
        if (candidates[i] >= 0 && candidates[i] < base->n) {
            ids[have] = candidates[i];
            rows[have] = side_row(kn, base, candidates[i], buf + have * base->dim);
            have++;
        }
        if (have == 4 || (i == n - 1 && have > 0)) {
            float cosines[4];
            for (int j = have; j < 4; j++)
                rows[j] = rows[0];
            kn->dot4(cosines, query, rows, base->dim);
            for (int j = 0; j < have; j++)
                list_offer(base, lists, list, ids[j], cosines[j]);
            have = 0;
        }
    }
}

// Whether no row can belong into the list whose inner product with the query is at most ceiling. Rounding is monotone,
// so such a row's cosine is at most (float)ceiling; embedding.Dot's own rounding in float64 is far inside the slack
// that made the ceiling.
int list_proven(const final_lists *lists, int64_t list, double ceiling) {
    int64_t last = (list + 1) * lists->k - 1;
    final_lock(lists, list);
    int proven = lists->ids[last] >= 0 && (float)ceiling < lists->cosines[last];
    final_unlock(lists, list);
    return proven;
}

int64_t kernel_refine(const kernel *kn, const side *queries, const side *base, const final_lists *lists, int64_t lo,
                      int64_t hi, const int64_t *candidates, int64_t keep, const double *ceilings, int32_t *unproven,
                      float *buf) {
    int64_t open = 0;
    float *rows = buf + queries->dim;
    for (int64_t q = lo; q < hi; q++) {
        const float *query = side_row(kn, queries, q, buf);
        const int64_t *found = candidates + (q - lo) * keep;
        for (int64_t i = keep; q + 1 < hi && i < 2 * keep; i++) // the next query's
            if (found[i] >= 0 && found[i] < base->n)
                side_fetch(base, found[i]);
        for (int64_t i = 0; i < keep; i += 64) {
            int32_t ids[64];
            int64_t n = keep - i < 64 ? keep - i : 64;
            for (int64_t j = 0; j < n; j++)
                ids[j] = found[i + j] < base->n ? (int32_t)found[i + j] : -1;
            list_refine(kn, base, query, ids, n, lists, q, rows);
        }
        if (keep < base->n && !list_proven(lists, q, ceilings[q - lo]))
            unproven[open++] = (int32_t)q;
    }
    return open;
}

static void widen64(double *out, const float *row, int64_t dim) {
    for (int64_t i = 0; i < dim; i++)
        out[i] = row[i];
}

void kernel_exhaust(const kernel *kn, const side *queries, const side *base, const final_lists *lists,
                    const int32_t *which, int64_t n, span at, double *buf) {
    int64_t dim = base->dim;
    double *rows = buf, *four = rows + EXHAUST_ROWS * dim;
    float *single = (float *)(four + 4 * dim);
    for (int64_t p = at.lo; p < at.hi; p += EXHAUST_ROWS) {
        int32_t ids[EXHAUST_ROWS];
        int64_t have = at.hi - p < EXHAUST_ROWS ? at.hi - p : EXHAUST_ROWS;
        for (int64_t i = 0; i < EXHAUST_ROWS; i++) {
            ids[i] = span_row(&at, p + (i < have ? i : 0), base->n);
            widen64(rows + i * dim, side_row(kn, base, ids[i], single), dim);
        }
        for (int64_t w = 0; w < n; w += 4) {
            int64_t group = n - w < 4 ? n - w : 4;
            for (int64_t j = 0; j < 4; j++)
                widen64(four + j * dim, side_row(kn, queries, which[w + (j < group ? j : 0)], single), dim);
            for (int64_t i = 0; i < have; i += 4) {
                float cosines[16];
                kn->dot16(cosines, four, rows + i * dim, dim);
                for (int64_t j = 0; j < group; j++)
                    for (int64_t r = 0; r < 4 && i + r < have; r++)
                        list_offer(base, lists, which[w + j], ids[i + r], cosines[j * 4 + r]);
            }
        }
    }
}
