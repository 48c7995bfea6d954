// Without fused multiply-add every CPU computes the same.
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif

#include "bests.h"

// Sixteen sums of float32, in one vector or several.
typedef float sums __attribute__((vector_size(64), aligned(4)));

enum { LANES = 16, BLOCK = 64 };

static inline float join(sums s, const float *a, const float *b, int64_t k, int64_t dim) {
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int lane = 0; lane < width; lane++)
            s[lane] += s[lane + width];
    float sum = s[0];
    for (; k < dim; k++)
        sum += a[k] * b[k];
    return sum;
}

static inline void raise(float *best, float v) {
    if (v > *best)
        *best = v;
}

#if defined(__x86_64__) && defined(__linux__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
void match_bests(const float *a, int64_t n, const float *b, int64_t m, int64_t dim, float *best_a, float *best_b) {
    for (int64_t from = 0; from < m; from += BLOCK) {
        int64_t to = from + BLOCK < m ? from + BLOCK : m;
        // Two rows by two: the last may stand twice, which changes no maximum.
        for (int64_t i = 0; i < n; i += 2) {
            int64_t i1 = i + 1 < n ? i + 1 : i;
            const float *a0 = a + i * dim, *a1 = a + i1 * dim;
            for (int64_t j = from; j < to; j += 2) {
                int64_t j1 = j + 1 < to ? j + 1 : j, k = 0;
                const float *b0 = b + j * dim, *b1 = b + j1 * dim;
                sums s00 = {0}, s01 = {0}, s10 = {0}, s11 = {0};
                for (; k + LANES <= dim; k += LANES) {
                    sums x0 = *(const sums *)(a0 + k), x1 = *(const sums *)(a1 + k);
                    sums y0 = *(const sums *)(b0 + k), y1 = *(const sums *)(b1 + k);
                    s00 += x0 * y0;
                    s01 += x0 * y1;
                    s10 += x1 * y0;
                    s11 += x1 * y1;
                }
                float c00 = join(s00, a0, b0, k, dim), c01 = join(s01, a0, b1, k, dim);
                float c10 = join(s10, a1, b0, k, dim), c11 = join(s11, a1, b1, k, dim);
                raise(best_a + i, c00);
                raise(best_a + i, c01);
                raise(best_a + i1, c10);
                raise(best_a + i1, c11);
                raise(best_b + j, c00);
                raise(best_b + j, c10);
                raise(best_b + j1, c01);
                raise(best_b + j1, c11);
            }
        }
    }
}
