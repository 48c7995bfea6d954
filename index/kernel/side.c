#include "kernel.h"

#include <math.h>

#include "bfloat16.h"

static int64_t first(const side *s, int64_t i) { return s->first ? s->first[i] : i; }

const float *side_row(const kernel *kn, const side *s, int64_t i, float *buf) {
    int64_t row = first(s, i);
    if (!s->half)
        return (const float *)s->rows + row * s->dim;
    kn->widen(buf, (const uint16_t *)s->rows + row * s->dim, s->dim);
    return buf;
}

void side_fetch(const side *s, int64_t i) {
    size_t bytes = (size_t)s->dim * (s->half ? 2 : 4);
    const char *row = (const char *)s->rows + first(s, i) * bytes;
    for (size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(row + at, 0, 2);
}

int32_t side_place(const side *s, int32_t i) {
    int32_t row = (int32_t)first(s, i);
    return s->order ? s->order[row] : row;
}

// Looks at rows lo to hi: raises *longest to the largest square of a length, and returns the first row whose square is
// above limit or no number, -1 when all are well.
int64_t kernel_inspect(const kernel *kn, const side *s, int64_t lo, int64_t hi, double limit, double *longest, float *buf) {
    for (int64_t i = lo; i < hi; i++) {
        double square = kn->square(side_row(kn, s, i, buf), s->dim);
        if (!(square <= limit))
            return i;
        if (square > *longest)
            *longest = square;
    }
    return -1;
}

float kernel_largest(const kernel *kn, const side *s, int64_t lo, int64_t hi, float *buf) {
    float top = 0;
    for (int64_t i = lo; i < hi; i++) {
        float value = kn->largest(side_row(kn, s, i, buf), s->dim);
        top = value > top ? value : top;
    }
    return top;
}

double kernel_bfloat16_loss(const kernel *kn, const side *s, int64_t lo, int64_t hi, float *buf) {
    double longest = 0;
    float *lost = buf + s->dim;
    for (int64_t i = lo; i < hi; i++) {
        const float *row = side_row(kn, s, i, buf);
        for (int64_t j = 0; j < s->dim; j++)
            lost[j] = row[j] - bfloat16_value(bfloat16_of(row[j])); // exact: the low bits of row[j]
        double square = kn->square(lost, s->dim);
        longest = square > longest ? square : longest;
    }
    return longest;
}

void kernel_widen(const kernel *kn, float *out, const uint16_t *half, int64_t n) { kn->widen(out, half, n); }
