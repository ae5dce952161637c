// Products of float32 matrices too small for a library call to pay, with a bias and an activation.
#ifndef RHEOS_SRC_DEVICE_CPU_DENSE_H
#define RHEOS_SRC_DEVICE_CPU_DENSE_H

#include "ops/nn/fused.h"

// Some of the columns of c (m,n) = a (m,k) b (k,n). Element (i, k) of a is at i * a_row + k *
// a_column; rows of b and c are so many elements apart. With `taps` that is done so many times and
// summed up: the next k columns of a begin a_tap further on, the next k rows of b follow.
typedef struct rheos__dense {
  int64_t n, k;
  int64_t a_row, a_column, b_row, c_row;
  int64_t first_column, end_column;
  int64_t taps, a_tap;  // 0: one
  bool adds;            // the products to what is in c
  const float *bias;    // of all columns, or NULL
  // RHEOS__NO_ACTIVATION, RHEOS__RELU, RHEOS__RELU6 or RHEOS__LEAKY_RELU.
  rheos__activation activation;
  float alpha;
} rheos__dense;

// Rows [first, last). Each element is the sum over k in order, whatever rows and columns are asked
// for together.
typedef void (*rheos__dense_fn)(const rheos__dense *d, const float *a, const float *b, float *c,
                                int64_t first, int64_t last);

// The one for this processor; the one for vectors of 4, 8 or 16 numbers, NULL if it has none such.
rheos__dense_fn rheos__dense_kernel(void);
rheos__dense_fn rheos__dense_kernel_of(int lanes);
// Whether the loops do all of the epilogue: its bias and its activation.
bool rheos__dense_does(const rheos__epilogue *e);
// Columns of the widest tile of the kernel for this processor.
int rheos__dense_columns(void);

// MatMul and _FusedMatMul.
rheos_status *rheos__dense_prepare_matmul(rheos__prepare *p);
rheos_status *rheos__dense_prepare_fused_matmul(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_CPU_DENSE_H
