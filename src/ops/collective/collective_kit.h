// What the ops of collectives share: a member's part in one, whose keys are attributes or inputs.
#ifndef RHEOS_SRC_OPS_COLLECTIVE_COLLECTIVE_KIT_H
#define RHEOS_SRC_OPS_COLLECTIVE_COLLECTIVE_KIT_H

#include "graph/op_def.h"
#include "resource/collective.h"

// The state of a kernel for this type, as far as its node tells: the device, the dtype T, how
// values are merged, no rank. NULL when memory is short.
rheos__collective *rheos__prepare_member(rheos__prepare *p, rheos__collective_type type);

// The value of an input, a scalar of int32; `name` is the input's.
rheos_status *rheos__collective_scalar(const rheos_tensor *tensor, const char *name,
                                       int32_t *out_value);

// Takes part with `input`, whose shape with that of others makes the one that all agree on; an
// `input` that is NULL receives `shape`. The answer is to be returned from `compute`.
rheos_status *rheos__take_part(const rheos__collective *what, rheos__step *step,
                               rheos_tensor *input, const rheos_shape *shape,
                               rheos_tensor **outputs);

#endif  // RHEOS_SRC_OPS_COLLECTIVE_COLLECTIVE_KIT_H
