// The memory plan of a segment.
#ifndef RHEOS_SRC_PLAN_SEGMENT_MEMORY_H
#define RHEOS_SRC_PLAN_SEGMENT_MEMORY_H

#include "plan/segment/segment.h"

// Finds when each value is needed last, gives intermediates offsets in one block of memory_bytes
// (values that are never alive together share bytes, outputs take over inputs where the kernel
// allows it), and lists which tensors can go after each instruction.
rheos_status *rheos__place_memory(rheos__segment *segment);

// Marks the roots that are used after the segment, or fetched; a part of the above.
void rheos__find_escapes(rheos__segment *segment);

#endif  // RHEOS_SRC_PLAN_SEGMENT_MEMORY_H
