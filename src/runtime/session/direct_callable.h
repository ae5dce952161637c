// Callables of direct sessions, which keep the plan: a run neither hashes nor searches.
#ifndef RHEOS_SRC_RUNTIME_SESSION_DIRECT_CALLABLE_H
#define RHEOS_SRC_RUNTIME_SESSION_DIRECT_CALLABLE_H

#include "runtime/session/direct_session.h"

typedef struct rheos__direct_callable {
  rheos_callable base;
  rheos__cached_plan *plan;  // renewed when the graph was changed; guarded by the session's mutex
} rheos__direct_callable;

// As the table of the kind says.
rheos_status *rheos__direct_make_callable(rheos_callable *callable);
void rheos__direct_release_callable(rheos_callable *callable);
rheos_status *rheos__direct_run_callable(rheos_callable *callable, rheos_tensor *const *values,
                                         rheos_tensor **out_values,
                                         const rheos_run_options *options);
rheos_status *rheos__direct_run_bound(rheos_callable *callable, const rheos_run_options *options);
// As rheos_callable_run(), as one part of a step that has others elsewhere: its sends and receives
// meet those of the others at `rendezvous`, which a part that fails aborts with its error. Of a
// direct session.
rheos_status *rheos__direct_run_part(rheos_callable *callable, rheos_tensor *const *values,
                                     rheos_tensor **out_values, const rheos_run_options *options,
                                     rheos__rendezvous *rendezvous);
int64_t rheos__direct_callable_cost_ns(const rheos_callable *callable);

#endif  // RHEOS_SRC_RUNTIME_SESSION_DIRECT_CALLABLE_H
