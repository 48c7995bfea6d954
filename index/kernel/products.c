#include "kernel.h"

void kernel_dots(const kernel *kn, const side *queries, const int32_t *which, int64_t n, const side *base,
                 const int32_t *ids, int64_t each, float *out, float *buf) {
    int64_t dim = base->dim;
    for (int64_t i = 0; i < n; i++) {
        const float *query = side_row(kn, queries, which ? which[i] : i, buf);
        for (int64_t j = 0; j < each; j += 4) {
            const float *rows[4];
            float products[4];
            int64_t have = each - j < 4 ? each - j : 4;
            for (int64_t r = 0; r < 4; r++)
                rows[r] = r < have ? side_row(kn, base, ids[i * each + j + r], buf + (r + 1) * dim) : rows[0];
            kn->dot4(products, query, rows, dim);
            for (int64_t r = 0; r < have; r++)
                out[i * each + j + r] = products[r];
        }
    }
}
