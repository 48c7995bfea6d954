#include "product.h"

#if defined(__x86_64__) && defined(__GNUC__) && defined(__linux__)
#include <string.h>

#include "wide.h"

int matrix_supported(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("fma");
}

int matrix_tiles(void) { return matrix_supported() && __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-int8"); }

enum { ROWS = 32, COLUMNS = 32, TOGETHER = 4, TILE = 64, AT_ONCE = 8 };

// vnni writes the sums of AT_ONCE rows and COLUMNS columns.
TARGET static void vnni(const uint8_t *numbers, int64_t step, int64_t k, const int8_t *matrix, int32_t *sums) {
  __m512i s[AT_ONCE][2];
  for (int r = 0; r < AT_ONCE; r++) s[r][0] = s[r][1] = _mm512_setzero_si512();
  const int8_t *second = matrix + k * WIDTH;
  for (int64_t c = 0; c < k; c += TOGETHER) {
    const __m512i w0 = _mm512_loadu_si512(matrix + c * WIDTH), w1 = _mm512_loadu_si512(second + c * WIDTH);
    for (int r = 0; r < AT_ONCE; r++) {
      int32_t four;
      memcpy(&four, numbers + r * step + c, sizeof four);
      const __m512i x = _mm512_set1_epi32(four);
      s[r][0] = _mm512_dpbusd_epi32(s[r][0], x, w0);
      s[r][1] = _mm512_dpbusd_epi32(s[r][1], x, w1);
    }
  }
  for (int r = 0; r < AT_ONCE; r++) {
    _mm512_storeu_si512(sums + r * COLUMNS, s[r][0]);
    _mm512_storeu_si512(sums + r * COLUMNS + WIDTH, s[r][1]);
  }
}

#define TILES __attribute__((target("amx-tile,amx-int8")))

TILES static void begin_tiles(void) {
  static const struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16]; // of a register's row
    uint8_t rows[16];
  } eight = {.palette = 1, .bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
  _tile_loadconfig(&eight);
}

TILES static void end_tiles(void) { _tile_release(); }

// amx writes the sums of ROWS rows, or of the first 16 of them, and COLUMNS columns. k is a multiple of TILE.
TILES static void amx(const uint8_t *numbers, int64_t step, int64_t k, const int8_t *matrix, int half, int32_t *sums) {
  enum { STRIDE = COLUMNS * 4 };
  const int8_t *second = matrix + k * WIDTH;
  const uint8_t *below = numbers + 16 * step;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t c = 0; c < k; c += TILE) {
    _tile_loadd(4, numbers + c, step);
    _tile_loadd(6, matrix + c * WIDTH, TILE);
    _tile_dpbusd(0, 4, 6);
    _tile_loadd(7, second + c * WIDTH, TILE);
    _tile_dpbusd(1, 4, 7);
    if (half) continue;
    _tile_loadd(5, below + c, step);
    _tile_dpbusd(2, 5, 6);
    _tile_dpbusd(3, 5, 7);
  }
  _tile_stored(0, sums, STRIDE);
  _tile_stored(1, sums + WIDTH, STRIDE);
  if (half) return;
  _tile_stored(2, sums + 16 * COLUMNS, STRIDE);
  _tile_stored(3, sums + 16 * COLUMNS + WIDTH, STRIDE);
}

// finish makes 16 numbers of a row of their sums.
INLINE void finish(const int32_t *sums, const int32_t *shift, const float *scales, float greatest, const float *bias, int after, const float *rest, int times, float *out) {
  const __m512 sum = _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_loadu_si512(sums), _mm512_loadu_si512(shift)));
  __m512 x = _mm512_mul_ps(_mm512_mul_ps(sum, _mm512_loadu_ps(scales)), _mm512_set1_ps(greatest));
  if (bias) x = _mm512_add_ps(x, _mm512_loadu_ps(bias));
  x = activated(after, x);
  if (rest) x = joined(x, _mm512_loadu_ps(rest), times);
  _mm512_storeu_ps(out, x);
}

TARGET void matrix_shifts(const int8_t *matrix, int64_t k, int64_t columns, int32_t *shift) {
  for (int64_t c = 0; c < columns; c += WIDTH) {
    __m512i sum = _mm512_setzero_si512();
    for (int64_t i = 0; i < k; i += TOGETHER, matrix += TOGETHER * WIDTH) sum = _mm512_dpbusd_epi32(sum, _mm512_set1_epi8(1), _mm512_loadu_si512(matrix));
    _mm512_storeu_si512(shift + c, _mm512_slli_epi32(sum, 7));
  }
}

TARGET void matrix_product(const uint8_t *numbers, int64_t step, int64_t n, int64_t k, const int8_t *matrix, const int32_t *shift, const float *scales,
                           const float *greatest, int64_t columns, int64_t tokens, int64_t gap, const float *bias, int after, const float *rest,
                           int64_t rest_stride, int times, int tiles, float *out, int64_t out_stride) {
  int32_t sums[ROWS * COLUMNS] __attribute__((aligned(64)));
  const int in_tiles = tiles && k % TILE == 0;
  if (in_tiles) begin_tiles();
  for (int64_t c = 0; c < columns; c += COLUMNS) {
    for (int64_t i = 0; i < n; i += ROWS) {
      const int64_t rows = n - i < ROWS ? n - i : ROWS;
      if (in_tiles)
        amx(numbers + i * step, step, k, matrix + c * k, rows <= 16, sums);
      else
        for (int64_t r = 0; r < rows; r += AT_ONCE) vnni(numbers + (i + r) * step, step, k, matrix + c * k, sums + r * COLUMNS);
      int64_t sentence = gap ? i / (tokens + gap) : 0, token = gap ? i % (tokens + gap) : i;
      for (int64_t r = 0; r < rows; r++, token++) {
        if (gap && token == tokens + gap) token = 0, sentence++;
        if (gap && token >= tokens) continue;
        const int64_t p = sentence * tokens + token;
        for (int b = 0; b < COLUMNS; b += WIDTH)
          finish(sums + r * COLUMNS + b, shift + c + b, scales + c + b, greatest[p], bias ? bias + c + b : bias, after,
                 rest ? rest + p * rest_stride + c + b : rest, times, out + p * out_stride + c + b);
      }
    }
  }
  if (in_tiles) end_tiles();
}
#else
int matrix_supported(void) { return 0; }
int matrix_tiles(void) { return 0; }
void matrix_shifts(const int8_t *matrix, int64_t k, int64_t columns, int32_t *shift) {}
void matrix_product(const uint8_t *numbers, int64_t step, int64_t n, int64_t k, const int8_t *matrix, const int32_t *shift, const float *scales, const float *greatest, int64_t columns, int64_t tokens, int64_t gap, const float *bias, int after, const float *rest, int64_t rest_stride, int times, int tiles, float *out, int64_t out_stride) {}
#endif
