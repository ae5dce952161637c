// The numbers of tensors, added up.
#ifndef RHEOS_STATISTICS_H
#define RHEOS_STATISTICS_H

#include <rheos/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

// The numbers of a tensor. Complex ones count by their real and imaginary parts, texts not at all.
typedef struct rheos_statistics {
  int64_t count;  // of numbers; the following add up to it
  int64_t num_nan, num_negative, num_zero, num_positive;
  int64_t num_negative_infinite, num_positive_infinite;  // among the negative and positive ones
  // Of the finite ones; 0 where there are none.
  double least, most, mean;
  double norm;  // the square root of the sum of their squares
} rheos_statistics;

// RHEOS_INVALID_ARGUMENT for a tensor without numbers.
RHEOS_STATUS rheos_tensor_statistics(const rheos_tensor *tensor, rheos_statistics *out_statistics);

enum { RHEOS_HISTOGRAM_BUCKETS = 32 };

// How the finite numbers of a tensor are spread: how many are in each of as many buckets of equal
// width from the least to the most, whose upper ends are in the next ones but for the last. Where
// all are the same, they are in the first.
typedef struct rheos_histogram {
  double least, most;                       // 0 where there are none
  int64_t counts[RHEOS_HISTOGRAM_BUCKETS];  // of each bucket
} rheos_histogram;

// RHEOS_INVALID_ARGUMENT for a tensor without numbers.
RHEOS_STATUS rheos_tensor_histogram(const rheos_tensor *tensor, rheos_histogram *out_histogram);

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_STATISTICS_H
