// Packed operands of a segment (resource/packing.h). Such an operand stands for a place behind the
// values of the plan, which the executor points at the plain value and its packing before the
// instruction runs; everything else about the step is as with the value itself.
#ifndef RHEOS_SRC_PLAN_SEGMENT_PACKED_OPERAND_H
#define RHEOS_SRC_PLAN_SEGMENT_PACKED_OPERAND_H

#include "plan/segment/segment.h"

// One of a segment, numbered from 0: `data[plan->num_values + number]` of the workspace points at
// its rheos__packed.
struct rheos__packed_operand {
  int32_t root;  // the value that is packed
  rheos__packing_request request;
  rheos__packing *packing;
};

// Which variables a plan writes: looked for when it is first asked.
typedef struct rheos__written {
  const rheos__plan *plan;
  bool *values;  // by value: a cell that the plan writes
} rheos__written;

void rheos__written_deinit(rheos__written *w);

// Whether the bytes of an operand are the same in step after step: a constant's, or those of a
// variable that the plan does not write.
bool rheos__operand_stays(const rheos__segment *segment, rheos__written *w, int32_t root);

// Notes the packing that is asked for by the kernel of the segment's latest instruction.
rheos_status *rheos__pack_operand(rheos__segment *segment, const rheos__packing_request *request);
// Once everything is in its place: lets the operands stand for their packings.
void rheos__place_packed_operands(rheos__segment *segment);
// The bytes of the segment's packings; other segments may share some of them.
size_t rheos__packed_bytes(const rheos__segment *segment);
void rheos__packed_operands_deinit(rheos__segment *segment);

// Puts the instruction's packed operand, if it is packed already, into the workspace, until the
// next takes its place.
rheos_status *rheos__take_packed_operand(const rheos__segment *segment,
                                         const rheos__instruction *in, rheos__workspace *workspace);
// At the end of a step.
void rheos__release_packed_operands(rheos__workspace *workspace);

#endif  // RHEOS_SRC_PLAN_SEGMENT_PACKED_OPERAND_H
