// Inputs and results of nodes of a device with a memory of its own whose shapes come late.
#ifndef RHEOS_SRC_PLAN_SEGMENT_STAGED_NODE_H
#define RHEOS_SRC_PLAN_SEGMENT_STAGED_NODE_H

#include "plan/segment/segment.h"

// What one run of an instruction takes, with references.
typedef struct rheos__staged {
  rheos_tensor **on_host;    // by input; NULL stays NULL
  rheos_tensor *views;       // by input: of what `on_host` leaves out, and of placed constants
  rheos_tensor **on_device;  // by input, borrowed
  int32_t num_inputs;
} rheos__staged;

// All inputs in the host's memory; constants are there already. For rheos__staged_deinit(), after a
// failure too.
rheos_status *rheos__stage_inputs(const rheos__segment *segment, const rheos__instruction *in,
                                  rheos_tensor *const *inputs, rheos__staged *out_staged);
// Inputs in the host's memory that shapes may depend on: constants, and few integers. Others are
// without bytes. All of them on the device.
rheos_status *rheos__stage_shapes(const rheos__segment *segment, const rheos__instruction *in,
                                  const rheos__workspace *workspace, rheos_tensor *const *inputs,
                                  rheos__staged *out_staged);
void rheos__staged_deinit(rheos__staged *staged);

// Puts tensors of that memory in place of those of the host's.
rheos_status *rheos__stage_results(rheos__memory *memory, rheos_tensor **results,
                                   int32_t num_results);

// Brings tensors that lie elsewhere to the host's memory; NULL ones stay NULL, after a failure all
// are.
rheos_status *rheos__bring_to_host_take(rheos_tensor **tensors, int32_t count);

#endif  // RHEOS_SRC_PLAN_SEGMENT_STAGED_NODE_H
