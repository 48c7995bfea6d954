#include "head.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif

enum { TILE = 4 };

// Loops of a form that compilers turn into multiply-and-add of 16-bit numbers.
WIDE void head_product(const uint8_t *numbers, int64_t n, int64_t k, const int16_t *matrix, const float *scales, const float *greatest, int64_t columns,
                       float *out) {
  int16_t x[TILE * k];
  for (int64_t i = 0; i < n; i += TILE) {
    const int rows = n - i < TILE ? n - i : TILE;
    for (int64_t c = 0; c < rows * k; c++) x[c] = numbers[i * k + c] - 128;
    memset(x + rows * k, 0, (TILE - rows) * k * sizeof *x);
    for (int64_t j = 0; j < columns; j++) {
      const int16_t *w = matrix + j * k;
      int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
      for (int64_t c = 0; c < k; c++) {
        s0 += x[c] * w[c];
        s1 += x[k + c] * w[c];
        s2 += x[2 * k + c] * w[c];
        s3 += x[3 * k + c] * w[c];
      }
      const int32_t sums[TILE] = {s0, s1, s2, s3};
      for (int r = 0; r < rows; r++) out[(i + r) * columns + j] = (float)sums[r] * scales[j] * greatest[i + r];
    }
  }
}

#if defined(__x86_64__) && defined(__GNUC__)
int head_has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

// Rows of numbers, less 128, are taken SIX together: two numbers of each row, then the next two. A block of the matrix
// is taken for MANY rows while it is in the first cache.
enum { PAIR = 2, SIX = 6, MANY = 8 * SIX };

// block multiplies the first n of six rows by HEAD_WIDTH columns.
__attribute__((target("avx2"))) static void block(const int16_t *x, int64_t n, int64_t k, const int16_t *matrix, const float *scales, const float *greatest,
                                                  int64_t columns, float *out) {
  const __m256i *w = (const __m256i *)matrix;
  const int32_t *pairs = (const int32_t *)x;
  // Sums by name: as an array, GCC 12 keeps them on the stack.
#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)
#define START(r) __m256i low##r = _mm256_setzero_si256(), high##r = low##r;
#define STEP(r)                                                          \
  {                                                                      \
    const __m256i row = _mm256_set1_epi32(pairs[r]);                     \
    low##r = _mm256_add_epi32(low##r, _mm256_madd_epi16(row, first));    \
    high##r = _mm256_add_epi32(high##r, _mm256_madd_epi16(row, second)); \
  }
#define GATHER(r) {low##r, high##r},
  EACH_ROW(START)
  for (int64_t c = 0; c < k; c += PAIR, w += 2, pairs += SIX) {
    const __m256i first = _mm256_loadu_si256(w), second = _mm256_loadu_si256(w + 1);
    EACH_ROW(STEP)
  }
  const __m256i sums[SIX][2] = {EACH_ROW(GATHER)};
  for (int64_t i = 0; i < n; i++)
    for (int half = 0; half < 2; half++) {
      const __m256 scaled = _mm256_mul_ps(_mm256_cvtepi32_ps(sums[i][half]), _mm256_loadu_ps(scales + 8 * half));
      _mm256_storeu_ps(out + i * columns + 8 * half, _mm256_mul_ps(scaled, _mm256_set1_ps(greatest[i])));
    }
}

void head_product_avx2(const uint8_t *numbers, int64_t n, int64_t k, const int16_t *matrix, const float *scales, const float *greatest, int64_t columns,
                       float *out) {
  int16_t x[MANY * k] __attribute__((aligned(sizeof(int32_t))));
  for (int64_t begin = 0; begin < n; begin += MANY) {
    const int64_t end = n - begin < MANY ? n : begin + MANY;
    for (int64_t i = begin; i < end; i += SIX)
      for (int64_t r = 0; r < SIX; r++) {
        int16_t *to = x + (i - begin) * k + PAIR * r;
        for (int64_t c = 0; c < k; c++) to[c / PAIR * PAIR * SIX + c % PAIR] = i + r < n ? numbers[(i + r) * k + c] - 128 : 0;
      }
    for (int64_t j = 0; j < columns; j += HEAD_WIDTH)
      for (int64_t i = begin; i < end; i += SIX)
        block(x + (i - begin) * k, end - i < SIX ? end - i : SIX, k, matrix + j * k, scales + j, greatest + i, columns, out + i * columns + j);
  }
}
#else
int head_has_avx2(void) { return 0; }
void head_product_avx2(const uint8_t *numbers, int64_t n, int64_t k, const int16_t *matrix, const float *scales, const float *greatest, int64_t columns, float *out) {}
#endif

enum { EIGHT = 8 };

#if defined(__x86_64__) && defined(__GNUC__) // fmaf takes long without an instruction
// fused is a * b + c, rounded once. A product of two float32 is exact in float64. Their sum is not, so what it lost
// makes its last bit odd: then the second rounding is not of a number that the first has moved to the middle of two.
static float fused(float a, float b, float c) {
  const double product = (double)a * b, sum = product + c, part = sum - product, lost = (product - (sum - part)) + (c - part);
  uint64_t bits, sign;
  memcpy(&bits, &sum, sizeof bits);
  memcpy(&sign, &lost, sizeof sign);
  const uint64_t step = (1 - ((sign ^ bits) >> 63 << 1)) & ((bits & 1) - 1);
  bits += lost < 0 || lost > 0 ? step : 0; // it is no number where the sum is none
  double odd;
  memcpy(&odd, &bits, sizeof odd);
  return (float)odd;
}

// sum writes the sums of a row's products with EIGHT columns of a matrix, each rounded once. Sums in float64 round to
// the same unless they are in the middle of two float32, or too small for these: then they are computed as above.
static void sum(const float *row, int64_t k, const float *w, float *out) {
  const __m128i below = _mm_set1_epi32(0x1fffffff), middle = _mm_set1_epi32(0x10000000), exponent = _mm_set1_epi32(0x7f800000), zero = _mm_setzero_si128();
  __m128 sums[EIGHT / 4];
  for (int i = 0; i < EIGHT / 4; i++) sums[i] = _mm_setzero_ps();
  for (int64_t c = 0; c < k; c++) {
    const __m128d number = _mm_set1_pd(row[c]);
    for (int i = 0; i < EIGHT / 4; i++) {
      const __m128 four = _mm_loadu_ps(w + c * HEAD_BLOCK + 4 * i);
      const __m128d first = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(four), number), _mm_cvtps_pd(sums[i]));
      const __m128d second = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(_mm_movehl_ps(four, four)), number), _mm_cvtps_pd(_mm_movehl_ps(sums[i], sums[i])));
      __m128 rounded = _mm_movelh_ps(_mm_cvtpd_ps(first), _mm_cvtpd_ps(second));
      const __m128i low = _mm_castps_si128(_mm_shuffle_ps(_mm_castpd_ps(first), _mm_castpd_ps(second), _MM_SHUFFLE(2, 0, 2, 0)));
      const __m128i tiny = _mm_cmpeq_epi32(_mm_and_si128(_mm_castps_si128(rounded), exponent), zero);
      if (_mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi32(_mm_and_si128(low, below), middle), tiny))) {
        float weights[4], one[4];
        _mm_storeu_ps(weights, four);
        _mm_storeu_ps(one, sums[i]);
        for (int lane = 0; lane < 4; lane++) one[lane] = fused(weights[lane], row[c], one[lane]);
        rounded = _mm_loadu_ps(one);
      }
      sums[i] = rounded;
    }
  }
  memcpy(out, sums, sizeof sums);
}
#else
static void sum(const float *row, int64_t k, const float *w, float *out) {
  float sums[EIGHT] = {0};
  for (int64_t c = 0; c < k; c++)
    for (int i = 0; i < EIGHT; i++) sums[i] = fmaf(w[c * HEAD_BLOCK + i], row[c], sums[i]);
  memcpy(out, sums, sizeof sums);
}
#endif

void head_multiply(const float *x, int64_t n, int64_t k, const float *matrix, int64_t columns, float *out) {
  for (int64_t j = 0; j < columns; j += EIGHT) {
    const float *w = matrix + j / HEAD_BLOCK * HEAD_BLOCK * k + j % HEAD_BLOCK;
    for (int64_t i = 0; i < n; i++) sum(x + i * k, k, w, out + i * columns + j);
  }
}

#if defined(__x86_64__) && defined(__GNUC__)
// MULTIPLY defines NAME, which does the same by vectors of LANES numbers and by functions that begin with MM. The sums
// of GROUP rows and PARTS vectors stay in registers, because NAME_tile is inlined with a constant for rows.
#define MULTIPLY(NAME, ARCHITECTURE, VECTOR, MM, LANES, GROUP, PARTS)                                                                        \
  __attribute__((target(ARCHITECTURE))) static inline __attribute__((always_inline)) void NAME##_tile(                                       \
      const float *x, int rows, int64_t k, const float *w, int64_t columns, float *out) {                                                    \
    VECTOR sums[GROUP][PARTS];                                                                                                               \
    for (int r = 0; r < rows; r++)                                                                                                           \
      for (int p = 0; p < (PARTS); p++) sums[r][p] = MM##_setzero_ps();                                                                      \
    for (int64_t c = 0; c < k; c++, w += HEAD_BLOCK)                                                                                         \
      for (int r = 0; r < rows; r++) {                                                                                                       \
        const VECTOR number = MM##_set1_ps(x[r * k + c]);                                                                                    \
        for (int p = 0; p < (PARTS); p++) sums[r][p] = MM##_fmadd_ps(MM##_loadu_ps(w + p * (LANES)), number, sums[r][p]);                    \
      }                                                                                                                                      \
    for (int r = 0; r < rows; r++)                                                                                                           \
      for (int p = 0; p < (PARTS); p++) MM##_storeu_ps(out + r * columns + p * (LANES), sums[r][p]);                                         \
  }                                                                                                                                          \
  __attribute__((target(ARCHITECTURE))) void NAME(const float *x, int64_t n, int64_t k, const float *matrix, int64_t columns, float *out) {  \
    for (int64_t j = 0; j < columns; j += (LANES) * (PARTS)) {                                                                               \
      const float *w = matrix + j / HEAD_BLOCK * HEAD_BLOCK * k + j % HEAD_BLOCK;                                                            \
      int64_t i = 0;                                                                                                                         \
      for (; i + (GROUP) <= n; i += (GROUP)) NAME##_tile(x + i * k, GROUP, k, w, columns, out + i * columns + j);                            \
      for (; i < n; i++) NAME##_tile(x + i * k, 1, k, w, columns, out + i * columns + j);                                                    \
    }                                                                                                                                        \
  }
MULTIPLY(head_multiply_avx2, "avx2,fma", __m256, _mm256, 8, 4, 2)
MULTIPLY(head_multiply_avx512, "avx512f", __m512, _mm512, 16, 8, 2)
#else
void head_multiply_avx2(const float *x, int64_t n, int64_t k, const float *matrix, int64_t columns, float *out) {}
void head_multiply_avx512(const float *x, int64_t n, int64_t k, const float *matrix, int64_t columns, float *out) {}
#endif

WIDE void head_quantise(const float *x, int64_t n, int64_t k, uint8_t *numbers, float *greatest) {
  const float whole = 0x1.8p23f; // a sum with it has no room for fractions, and whole numbers in its last bits
  for (int64_t i = 0; i < n; i++, x += k, numbers += k) {
    float most = 1e-30f;
    int32_t top; // the larger of two positive numbers has the larger bits
    memcpy(&top, &most, sizeof top);
    for (int64_t c = 0; c < k; c++) {
      int32_t bits;
      memcpy(&bits, x + c, sizeof bits);
      bits &= INT32_MAX;
      top = bits > top ? bits : top;
    }
    memcpy(&most, &top, sizeof most);
    greatest[i] = most;
    const float factor = 127.0f / most;
    for (int64_t c = 0; c < k; c++) {
      const float sum = x[c] * factor + whole;
      int32_t bits;
      memcpy(&bits, &sum, sizeof bits);
      numbers[c] = (uint8_t)(bits + 128);
    }
  }
}

WIDE void head_relu(const float *x, int64_t n, float *out) {
  for (int64_t i = 0; i < n; i++) out[i] = x[i] > 0 ? x[i] : 0;
}

WIDE void head_add(const float *x, const float *y, int64_t n, float *out) {
  for (int64_t i = 0; i < n; i++) out[i] = x[i] + y[i];
}

// The quotient of two polynomials that Eigen has for tanh between -9 and 9, where it is 1 in float32.
WIDE void head_tanh(const float *x, int64_t n, float *out) {
  static const float above[] = {-2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
                                1.48572235717979e-05f,  6.37261928875436e-04f, 4.89352455891786e-03f};
  static const float below[] = {1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f};
  for (int64_t i = 0; i < n; i++) {
    const float low = x[i] < 9.0f ? x[i] : 9.0f, v = low > -9.0f ? low : -9.0f, square = v * v;
    float p = above[0], q = below[0];
    for (int k = 1; k < 7; k++) p = p * square + above[k];
    for (int k = 1; k < 4; k++) q = q * square + below[k];
    out[i] = v * p / q;
  }
}

WIDE void head_normalise(const float *x, int64_t n, int64_t k, float *out) {
  for (int64_t i = 0; i < n; i++, x += k, out += k) {
    float squares[HEAD_WIDTH] = {0};
    for (int64_t c = 0; c < k; c += HEAD_WIDTH)
      for (int lane = 0; lane < HEAD_WIDTH; lane++) squares[lane] += x[c + lane] * x[c + lane];
    for (int width = HEAD_WIDTH / 2; width > 0; width /= 2)
      for (int lane = 0; lane < width; lane++) squares[lane] += squares[lane + width];
    const float length = sqrtf(squares[0]), norm = length > 0 ? length : 1;
    for (int64_t c = 0; c < k; c++) out[c] = x[c] / norm;
  }
}
