// Fused loops that end in a reduction: elements are computed in pieces that stay in the first-level
// cache and added up there, in the order and with the functions of the reduction by itself.
#ifndef RHEOS_SRC_DEVICE_CPU_FUSED_REDUCTION_H
#define RHEOS_SRC_DEVICE_CPU_FUSED_REDUCTION_H

#include "device/cpu/fused_loop.h"
#include "ops/math/reduction.h"

typedef struct rheos__fused_reduction {
  const rheos__reduction *r;
  const rheos__fused *loop;
  int32_t reduced;       // the place of the loop that is added up
  int64_t flops;         // of the whole
  size_t piece_bytes;    // of the elements in the scratch memory; 0: they are an operand, kept
  size_t scratch_bytes;  // totals, elements, what the loop needs
} rheos__fused_reduction;

// Whether it goes over its elements in runs that are long enough.
bool rheos__reduction_can_fuse(const rheos__reduction *r);

// `reduced`: the place of the loop that is added up. NULL when memory is short.
rheos__fused_reduction *rheos__fused_reduction_new(const rheos__reduction *r,
                                                   const rheos__fused *loop, int32_t reduced,
                                                   int64_t flops, rheos__arena *arena);

// The kernels with it as their state, for reductions that have the one or the other. The inputs are
// the operands of the loop.
rheos_status *rheos__run_fused_reduction(const void *state, const void *const *inputs,
                                         void *const *outputs, void *scratch, int64_t first_unit,
                                         int64_t last_unit);
rheos_status *rheos__compute_fused_reduction(void *state, rheos__step *step,
                                             rheos_tensor *const *inputs, rheos_tensor **outputs);

#endif  // RHEOS_SRC_DEVICE_CPU_FUSED_REDUCTION_H
