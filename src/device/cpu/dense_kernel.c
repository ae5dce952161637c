// Small products. Some rows of the result by some vectors of columns are summed up in registers,
// one row of b after the other, and get their bias and activation before they are stored. Each
// element is the sum over k in order, by multiply-adds where the processor has them, whatever tile
// it falls into: so neither tiles nor threads change the bits. One source (dense_loops.inc) for all
// widths.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#pragma GCC optimize("O3")
#endif
#include "device/cpu/dense.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

// Tiles have to be taken apart into registers to be fast; to be checked by a sanitizer, they are
// better left as they are written.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNROLL(n)
#else
#define UNROLL_TEXT(text) _Pragma(#text)
#define UNROLL(n) UNROLL_TEXT(GCC unroll n)
#endif

#if defined(__x86_64__)

#ifdef __clang__  // takes no width to prefer
#define TARGET __attribute__((target("arch=x86-64-v4")))
#else
#define TARGET __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))
#endif
#define LANES 16
#define VECTORS 4
#define NAME(x) x##_512
typedef float vector_512 __attribute__((vector_size(64), may_alias));
TARGET static inline __attribute__((always_inline)) vector_512 load_part_512(const float *p,
                                                                             int n) {
  return (vector_512)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}
TARGET static inline __attribute__((always_inline)) void store_part_512(float *p, vector_512 x,
                                                                        int n) {
  _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)x);
}
TARGET static inline __attribute__((always_inline)) vector_512 add_product_512(vector_512 sum,
                                                                               float x,
                                                                               vector_512 y) {
  return (vector_512)_mm512_fmadd_ps(_mm512_set1_ps(x), (__m512)y, (__m512)sum);
}
#include "device/cpu/dense_loops.inc"

#define TARGET __attribute__((target("arch=x86-64-v3")))
#define LANES 8
#define VECTORS 2
#define MOST_ROWS 6
#define TILES_OF_2 TILES_6
#define NAME(x) x##_256
typedef float vector_256 __attribute__((vector_size(32), may_alias));
TARGET static inline __attribute__((always_inline)) __m256i mask_256(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
TARGET static inline __attribute__((always_inline)) vector_256 load_part_256(const float *p,
                                                                             int n) {
  return (vector_256)_mm256_maskload_ps(p, mask_256(n));
}
TARGET static inline __attribute__((always_inline)) void store_part_256(float *p, vector_256 x,
                                                                        int n) {
  _mm256_maskstore_ps(p, mask_256(n), (__m256)x);
}
TARGET static inline __attribute__((always_inline)) vector_256 add_product_256(vector_256 sum,
                                                                               float x,
                                                                               vector_256 y) {
  return (vector_256)_mm256_fmadd_ps(_mm256_set1_ps(x), (__m256)y, (__m256)sum);
}
#include "device/cpu/dense_loops.inc"

#endif

#if defined(__aarch64__)  // twice as many registers
#define VECTORS_OF_4 4
#else
#define VECTORS_OF_4 2
#endif
#define TARGET
#define LANES 4
#define VECTORS VECTORS_OF_4
#if VECTORS_OF_4 == 2
#define MOST_ROWS 4
#define TILES_OF_2 TILES_4
#endif
#define NAME(x) x##_128
typedef float vector_128 __attribute__((vector_size(16), may_alias));
static inline __attribute__((always_inline)) vector_128 load_part_128(const float *p, int n) {
  float lanes[4] = {p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, 0};
  vector_128 x;
  memcpy(&x, lanes, sizeof x);
  return x;
}
static inline __attribute__((always_inline)) void store_part_128(float *p, vector_128 x, int n) {
  for (int i = 0; i < n; i++) p[i] = x[i];
}
static inline __attribute__((always_inline)) vector_128 add_product_128(vector_128 sum, float x,
                                                                        vector_128 y) {
#if defined(__aarch64__)
  return (vector_128)vfmaq_n_f32((float32x4_t)sum, (float32x4_t)y, x);
#else
  return sum + x * y;
#endif
}
#include "device/cpu/dense_loops.inc"

rheos__dense_fn rheos__dense_kernel_of(int lanes) {
  if (lanes == 4) return dense_128;
#if defined(__x86_64__)
  if (lanes == 16 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512cd")) {
    return dense_512;
  }
  if (lanes == 8 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    return dense_256;
  }
#endif
  return NULL;
}

static int lanes_here(void) {
  return rheos__dense_kernel_of(16) != NULL ? 16 : rheos__dense_kernel_of(8) != NULL ? 8 : 4;
}

rheos__dense_fn rheos__dense_kernel(void) { return rheos__dense_kernel_of(lanes_here()); }

int rheos__dense_columns(void) {
  const int lanes = lanes_here();
  return lanes == 16 ? 64 : lanes == 8 ? 16 : 4 * VECTORS_OF_4;
}
