// Runs a plan.
#ifndef RHEOS_SRC_RUNTIME_EXECUTOR_H
#define RHEOS_SRC_RUNTIME_EXECUTOR_H

#include "plan/segment.h"
#include "runtime/bound.h"
#include "runtime/step.h"

// One run with the tensors `feeds` (in the plan's order, dtypes and shapes checked already).
// `out_values` are in the order of the plan's fetches: each a tensor for the caller; NULL after a
// failure. With `bound`, of which `feeds` are the values, fetches go there and `out_values` is not
// used. `out_cost_ns` is a guess at the time of a run like this.
rheos_status *rheos__execute(rheos__plan *plan, rheos_tensor *const *feeds,
                             const rheos__bound *bound, rheos__step *step,
                             rheos_tensor **out_values, double *out_cost_ns);

#endif  // RHEOS_SRC_RUNTIME_EXECUTOR_H
