// The functions that a session's steps call: a plan for each, shared by all calls, and the calls
// under way. What kernels see of it is in graph/calls.h.
#ifndef RHEOS_SRC_RUNTIME_CALL_BODIES_H
#define RHEOS_SRC_RUNTIME_CALL_BODIES_H

#include "graph/calls.h"
#include "runtime/run/executor.h"

// `context` is that of the session's plans; its `bodies` are these. NULL when memory is short.
// Counted, because kernels may outlive the session.
rheos__bodies *rheos__bodies_new(const rheos__plan_context *context);
void rheos__bodies_unref(rheos__bodies *bodies);

// Frees the bodies of functions that were removed from their library and that nothing calls.
void rheos__bodies_sweep(rheos__bodies *bodies);

// New sites start anew, with bodies of their own and no state of nodes; sites that are there go on.
void rheos__bodies_forget(rheos__bodies *bodies);

// The plan of a function, of a part, which is made if there is none yet; for whoever looks at
// plans.
rheos_status *rheos__bodies_plan(rheos__bodies *bodies, const rheos__function *function,
                                 const rheos__plan **out_plan);
rheos_status *rheos__graph_part_plan(rheos__bodies *bodies, rheos__graph_part *part,
                                     const rheos__plan **out_plan);

// For call_states.c: the function of a site, the bodies that it is of, and a site of the same
// function whose nodes keep what they keep in `around`, under the function's name.
const rheos__function *rheos__site_function(const rheos__site *site);
rheos__bodies *rheos__site_bodies_ref(const rheos__site *site);
rheos_status *rheos__site_new_like(const rheos__site *site, rheos__resources *around,
                                   rheos__site **out_site);

// A site of the same function, with the state of the same calls, among other bodies.
rheos_status *rheos__site_new_in(const rheos__site *site, rheos__bodies *bodies,
                                 rheos__site **out_site);

// The call of the plan that it is, and an error in it with the body's name.
rheos__call *rheos__site_call_of_plan(rheos__site_call *call);
rheos_status *rheos__site_call_failed_take(const rheos__site_call *call, rheos_status *status);

// Whether sites of them are there, or others who count them.
bool rheos__bodies_are_called(rheos__bodies *bodies);

// Lets go of all plans. No step runs, and none will.
void rheos__bodies_clear(rheos__bodies *bodies);

#endif  // RHEOS_SRC_RUNTIME_CALL_BODIES_H
