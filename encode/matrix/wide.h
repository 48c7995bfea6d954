// Functions of 16 numbers at once, for products and for the layers around them.
#ifndef MATRIX_WIDE_H
#define MATRIX_WIDE_H
#include <immintrin.h>

#include "product.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma")))
#define INLINE TARGET static inline __attribute__((always_inline))

enum { WIDTH = MATRIX_WIDTH };

// exponential is e^x for x up to 0: 2^n times a polynomial (Cephes' expf) for what is left of x.
INLINE __m512 exponential(__m512 x) {
  x = _mm512_max_ps(x, _mm512_set1_ps(-80.0f));
  const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504088896341f)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4f), _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), x));
  __m512 p = _mm512_set1_ps(1.9875691500e-4f);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.3981999507e-3f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(8.3334519073e-3f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(4.1665795894e-2f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.6666665459e-1f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(5.0000001201e-1f));
  p = _mm512_fmadd_ps(_mm512_mul_ps(p, r), r, _mm512_add_ps(r, _mm512_set1_ps(1)));
  return _mm512_scalef_ps(p, n);
}

// gelu is x (1 + erf(x / sqrt 2)) / 2, with Abramowitz and Stegun's 7.1.26 for erf: its error is at most 1.5e-7.
INLINE __m512 gelu(__m512 x) {
  const __m512 z = _mm512_mul_ps(x, _mm512_set1_ps(0.70710678118654752f)), size = _mm512_abs_ps(z);
  const __m512 t = _mm512_div_ps(_mm512_set1_ps(1), _mm512_fmadd_ps(size, _mm512_set1_ps(0.3275911f), _mm512_set1_ps(1)));
  __m512 p = _mm512_set1_ps(1.061405429f);
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(-1.453152027f));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(1.421413741f));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(-0.284496736f));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(0.254829592f));
  p = _mm512_mul_ps(p, t);
  // 1 - erf(size)
  const __m512 rest = _mm512_mul_ps(p, exponential(_mm512_sub_ps(_mm512_setzero_ps(), _mm512_mul_ps(size, size))));
  const __m512 half = _mm512_mul_ps(x, _mm512_set1_ps(0.5f));
  const __mmask16 negative = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ);
  const __m512 above = _mm512_mul_ps(half, _mm512_sub_ps(_mm512_set1_ps(2), rest)), below = _mm512_mul_ps(half, rest);
  return _mm512_mask_blend_ps(negative, above, below);
}

// sigmoid is 1 / (1 + e^-x).
INLINE __m512 sigmoid(__m512 x) {
  const __m512 one = _mm512_set1_ps(1), turned = _mm512_sub_ps(_mm512_setzero_ps(), x);
  return _mm512_div_ps(one, _mm512_add_ps(one, exponential(_mm512_min_ps(turned, _mm512_set1_ps(80.0f)))));
}

// tanh_gelu is x (1 + tanh(z)) / 2 = x sigmoid(2 z) with z = sqrt(2 / pi) (x + 0.044715 x^3).
INLINE __m512 tanh_gelu(__m512 x) {
  const __m512 cube = _mm512_fmadd_ps(_mm512_mul_ps(x, x), _mm512_set1_ps(0.0713548162726f), _mm512_set1_ps(1.5957691216057308f));
  return _mm512_mul_ps(x, sigmoid(_mm512_mul_ps(x, cube)));
}

INLINE __m512 positive(__m512 x) { return _mm512_max_ps(x, _mm512_setzero_ps()); }

// activated is AFTER_... of x.
INLINE __m512 activated(int after, __m512 x) {
  switch (after) {
  case AFTER_RELU: return positive(x);
  case AFTER_GELU: return gelu(x);
  case AFTER_TANH_GELU: return tanh_gelu(x);
  case AFTER_SILU: return _mm512_mul_ps(x, sigmoid(x));
  }
  return x;
}

// joined is x with y added, or times y.
INLINE __m512 joined(__m512 x, __m512 y, int times) { return times ? _mm512_mul_ps(x, y) : _mm512_add_ps(x, y); }
#endif
