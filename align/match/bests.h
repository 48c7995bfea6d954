#include <stdint.h>

// match_bests raises best_a [n] and best_b [m] to the best products of each row of a [n, dim] with those of b [m, dim],
// and the reverse.
void match_bests(const float *a, int64_t n, const float *b, int64_t m, int64_t dim, float *best_a, float *best_b);
