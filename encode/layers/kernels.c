#include "kernels.h"

#if defined(__x86_64__) && defined(__GNUC__) && defined(__linux__)
#include <math.h>
#include <string.h>

#include "../matrix/wide.h"

INLINE __m512 greater(const float *x, int64_t k, __m512 most) {
  for (int64_t c = 0; c < k; c += WIDTH) most = _mm512_max_ps(most, _mm512_abs_ps(_mm512_loadu_ps(x + c)));
  return most;
}

INLINE void rounded(const float *x, int64_t k, __m512 factor, uint8_t *numbers) {
  for (int64_t c = 0; c < k; c += WIDTH) {
    const __m512i whole = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x + c), factor));
    _mm_storeu_si128((__m128i *)(numbers + c), _mm512_cvtusepi32_epi8(_mm512_add_epi32(whole, _mm512_set1_epi32(128))));
  }
}

TARGET void layers_quantise(const float *x, int64_t stride, int64_t n, int64_t k, uint8_t *numbers, float *greatest) {
  for (int64_t i = 0; i < n; i++, x += stride, numbers += k) {
    greatest[i] = _mm512_reduce_max_ps(greater(x, k, _mm512_set1_ps(1e-30f)));
    rounded(x, k, _mm512_set1_ps(127.0f / greatest[i]), numbers);
  }
}

TARGET void layers_quantise_sentences(const float *x, int64_t stride, int64_t n, int64_t tokens, int64_t k, int64_t gap, uint8_t *numbers, float *greatest) {
  memset(numbers, 128, gap * k);
  numbers += gap * k;
  for (int64_t i = 0; i < n; i++, x += tokens * stride, greatest += tokens) {
    __m512 most = _mm512_set1_ps(1e-30f);
    for (int64_t t = 0; t < tokens; t++) most = greater(x + t * stride, k, most);
    const float all = _mm512_reduce_max_ps(most);
    const __m512 factor = _mm512_set1_ps(127.0f / all);
    for (int64_t t = 0; t < tokens; t++, numbers += k) {
      greatest[t] = all;
      rounded(x + t * stride, k, factor, numbers);
    }
    memset(numbers, 128, gap * k);
    numbers += gap * k;
  }
}

TARGET void layers_map(int after, const float *x, int64_t x_stride, int times, const float *y, int64_t y_stride, int64_t n, int64_t k, float *out,
                       int64_t out_stride) {
  for (int64_t i = 0; i < n; i++, x += x_stride, out += out_stride) {
    for (int64_t c = 0; c < k; c += WIDTH) {
      __m512 v = activated(after, _mm512_loadu_ps(x + c));
      if (y) v = joined(v, _mm512_loadu_ps(y + i * y_stride + c), times);
      _mm512_storeu_ps(out + c, v);
    }
  }
}

TARGET void layers_normalise(const float *x, int64_t stride, int64_t n, int64_t k, const float *scale, const float *bias, float epsilon, float *out, int64_t out_stride) {
  for (int64_t i = 0; i < n; i++, x += stride, out += out_stride) {
    __m512 sum = _mm512_setzero_ps(), squares = _mm512_setzero_ps();
    for (int64_t c = 0; c < k; c += WIDTH) sum = _mm512_add_ps(sum, _mm512_loadu_ps(x + c));
    const __m512 mean = _mm512_set1_ps(_mm512_reduce_add_ps(sum) / (float)k);
    for (int64_t c = 0; c < k; c += WIDTH) {
      const __m512 d = _mm512_sub_ps(_mm512_loadu_ps(x + c), mean);
      squares = _mm512_fmadd_ps(d, d, squares);
    }
    const __m512 factor = _mm512_set1_ps(1.0f / sqrtf(_mm512_reduce_add_ps(squares) / (float)k + epsilon));
    for (int64_t c = 0; c < k; c += WIDTH) {
      const __m512 d = _mm512_mul_ps(_mm512_sub_ps(_mm512_loadu_ps(x + c), mean), factor);
      _mm512_storeu_ps(out + c, _mm512_fmadd_ps(d, _mm512_loadu_ps(scale + c), _mm512_loadu_ps(bias + c)));
    }
  }
}

TARGET void layers_scale(const float *x, int64_t stride, int64_t n, int64_t parts, int64_t k, const float *scale, float epsilon, float *out, int64_t out_stride) {
  for (int64_t i = 0; i < n * parts; i++) {
    const float *from = x + i / parts * stride + i % parts * k;
    float *to = out + i / parts * out_stride + i % parts * k;
    __m512 squares = _mm512_setzero_ps();
    for (int64_t c = 0; c < k; c += WIDTH) squares = _mm512_fmadd_ps(_mm512_loadu_ps(from + c), _mm512_loadu_ps(from + c), squares);
    const __m512 factor = _mm512_set1_ps(1.0f / sqrtf(_mm512_reduce_add_ps(squares) / (float)k + epsilon));
    for (int64_t c = 0; c < k; c += WIDTH)
      _mm512_storeu_ps(to + c, _mm512_mul_ps(_mm512_mul_ps(_mm512_loadu_ps(from + c), factor), _mm512_loadu_ps(scale + c)));
  }
}

TARGET void layers_rotate(const float *x, int64_t stride, int64_t n, int64_t tokens, int64_t heads, int64_t dim, const float *cosines, const float *sines,
                          float *out, int64_t out_stride) {
  const int64_t half = dim / 2;
  for (int64_t i = 0; i < n * tokens; i++, x += stride, out += out_stride) {
    const float *cosine = cosines + i % tokens * half, *sine = sines + i % tokens * half;
    for (int64_t h = 0; h < heads * dim; h += dim)
      for (int64_t c = 0; c < half; c += WIDTH) {
        const __m512 a = _mm512_loadu_ps(x + h + c), b = _mm512_loadu_ps(x + h + half + c);
        const __m512 cos = _mm512_loadu_ps(cosine + c), sin = _mm512_loadu_ps(sine + c);
        _mm512_storeu_ps(out + h + c, _mm512_fmsub_ps(a, cos, _mm512_mul_ps(b, sin)));
        _mm512_storeu_ps(out + h + half + c, _mm512_fmadd_ps(b, cos, _mm512_mul_ps(a, sin)));
      }
  }
}

TARGET void layers_mean(const float *x, int64_t stride, int64_t n, int64_t tokens, int64_t k, float *out, int64_t out_stride) {
  const __m512 share = _mm512_set1_ps((float)tokens);
  for (int64_t i = 0; i < n; i++, x += tokens * stride, out += out_stride) {
    for (int64_t c = 0; c < k; c += WIDTH) {
      __m512 sum = _mm512_loadu_ps(x + c);
      for (int64_t t = 1; t < tokens; t++) sum = _mm512_add_ps(sum, _mm512_loadu_ps(x + t * stride + c));
      _mm512_storeu_ps(out + c, _mm512_div_ps(sum, share));
    }
  }
}

enum { QUERIES = 4, BLOCKS = 2 };

// scores writes to columns low to high of all [QUERIES, padded] the products of queries with keys, which are turned
// [dim, padded]. There are `rows` queries; the last one is taken again for those that are not there.
TARGET static void scores(const float *q, int64_t q_stride, int64_t rows, const float *keys, int64_t padded, int64_t low, int64_t high, int64_t dim,
                          float scale, float *all) {
  const float *query[QUERIES];
  for (int r = 0; r < QUERIES; r++) query[r] = q + (r < rows ? r : rows - 1) * q_stride;
  for (int64_t c = low; c < high; c += BLOCKS * WIDTH) {
    __m512 s[QUERIES][BLOCKS];
    for (int r = 0; r < QUERIES; r++) s[r][0] = s[r][1] = _mm512_setzero_ps();
    for (int64_t d = 0; d < dim; d++) {
      const __m512 left = _mm512_loadu_ps(keys + d * padded + c), right = _mm512_loadu_ps(keys + d * padded + c + WIDTH);
      for (int r = 0; r < QUERIES; r++) {
        const __m512 x = _mm512_set1_ps(query[r][d]);
        s[r][0] = _mm512_fmadd_ps(x, left, s[r][0]);
        s[r][1] = _mm512_fmadd_ps(x, right, s[r][1]);
      }
    }
    for (int r = 0; r < QUERIES; r++)
      for (int b = 0; b < BLOCKS; b++) _mm512_storeu_ps(all + r * padded + c + b * WIDTH, _mm512_mul_ps(s[r][b], _mm512_set1_ps(scale)));
  }
}

// within are the columns c to c + 15 that are from `from` up to `to`.
INLINE __mmask16 within(int64_t c, int64_t from, int64_t to) {
  const int64_t first = from > c ? from - c : 0, end = to - c < WIDTH ? to - c : WIDTH;
  return first < end ? ((1 << end) - 1) & ~((1 << first) - 1) : 0;
}

// softmax leaves e^(score - greatest) in columns from to `to` of a row, 0 in others of low to high, and returns their
// sum.
TARGET static float softmax(float *row, int64_t low, int64_t high, int64_t from, int64_t to) {
  const __m512 least = _mm512_set1_ps(-INFINITY);
  __m512 most = least;
  for (int64_t c = low; c < high; c += WIDTH) most = _mm512_max_ps(most, _mm512_mask_loadu_ps(least, within(c, from, to), row + c));
  most = _mm512_set1_ps(_mm512_reduce_max_ps(most));
  __m512 sum = _mm512_setzero_ps();
  for (int64_t c = low; c < high; c += WIDTH) {
    const __mmask16 here = within(c, from, to);
    const __m512 e = _mm512_maskz_mov_ps(here, exponential(_mm512_sub_ps(_mm512_mask_loadu_ps(least, here, row + c), most)));
    sum = _mm512_add_ps(sum, e);
    _mm512_storeu_ps(row + c, e);
  }
  return _mm512_reduce_add_ps(sum);
}

// turn16 writes to out [16, padded] 16 rows of as many numbers with rows for columns: pairs, fours, and fours of fours
// change places.
INLINE void turn16(const float *const rows[16], float *out, int64_t padded) {
  __m512 pairs[16], fours[16];
  for (int i = 0; i < 16; i += 2) {
    const __m512 a = _mm512_loadu_ps(rows[i]), b = _mm512_loadu_ps(rows[i + 1]);
    pairs[i] = _mm512_unpacklo_ps(a, b);
    pairs[i + 1] = _mm512_unpackhi_ps(a, b);
  }
  for (int i = 0; i < 16; i += 4)
    for (int k = 0; k < 2; k++) {
      const __m512d a = _mm512_castps_pd(pairs[i + k]), b = _mm512_castps_pd(pairs[i + 2 + k]);
      fours[i + 2 * k] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
      fours[i + 2 * k + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
    }
  for (int k = 0; k < 4; k++) {
    const __m512 a = _mm512_shuffle_f32x4(fours[k], fours[4 + k], 0x88), b = _mm512_shuffle_f32x4(fours[k], fours[4 + k], 0xdd);
    const __m512 c = _mm512_shuffle_f32x4(fours[8 + k], fours[12 + k], 0x88), d = _mm512_shuffle_f32x4(fours[8 + k], fours[12 + k], 0xdd);
    _mm512_storeu_ps(out + k * padded, _mm512_shuffle_f32x4(a, c, 0x88));
    _mm512_storeu_ps(out + (4 + k) * padded, _mm512_shuffle_f32x4(b, d, 0x88));
    _mm512_storeu_ps(out + (8 + k) * padded, _mm512_shuffle_f32x4(a, c, 0xdd));
    _mm512_storeu_ps(out + (12 + k) * padded, _mm512_shuffle_f32x4(b, d, 0xdd));
  }
}

// turned writes keys [tokens, dim] to out [dim, padded], with zeros after the last token.
TARGET static void turned(const float *keys, int64_t stride, int64_t tokens, int64_t dim, int64_t padded, float *out) {
  static const float nothing[WIDTH];
  for (int64_t t = 0; t < padded; t += WIDTH)
    for (int64_t d = 0; d < dim; d += WIDTH) {
      const float *rows[WIDTH];
      for (int i = 0; i < WIDTH; i++) rows[i] = t + i < tokens ? keys + (t + i) * stride + d : nothing;
      turn16(rows, out + d * padded + t, padded);
    }
}

// weighted writes to out [rows, dim] the sums of values low to high with a row's weights, divided by the row's sum.
TARGET static void weighted(const float *weights, int64_t padded, const float *sums, int64_t rows, const float *values, int64_t stride, int64_t low,
                            int64_t high, int64_t dim, float *out, int64_t out_stride) {
  for (int64_t c = 0; c < dim; c += WIDTH) {
    __m512 s[QUERIES];
    for (int r = 0; r < QUERIES; r++) s[r] = _mm512_setzero_ps();
    for (int64_t t = low; t < high; t++) {
      const __m512 v = _mm512_loadu_ps(values + t * stride + c);
      for (int r = 0; r < QUERIES; r++) s[r] = _mm512_fmadd_ps(_mm512_set1_ps(weights[r * padded + t]), v, s[r]);
    }
    for (int64_t r = 0; r < rows; r++) _mm512_storeu_ps(out + r * out_stride + c, _mm512_div_ps(s[r], _mm512_set1_ps(sums[r])));
  }
}

TARGET void layers_attention(const float *q, int64_t q_stride, const float *k, int64_t k_stride, const float *v, int64_t v_stride, int64_t n, int64_t tokens,
                             int64_t heads, int64_t shared, int64_t dim, int64_t before, int64_t after, float scale, float *scratch, float *out,
                             int64_t out_stride) {
  const int64_t both = BLOCKS * WIDTH, padded = (tokens + both - 1) / both * both, group = heads / shared;
  float *keys = scratch, *all = scratch + dim * padded, sums[QUERIES];
  memset(all, 0, QUERIES * padded * sizeof *all);
  for (int64_t i = 0; i < n; i++)
    for (int64_t h = 0; h < heads; h++) {
      const int64_t first = i * tokens, column = h * dim, other = h / group * dim;
      if (h % group == 0) turned(k + first * k_stride + other, k_stride, tokens, dim, padded, keys);
      for (int64_t t = 0; t < tokens; t += QUERIES) {
        const int64_t rows = tokens - t < QUERIES ? tokens - t : QUERIES;
        const int64_t from = before < 0 || t < before ? 0 : t - before, end = t + rows + after;
        const int64_t to = after < 0 || end > tokens ? tokens : end;
        const int64_t low = from / both * both, high = (to + both - 1) / both * both;
        scores(q + (first + t) * q_stride + column, q_stride, rows, keys, padded, low, high, dim, scale, all);
        for (int64_t r = 0; r < rows; r++) {
          const int64_t own = before < 0 || t + r < before ? 0 : t + r - before, last = t + r + after + 1;
          sums[r] = softmax(all + r * padded, low, high, own, after < 0 || last > tokens ? tokens : last);
        }
        weighted(all, padded, sums, rows, v + first * v_stride + other, v_stride, from, to, dim, out + (first + t) * out_stride + column, out_stride);
      }
    }
}
#else
void layers_quantise(const float *x, int64_t stride, int64_t n, int64_t k, uint8_t *numbers, float *greatest) {}
void layers_quantise_sentences(const float *x, int64_t stride, int64_t n, int64_t tokens, int64_t k, int64_t gap, uint8_t *numbers, float *greatest) {}
void layers_map(int after, const float *x, int64_t x_stride, int times, const float *y, int64_t y_stride, int64_t n, int64_t k, float *out, int64_t out_stride) {}
void layers_normalise(const float *x, int64_t stride, int64_t n, int64_t k, const float *scale, const float *bias, float epsilon, float *out, int64_t out_stride) {}
void layers_scale(const float *x, int64_t stride, int64_t n, int64_t parts, int64_t k, const float *scale, float epsilon, float *out, int64_t out_stride) {}
void layers_rotate(const float *x, int64_t stride, int64_t n, int64_t tokens, int64_t heads, int64_t dim, const float *cosines, const float *sines, float *out, int64_t out_stride) {}
void layers_mean(const float *x, int64_t stride, int64_t n, int64_t tokens, int64_t k, float *out, int64_t out_stride) {}
void layers_attention(const float *q, int64_t q_stride, const float *k, int64_t k_stride, const float *v, int64_t v_stride, int64_t n, int64_t tokens, int64_t heads, int64_t shared, int64_t dim, int64_t before, int64_t after, float scale, float *scratch, float *out, int64_t out_stride) {}
#endif
