// Runs a plan: as a step, or as a body inside a running step.
#ifndef RHEOS_SRC_RUNTIME_RUN_EXECUTOR_H
#define RHEOS_SRC_RUNTIME_RUN_EXECUTOR_H

#include "graph/calls.h"
#include "plan/segment/segment.h"
#include "runtime/run/bound.h"
#include "runtime/step/step.h"

// Runs the plan as the step, which has begun, with the tensors `feeds` (in the plan's order, dtypes
// and shapes checked already). `out_values` are in the order of the plan's fetches: each a tensor
// for the caller; NULL after a failure. With `bound`, of which `feeds` are the values, fetches go
// there and `out_values` is not used. `out_cost_ns` is a guess at the time of a run like this.
rheos_status *rheos__execute(rheos__plan *plan, rheos_tensor *const *feeds,
                             const rheos__bound *bound, rheos__step *step,
                             rheos_tensor **out_values, double *out_cost_ns);

// ---- Runs inside runs

typedef struct rheos__brought rheos__brought;

// A body as one caller has it: kept from call to call, so that entering with the same shapes and
// cells takes neither a lock nor memory. For one thread at a time.
typedef struct rheos__call {
  rheos__plan *plan;            // borrowed
  rheos__workspace *workspace;  // NULL until the first call
  rheos__segment **path;        // gone through last, from the root on; marked as running
  int32_t path_length;
  size_t path_capacity;
  int64_t num_runs;         // since a kernel has entered it
  rheos__brought *brought;  // room for arguments that are moved: bring.h; NULL until they are
} rheos__call;

// `call` holds zeros but for the plan. The workspace goes back to the plan, which must still be
// there.
void rheos__call_deinit(rheos__call *call);

// As rheos__call_deinit(), for a plan that is about to be freed.
void rheos__call_drop(rheos__call *call);

// What the fetches of a run with this key will be: shapes, unknown where only a run tells, and
// cells, NULL where there is none. The root segment for the key is made if there is none.
rheos_status *rheos__plan_describe(rheos__plan *plan, const rheos__key *key, rheos__step *step,
                                   rheos_shape *out_shapes, rheos__resource **out_cells);

// Runs the body inside the step, whose budget, polling, trace and resources it shares. `values`, in
// the order of the plan's fetches, are results for the caller, NULL of a handle and after a
// failure. Tensors that they hold before are taken: a result of the same dtype and shape is
// computed there if nobody else holds the tensor.
rheos_status *rheos__call_run(rheos__call *call, const rheos__parameters *parameters,
                              rheos__step *step, rheos_tensor **values);

#endif  // RHEOS_SRC_RUNTIME_RUN_EXECUTOR_H
