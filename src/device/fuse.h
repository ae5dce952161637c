// Elementwise fusion: clusters of elementwise instructions become one that goes over their elements
// once, tile by tile (device/cpu/fused_loop.h).
//
// A cluster is made of instructions over the same number of elements, each the reader of an earlier
// one; operands that are broadcast come from outside. It runs where its last member stood, so it
// only grows while nothing outside has read any of its values, and an instruction that may fail is
// never part of one. A reduction that is the first outside to read one of its values may end it.
// Which instructions are elementwise, and what becomes of a cluster, is the device's.
#ifndef RHEOS_SRC_DEVICE_FUSE_H
#define RHEOS_SRC_DEVICE_FUSE_H

#include "ops/kit/elementwise.h"
#include "ops/math/reduction.h"
#include "plan/segment/segment.h"

enum {
  RHEOS__FUSED_MEMBERS = 32,   // rows in one loop, at most
  RHEOS__FUSED_OPERANDS = 64,  // operands, at most: inputs, and outputs but one
  RHEOS__IN_SLOT = -1,         // where a row writes: to a place that only the cluster sees,
  RHEOS__TO_OUTPUT = -2,       // to the output, or to an operand (its number)
};

typedef struct rheos__fused_row {
  const rheos__elementwise *row;
  int32_t instruction;                  // of the segment as it was
  int32_t inputs[RHEOS__MAX_OPERANDS];  // an operand, or -1 - an earlier row
  int32_t output;                       // as above
  int32_t num_readers;                  // operands of later rows, and what is reduced
} rheos__fused_row;

// A cluster that becomes one instruction.
typedef struct rheos__fused_cluster {
  int64_t num_elements;
  int32_t num_operands, num_rows;
  // Bytes that an element takes in each operand (0: it is broadcast), then in the output
  int64_t steps[RHEOS__FUSED_OPERANDS + 1];
  rheos__fused_row rows[RHEOS__FUSED_MEMBERS];
  int32_t target;                     // the row that is the output, or is reduced
  const rheos__reduction *reduction;  // or NULL
} rheos__fused_cluster;

// What a device says of its instructions.
typedef struct rheos__fusing {
  int32_t max_rows, max_inputs;  // of a cluster; at most the above, and half of them
  // NULL if it is no elementwise kernel; and if it does not reduce.
  const rheos__elementwise *(*row_of)(const rheos__instruction *in);
  const rheos__reduction *(*reduction_of)(const rheos__instruction *in);
  // Makes `in`, the last of the cluster's instructions, that of the whole: it has its operands
  // and costs already. *out_made false: it cannot, and the cluster's instructions stay as they are.
  rheos_status *(*make)(rheos__segment *segment, const rheos__fused_cluster *cluster,
                        rheos__instruction *in, bool *out_made);
} rheos__fusing;

// Whether the session wants it.
bool rheos__fuses(const rheos__plan *plan);

// Replaces clusters among the instructions of the segment, before its memory is placed. A value
// that only the cluster needs is gone; of those needed outside, the last is the output of the new
// instruction, and the others stay outputs of RHEOS__HOLD instructions and are operands of the new
// one. An instruction has RHEOS__FUSED_OPERANDS at most.
rheos_status *rheos__fuse(rheos__segment *segment, const rheos__fusing *by);

#endif  // RHEOS_SRC_DEVICE_FUSE_H
