// One-dimensional discrete Fourier transforms of any length, in double.
#ifndef RHEOS_SRC_OPS_SIGNAL_FFT_PLAN_H
#define RHEOS_SRC_OPS_SIGNAL_FFT_PLAN_H

#include "base/complex.h"
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

// Own code, because the one permissive library that Debian has (KISS FFT) computes in one precision
// chosen when it is built, and knows no way around large prime factors.
//
// A length whose prime factors are small is done factor by factor (Stockham's order, no bit
// reversal). Any other becomes a convolution of a power of two (Bluestein).
typedef struct rheos__fft_plan rheos__fft_plan;
struct rheos__fft_plan {
  int64_t n;
  int32_t num_factors, factors[64];
  double complex *roots;  // exp(-2 pi i k / n), k < n
  // Bluestein's: n is a convolution of length inner->n
  rheos__fft_plan *inner;
  double complex *chirp;   // exp(-pi i k^2 / n), k < n
  double complex *kernel;  // the transform of its conjugate, wrapped around
};

// A plan in the arena; NULL when memory is short or the step is to stop. n >= 1.
rheos__fft_plan *rheos__fft_plan_new(rheos__arena *arena, int64_t n);
// Elements of work space that a run needs.
int64_t rheos__fft_work(const rheos__fft_plan *plan);
// data becomes its transform, of exp(+...) if `inverse`, without any scaling. False if the step is
// to stop.
bool rheos__fft_run(const rheos__fft_plan *plan, bool inverse, double complex *data,
                    double complex *work);

#endif  // RHEOS_SRC_OPS_SIGNAL_FFT_PLAN_H
