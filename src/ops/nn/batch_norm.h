// What the kernels of FusedBatchNorm and of its gradient have in common.
#ifndef RHEOS_SRC_OPS_NN_BATCH_NORM_H
#define RHEOS_SRC_OPS_NN_BATCH_NORM_H

#include "graph/op_def.h"

typedef struct rheos__norm_loops rheos__norm_loops;

// The state of the kernels. An element (n, c, s) of x, with the spatial dimensions as one, is at
// n * batch_step + c * channel_step + s * spatial_step.
typedef struct rheos__norm {
  int64_t batch, channels, spatial;
  int64_t batch_step, channel_step, spatial_step;
  rheos_dtype dtype, param_dtype;  // of x; of the vectors
  double epsilon, factor;
  bool is_training;
  bool has_mean;  // a running mean and variance are given
  int32_t num_outputs;
  const rheos__norm_loops *loops;
  int64_t unit_channels;  // a unit of work
  int64_t most_channels;  // of a range, at most RHEOS__NORM_CHANNELS
} rheos__norm;

// Channels that are worked on together, and their statistics.
enum { RHEOS__NORM_CHANNELS = 256 };
typedef struct rheos__norm_range {
  int64_t first, count;
  double mean[RHEOS__NORM_CHANNELS], variance[RHEOS__NORM_CHANNELS];
} rheos__norm_range;

// The loops over the elements of a range. Vectors hold a number for each of its channels.
struct rheos__norm_loops {
  // Fills in the statistics.
  void (*moments)(const rheos__norm *s, const void *x, rheos__norm_range *k);
  // y = (x - mean) scale + offset
  void (*normalize)(const rheos__norm *s, const void *x, const rheos__norm_range *k,
                    const double *scale, const double *offset, void *y);
  // Sums of what arrives, and of its products with x - mean.
  void (*grad_sums)(const rheos__norm *s, const void *dy, const void *x, const rheos__norm_range *k,
                    double *sum, double *product);
  // dx = (dy - mean_dy - (x - mean) slope) scale
  void (*grad_x)(const rheos__norm *s, const void *dy, const void *x, const rheos__norm_range *k,
                 const double *scale, const double *mean_dy, const double *slope, void *dx);
};

#endif  // RHEOS_SRC_OPS_NN_BATCH_NORM_H
