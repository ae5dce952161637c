// How kernels count their work between two looks whether their step is to stop.
#ifndef RHEOS_SRC_OPS_KIT_POLLING_H
#define RHEOS_SRC_OPS_KIT_POLLING_H

#include "graph/op_def.h"

// Elements between two polls of a loop that does little with each: about a millisecond.
enum { RHEOS__POLLED_ELEMENTS = 1 << 20 };

// Adds `amount` to what was done since the last look; looks after each `every` of it, in whatever
// unit. For loops on any thread, of `run`, `compute` and `prepare`.
static inline bool rheos__stops_after(int64_t *since, int64_t amount, int64_t every) {
  *since += amount;
  if (*since < every) return false;
  *since = 0;
  return rheos__is_stopping();
}

// Any status will do: what the caller of the step sees says why it was stopped.
static inline rheos_status *rheos__stopped(void) {
  return rheos_status_new(RHEOS_CANCELLED, "Step was cancelled.");
}

#endif  // RHEOS_SRC_OPS_KIT_POLLING_H
