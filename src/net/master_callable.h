// Callables of a master's session: steps whose signature was told once. Each keeps the plan for it,
// so a run neither writes a signature nor searches.
#ifndef RHEOS_SRC_NET_MASTER_CALLABLE_H
#define RHEOS_SRC_NET_MASTER_CALLABLE_H

#include "net/master_session.h"

struct rheos__master_callable {
  int64_t handle;
  rheos__master_run run;  // what each run asks for, but for values and who waits; in the arena
  rheos__arena arena;
  int32_t references;  // the session and runs; guarded by the session's mutex
  rheos__master_callable *next;
};

// For the names and the deadline of `run`, which are copied. Fails for what cannot be planned.
rheos_status *rheos__master_callable_make(rheos__master_session *session,
                                          const rheos__master_run *run, int64_t *out_handle);
// The callable of that handle, with a reference.
rheos_status *rheos__master_callable_find(rheos__master_session *session, int64_t handle,
                                          rheos__master_callable **out_callable);
void rheos__master_callable_unref(rheos__master_session *session, rheos__master_callable *callable);
// Runs that are under way go on. Nothing happens if there is no such callable.
void rheos__master_callable_release(rheos__master_session *session, int64_t handle);
void rheos__master_callables_release_all(rheos__master_session *session);

#endif  // RHEOS_SRC_NET_MASTER_CALLABLE_H
