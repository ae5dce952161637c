// Steps in parts of direct sessions: those that are open, by handles.
#ifndef RHEOS_SRC_RUNTIME_SESSION_DIRECT_PARTIAL_RUN_H
#define RHEOS_SRC_RUNTIME_SESSION_DIRECT_PARTIAL_RUN_H

#include "runtime/session/direct_session.h"

// As the table of the kind says.
rheos_status *rheos__direct_partial_setup(rheos_session *session, const rheos__signature_ids *ids,
                                          int64_t *out_handle);
rheos_status *rheos__direct_partial_run(rheos_session *session, int64_t handle,
                                        const rheos__signature_ids *ids,
                                        rheos_tensor *const *values, rheos_tensor **out_values,
                                        const rheos_run_options *options);
void rheos__direct_partial_end(rheos_session *session, int64_t handle);

// Ends all. None runs.
void rheos__direct_forget_partial_runs(rheos__direct_session *session);

#endif  // RHEOS_SRC_RUNTIME_SESSION_DIRECT_PARTIAL_RUN_H
