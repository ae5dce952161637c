// A plan as it runs, entry by entry: for traces, dumps and tests.
#ifndef RHEOS_SRC_PLAN_SHOW_SHOW_H
#define RHEOS_SRC_PLAN_SHOW_SHOW_H

#include "plan/entries/plan.h"

typedef struct rheos__shown {
  int32_t entry;       // its place in the plan
  const char *name;    // of the node that it stands for; "VARIABLE/_read_PLACE" for a read
  const char *op;      // what is run; "Identity" for a read
  const char *device;  // as the program asked for it
  const rheos__attrs *attrs;
  int32_t num_inputs;
  const char *const *inputs;  // "name", or "name:1" for other outputs than the first
} rheos__shown;

// "name" of the node that the entry stands for, "VARIABLE/_read_PLACE" for a read, and of a value
// "name" or "name:1". In the arena; NULL when memory is short.
char *rheos__entry_name(const rheos__plan *plan, int32_t entry, rheos__arena *arena);
char *rheos__value_name(const rheos__plan *plan, int32_t value, rheos__arena *arena);

// Calls `visit` for every entry in order until it fails. What it is shown is its own until it
// returns.
rheos_status *rheos__plan_show(const rheos__plan *plan,
                               rheos_status *(*visit)(void *argument, const rheos__shown *shown),
                               void *argument);

#endif  // RHEOS_SRC_PLAN_SHOW_SHOW_H
