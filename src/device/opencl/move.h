// What only moves elements: from steps to steps, and the same value to all places.
#ifndef RHEOS_SRC_DEVICE_OPENCL_MOVE_H
#define RHEOS_SRC_DEVICE_OPENCL_MOVE_H

#include "device/opencl/launch.h"
#include "ops/kit/array_util.h"

// Adds a copy from one operand to another, numbered as for stages.
void rheos__move_add(rheos__launch *launch, const rheos__copy *copy, int32_t from, int32_t to);
// For the text of such a kernel: its arguments d0, f0, t0... for so many loops; and where in each
// element `at` (of the type `number`) of the loops lies, `from` and `to`, of the type `place`.
void rheos__move_add_loops(rheos__text *text, int32_t rank);
void rheos__move_add_walk(rheos__text *text, int32_t rank, const char *place);

// Sets `count` elements of `size` bytes to what the bits are, of which the others are 0.
void rheos__move_add_fill(rheos__launch *launch, int32_t to, int64_t count, size_t size,
                          uint64_t bits);
// The bits of 1.
uint64_t rheos__move_one_of(rheos_dtype dtype);

// The dimension that input `input` says (-1: the attribute "axis"; an input that there is not: the
// first one), of so many; false where nothing says it yet.
bool rheos__cl_find_axis(const rheos__prepare *p, int32_t input, int32_t rank, int32_t *out_axis);

// Ops that are one copy; that join inputs, or take one apart; and others.
rheos_status *rheos__cl_prepare_copy(rheos__prepare *p);
rheos_status *rheos__cl_prepare_join(rheos__prepare *p);
rheos_status *rheos__cl_prepare_take_apart(rheos__prepare *p);
rheos_status *rheos__cl_prepare_pad(rheos__prepare *p);
rheos_status *rheos__cl_prepare_fill(rheos__prepare *p);
rheos_status *rheos__cl_prepare_constant_fill(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_MOVE_H
