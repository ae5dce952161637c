// Ops of which each element that comes out shows one that goes in, or nothing, which its
// coordinates say. A program counts the coordinates j0, j1... of an element that comes out, and
// begins with the same ones of what goes in: i0, i1... Lines of the op's change these; outside
// there is 0.
#ifndef RHEOS_SRC_DEVICE_OPENCL_ORIGIN_H
#define RHEOS_SRC_DEVICE_OPENCL_ORIGIN_H

#include "device/opencl/launch.h"

enum { RHEOS__ORIGIN_INDICES = 1, RHEOS__ORIGIN_NUMBERS = 3 * RHEOS_MAX_RANK };

// Starts as zeros. Who has added lines answers.
typedef struct rheos__origins {
  int32_t in_rank, out_rank;
  int64_t in[RHEOS_MAX_RANK], out[RHEOS_MAX_RANK];
  // Inputs of whole numbers, which the lines know as a0...
  int32_t num_indices, indices[RHEOS__ORIGIN_INDICES];
  // What the lines know as n0, n1...
  int32_t num_numbers;
  int64_t numbers[RHEOS__ORIGIN_NUMBERS];
  rheos__text lines;  // of integers of the type `whole`
} rheos__origins;

// Adds dimensions [first, last) of what goes in and what comes out; or those that are the same in
// both and of which no line speaks, as one.
void rheos__origins_add_dims(rheos__origins *o, const rheos_shape *in, const rheos_shape *out,
                             int32_t first, int32_t last);
void rheos__origins_add_joined(rheos__origins *o, const rheos_shape *shape, int32_t first,
                               int32_t last);
void rheos__origins_add_number(rheos__origins *o, int64_t number);

// Answers with the program, of input 0 and output 0.
rheos_status *rheos__origins_answer(rheos__prepare *p, rheos__origins *o);

#endif  // RHEOS_SRC_DEVICE_OPENCL_ORIGIN_H
