// Buffers that a callable is bound to: a step reads its feeds out of them and leaves its fetches in
// them, so that nothing has to be allocated.
#ifndef RHEOS_SRC_RUNTIME_RUN_BOUND_H
#define RHEOS_SRC_RUNTIME_RUN_BOUND_H

#include <stdatomic.h>

#include "tensor/tensor.h"

typedef struct rheos__bound {
  int32_t num_values, num_results;
  rheos_tensor **values;   // counted
  rheos_tensor **results;  // counted
  bool *is_direct;         // by result: the step may write there while it still reads the values
  atomic_bool is_running;
} rheos__bound;

// Fails where a result is held by somebody else, or overlaps another one.
rheos_status *rheos__bound_new(rheos_tensor *const *values, int32_t num_values,
                               rheos_tensor *const *results, int32_t num_results,
                               rheos__bound **out_bound);
void rheos__bound_free(rheos__bound *bound);

// Puts a fetched value into the result, of which dtype and shape have to be the same.
rheos_status *rheos__bound_store(const rheos__bound *bound, int32_t result, rheos_dtype dtype,
                                 const rheos_shape *shape, const void *data);

// Whether a value of this dtype and shape can be computed right in the result.
bool rheos__bound_takes(const rheos__bound *bound, int32_t result, rheos_dtype dtype,
                        const rheos_shape *shape);

#endif  // RHEOS_SRC_RUNTIME_RUN_BOUND_H
