// Elementwise ops, one or a cluster of them, as one kernel.
#ifndef RHEOS_SRC_DEVICE_OPENCL_LOOP_H
#define RHEOS_SRC_DEVICE_OPENCL_LOOP_H

#include "device/fuse.h"
#include "device/opencl/launch.h"
#include "ops/kit/elementwise.h"

enum { RHEOS__LOOP_OPERANDS = 24, RHEOS__LOOP_MEMBERS = 32 };

typedef struct rheos__loop_operand {
  int32_t number;  // of the stage's operands
  uint8_t dtype;   // as what its numbers are read or written
  bool is_output;
  // How it is read: one number for all; or if there are dimensions those of the whole, and how many
  // elements it moves along each; else its element
  bool is_number;
  int32_t rank;
  int64_t dims[RHEOS_MAX_RANK], steps[RHEOS_MAX_RANK];
} rheos__loop_operand;

typedef struct rheos__loop_member {
  const rheos__formula *formula;
  double parameter;
  int32_t inputs[RHEOS__MAX_OPERANDS];  // an earlier member, or -1 - operand
  int32_t output;                       // the operand that it is stored in, or -1
} rheos__loop_member;

// Inputs first, then outputs.
typedef struct rheos__card_loop {
  int64_t num_elements;
  int32_t num_operands, num_members;
  rheos__loop_operand operands[RHEOS__LOOP_OPERANDS];
  rheos__loop_member members[RHEOS__LOOP_MEMBERS];
} rheos__card_loop;

// How operand k of an elementwise kernel is read.
void rheos__loop_read(const rheos__elementwise *e, int32_t k, rheos__loop_operand *out);

// Whether the card can compute a formula.
bool rheos__loop_can(const rheos__card *card, const rheos__formula *formula);

// Adds its kernel.
void rheos__loop_add(rheos__launch *launch, const rheos__card_loop *loop);

// The kernel for an elementwise op, and what clusters of them become. Where the op is part of a
// segment its kernel is compiled by rheos__cl_finish_loops(), if it is part of no cluster by then;
// what does not compile is computed by the CPU, on copies.
rheos_status *rheos__cl_prepare_elementwise(rheos__prepare *p);
// The kernel for the sum of a list.
rheos_status *rheos__cl_prepare_add_n(rheos__prepare *p);
extern const rheos__fusing rheos__cl_fusing;
rheos_status *rheos__cl_finish_loops(rheos__segment *segment);

#endif  // RHEOS_SRC_DEVICE_OPENCL_LOOP_H
