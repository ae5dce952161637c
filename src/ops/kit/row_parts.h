// Joining tensors along a dimension and taking them apart again. Around that dimension a tensor is
// a matrix: rows for the dimensions before it, in each row one contiguous run for each part.
#ifndef RHEOS_SRC_OPS_KIT_ROW_PARTS_H
#define RHEOS_SRC_OPS_KIT_ROW_PARTS_H

#include "graph/op_def.h"

// Joins the inputs [first, first + count) along `axis` of the output: inputs with fewer dimensions
// (Pack) have `axis` left out.
rheos_status *rheos__prepare_join(rheos__prepare *p, int32_t first, int32_t count, int32_t axis);

// Takes an input apart along `axis` into the outputs, which have sizes of their own along it or,
// for Unpack, no such dimension.
rheos_status *rheos__prepare_take_apart(rheos__prepare *p, int32_t input, int32_t axis);

#endif  // RHEOS_SRC_OPS_KIT_ROW_PARTS_H
