// Nodes of a device with a memory of its own whose shapes come late: they run on the host.
#ifndef RHEOS_SRC_PLAN_STAGED_NODE_H
#define RHEOS_SRC_PLAN_STAGED_NODE_H

#include "plan/segment.h"

// Copies of an instruction's inputs in the host's memory, references for the caller; constants are
// there already, and NULL stays NULL. For rheos__unstage_inputs(), after a failure too.
rheos_status *rheos__stage_inputs(const rheos__segment *segment, const rheos__instruction *in,
                                  rheos_tensor *const *inputs, rheos_tensor ***out_staged);
void rheos__unstage_inputs(rheos_tensor **staged, int32_t num_inputs);

// Puts tensors of that memory in place of those of the host's.
rheos_status *rheos__stage_results(rheos__memory *memory, rheos_tensor **results,
                                   int32_t num_results);

#endif  // RHEOS_SRC_PLAN_STAGED_NODE_H
