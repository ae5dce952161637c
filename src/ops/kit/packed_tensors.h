// Variants that hold a few tensors: a part of a sparse tensor, the levels and values of a ragged
// one.
#ifndef RHEOS_SRC_OPS_KIT_PACKED_TENSORS_H
#define RHEOS_SRC_OPS_KIT_PACKED_TENSORS_H

#include "tensor/variant.h"

// What the tensors are together; only files tell a tensor from a ragged one without splits.
typedef enum rheos__packed_form { RHEOS__PACKED_TENSOR, RHEOS__PACKED_RAGGED } rheos__packed_form;

// A variant of `count` tensors, whose references it takes also on failure. Several are ragged.
rheos_status *rheos__packed_tensors_take(rheos__packed_form form, rheos_tensor **tensors,
                                         int32_t count, rheos__variant **out_variant);

// The form of a variant that holds tensors. False: it is of another kind, or NULL.
bool rheos__packed_form_of(const rheos__variant *variant, rheos__packed_form *out_form);

// What element `index` of a tensor of variants holds, borrowed; RHEOS_INVALID_ARGUMENT naming `op`
// unless it holds tensors.
rheos_status *rheos__packed_tensors_of(const rheos_tensor *variants, int64_t index, const char *op,
                                       rheos_tensor *const **out_tensors, int32_t *out_count);

#endif  // RHEOS_SRC_OPS_KIT_PACKED_TENSORS_H
