// Copies of values between the memories of devices.
#ifndef RHEOS_SRC_PLAN_SEGMENT_COPIES_H
#define RHEOS_SRC_PLAN_SEGMENT_COPIES_H

#include "plan/segment/segment.h"

// Puts an entry that copies before the first one that needs a value of another memory; all
// consumers there share the copy. What is fetched is copied to the host, but by a body, which gives
// its results where they lie. After rewriting; a plan that is not mixed stays as it is.
rheos_status *rheos__insert_copies(rheos__plan *plan);

// The state of RHEOS__COPY.
typedef struct rheos__copying {
  rheos__memory *from, *to;
  size_t size_bytes;
} rheos__copying;

// Puts the constants that the segment defines for its device, which has a memory of its own, into
// that memory, once and for all steps.
rheos_status *rheos__place_constants(rheos__segment *segment);
void rheos__placed_constants_deinit(rheos__segment *segment);

#endif  // RHEOS_SRC_PLAN_SEGMENT_COPIES_H
