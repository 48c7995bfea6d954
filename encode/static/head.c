#include "head.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#include <math.h>
#include <string.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))

int head_supported(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
}

TARGET void head_quantise(const float *x, int64_t n, int64_t k, uint8_t *numbers, float *greatest) {
  for (int64_t i = 0; i < n; i++, x += k, numbers += k) {
    __m512 most = _mm512_set1_ps(1e-30f);
    for (int64_t c = 0; c < k; c += 16) most = _mm512_max_ps(most, _mm512_abs_ps(_mm512_loadu_ps(x + c)));
    greatest[i] = _mm512_reduce_max_ps(most);
    const __m512 factor = _mm512_set1_ps(127.0f / greatest[i]);
    for (int64_t c = 0; c < k; c += 16) {
      const __m512i whole = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x + c), factor));
      _mm_storeu_si128((__m128i *)(numbers + c), _mm512_cvtusepi32_epi8(_mm512_add_epi32(whole, _mm512_set1_epi32(128))));
    }
  }
}

enum { ROWS = 8, BLOCKS = 2, WIDTH = 16, TOGETHER = 4 };

// product multiplies `rows` rows by 32 columns. It is inlined, and rows is a constant, so the sums are in registers.
TARGET static inline __attribute__((always_inline)) void product(const uint8_t *numbers, int rows, int64_t k, const int8_t *matrix, const int32_t *shift,
                                                                 const float *scales, const float *greatest, int64_t columns, float *out) {
  __m512i sums[ROWS][BLOCKS];
  for (int r = 0; r < rows; r++)
    for (int b = 0; b < BLOCKS; b++) sums[r][b] = _mm512_setzero_si512();
  const int8_t *second = matrix + k * WIDTH;
  for (int64_t c = 0; c < k; c += TOGETHER) {
    const __m512i w0 = _mm512_loadu_si512(matrix + c * WIDTH), w1 = _mm512_loadu_si512(second + c * WIDTH);
    for (int r = 0; r < rows; r++) {
      int32_t four;
      memcpy(&four, numbers + r * k + c, sizeof four);
      const __m512i x = _mm512_set1_epi32(four);
      sums[r][0] = _mm512_dpbusd_epi32(sums[r][0], x, w0);
      sums[r][1] = _mm512_dpbusd_epi32(sums[r][1], x, w1);
    }
  }
  for (int r = 0; r < rows; r++)
    for (int b = 0; b < BLOCKS; b++) {
      const __m512 sum = _mm512_cvtepi32_ps(_mm512_sub_epi32(sums[r][b], _mm512_loadu_si512(shift + b * WIDTH)));
      const __m512 scaled = _mm512_mul_ps(_mm512_mul_ps(sum, _mm512_loadu_ps(scales + b * WIDTH)), _mm512_set1_ps(greatest[r]));
      _mm512_storeu_ps(out + r * columns + b * WIDTH, scaled);
    }
}

TARGET void head_product(const uint8_t *numbers, int64_t n, int64_t k, const int8_t *matrix, const int32_t *shift, const float *scales, const float *greatest,
                         int64_t columns, float *out) {
  int64_t i = 0;
  for (; i + ROWS <= n; i += ROWS)
    for (int64_t c = 0; c < columns; c += BLOCKS * WIDTH)
      product(numbers + i * k, ROWS, k, matrix + c * k, shift + c, scales + c, greatest + i, columns, out + i * columns + c);
  for (; i < n; i++)
    for (int64_t c = 0; c < columns; c += BLOCKS * WIDTH)
      product(numbers + i * k, 1, k, matrix + c * k, shift + c, scales + c, greatest + i, columns, out + i * columns + c);
}

TARGET void head_relu(const float *x, int64_t n, float *out) {
  for (int64_t i = 0; i < n; i += WIDTH) _mm512_storeu_ps(out + i, _mm512_max_ps(_mm512_loadu_ps(x + i), _mm512_setzero_ps()));
}

TARGET void head_add(const float *x, const float *y, int64_t n, float *out) {
  for (int64_t i = 0; i < n; i += WIDTH) _mm512_storeu_ps(out + i, _mm512_add_ps(_mm512_loadu_ps(x + i), _mm512_loadu_ps(y + i)));
}

// The quotient of two polynomials that Eigen has for tanh between -9 and 9, where it is 1 in float32.
TARGET void head_tanh(const float *x, int64_t n, float *out) {
  static const float above[] = {-2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
                                1.48572235717979e-05f,  6.37261928875436e-04f, 4.89352455891786e-03f};
  static const float below[] = {1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f};
  const __m512 most = _mm512_set1_ps(9.0f);
  for (int64_t i = 0; i < n; i += WIDTH) {
    const __m512 v = _mm512_max_ps(_mm512_min_ps(_mm512_loadu_ps(x + i), most), _mm512_sub_ps(_mm512_setzero_ps(), most));
    const __m512 square = _mm512_mul_ps(v, v);
    __m512 p = _mm512_set1_ps(above[0]), q = _mm512_set1_ps(below[0]);
    for (int k = 1; k < 7; k++) p = _mm512_add_ps(_mm512_mul_ps(p, square), _mm512_set1_ps(above[k]));
    for (int k = 1; k < 4; k++) q = _mm512_add_ps(_mm512_mul_ps(q, square), _mm512_set1_ps(below[k]));
    _mm512_storeu_ps(out + i, _mm512_div_ps(_mm512_mul_ps(v, p), q));
  }
}

TARGET void head_normalise(const float *x, int64_t n, int64_t k, float *out) {
  for (int64_t i = 0; i < n; i++, x += k, out += k) {
    __m512 squares = _mm512_setzero_ps();
    for (int64_t c = 0; c < k; c += WIDTH) squares = _mm512_add_ps(squares, _mm512_mul_ps(_mm512_loadu_ps(x + c), _mm512_loadu_ps(x + c)));
    const float length = sqrtf(_mm512_reduce_add_ps(squares));
    const __m512 norm = _mm512_set1_ps(length > 0 ? length : 1);
    for (int64_t c = 0; c < k; c += WIDTH) _mm512_storeu_ps(out + c, _mm512_div_ps(_mm512_loadu_ps(x + c), norm));
  }
}
#else
int head_supported(void) { return 0; }
void head_quantise(const float *x, int64_t n, int64_t k, uint8_t *numbers, float *greatest) {}
void head_product(const uint8_t *numbers, int64_t n, int64_t k, const int8_t *matrix, const int32_t *shift, const float *scales, const float *greatest, int64_t columns, float *out) {}
void head_relu(const float *x, int64_t n, float *out) {}
void head_add(const float *x, const float *y, int64_t n, float *out) {}
void head_tanh(const float *x, int64_t n, float *out) {}
void head_normalise(const float *x, int64_t n, int64_t k, float *out) {}
#endif
