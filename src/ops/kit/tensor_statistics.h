// The numbers of a tensor, added up: what watches and debuggers tell of values.
#ifndef RHEOS_SRC_OPS_KIT_TENSOR_STATISTICS_H
#define RHEOS_SRC_OPS_KIT_TENSOR_STATISTICS_H

#include <rheos/statistics.h>

#include "tensor/tensor.h"

// Whether tensors of the dtype have numbers.
bool rheos__has_numbers(rheos_dtype dtype);

// Of a tensor in the host's memory that has numbers.
rheos_statistics rheos__statistics_of(const rheos_tensor *tensor);

// Of such a tensor, whose statistics these are.
void rheos__histogram_of(const rheos_tensor *tensor, const rheos_statistics *statistics,
                         rheos_histogram *out_histogram);

static inline int64_t rheos__num_infinite(const rheos_statistics *s) {
  return s->num_negative_infinite + s->num_positive_infinite;
}

#endif  // RHEOS_SRC_OPS_KIT_TENSOR_STATISTICS_H
