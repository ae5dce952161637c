// What a step needs, known before it runs: bytes, and which tensors are the largest.
#ifndef RHEOS_SRC_PLAN_SEGMENT_MEMORY_REPORT_H
#define RHEOS_SRC_PLAN_SEGMENT_MEMORY_REPORT_H

#include "plan/segment/segment.h"

enum { RHEOS__NUM_LARGEST = 10 };

typedef struct rheos__large_tensor {
  rheos__edge origin;  // in the graph
  rheos_dtype dtype;
  const rheos_shape *shape;
  size_t bytes;
  bool is_variable;  // what a variable holds
} rheos__large_tensor;

typedef struct rheos__memory_report {
  size_t
      shared_bytes;  // one block for all intermediates, those that are never alive together shared
  size_t fetched_bytes;   // tensors for the caller
  size_t separate_bytes;  // what all intermediates would take side by side
  size_t packed_bytes;    // packed operands, kept from step to step
  size_t kernel_bytes;    // tensors that kernels make themselves, those that are alive together
  int32_t waits_for;      // the node on whose values the shapes of the rest depend, -1: none
  int32_t num_unknown;    // of a plan on tokens: values whose shapes the graph does not tell
  int32_t num_largest;    // largest first
  rheos__large_tensor largest[RHEOS__NUM_LARGEST];
} rheos__memory_report;

// Of the segment alone. The report points into it.
void rheos__memory_report_of(const rheos__segment *segment, rheos__memory_report *out_report);

// Of a plan on tokens, whose kernels make all tensors: what one trip holds of those whose shapes
// the graph tells. The report points into the graph.
rheos_status *rheos__memory_report_of_tokens(const rheos__plan *plan,
                                             rheos__memory_report *out_report);

// The most that the segment takes.
static inline size_t rheos__memory_peak(const rheos__memory_report *report) {
  return report->shared_bytes + report->fetched_bytes + report->kernel_bytes;
}

// The error of a segment for which there is no memory, with its largest tensors and their lines.
rheos_status *rheos__no_memory_for(const rheos__segment *segment);

// If the status says that memory was short within the segment, and names no node yet, adds the
// largest tensors to it. Takes `status` and returns the error to go on with.
rheos_status *rheos__no_memory_take(rheos_status *status, const rheos__segment *segment);

#endif  // RHEOS_SRC_PLAN_SEGMENT_MEMORY_REPORT_H
