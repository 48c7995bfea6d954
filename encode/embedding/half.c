#include "half.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

__attribute__((target("avx2,f16c"))) static int narrow8(const float *in, int64_t n, uint16_t *out) {
  const __m128i exponent = _mm_set1_epi16(0x7c00);
  __m128i wrong = _mm_setzero_si128();
  for (int64_t i = 0; i < n; i += 8) {
    const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    wrong = _mm_or_si128(wrong, _mm_cmpeq_epi16(_mm_and_si128(half, exponent), exponent));
    _mm_storeu_si128((__m128i *)(out + i), half);
  }
  return _mm_testz_si128(wrong, wrong);
}

int half_narrow(const float *in, int64_t n, uint16_t *out) {
  return n % 8 == 0 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c") && narrow8(in, n, out);
}
#else
int half_narrow(const float *in, int64_t n, uint16_t *out) { return 0; }
#endif
