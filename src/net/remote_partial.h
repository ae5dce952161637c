// Steps in parts of a session on a server, which calls them by texts of its own.
#ifndef RHEOS_SRC_NET_REMOTE_PARTIAL_H
#define RHEOS_SRC_NET_REMOTE_PARTIAL_H

#include "net/remote_graph.h"

// The kind's functions.
rheos_status *rheos__remote_partial_setup(rheos_session *base, const rheos__signature_ids *ids,
                                          int64_t *out_handle);
rheos_status *rheos__remote_partial_run(rheos_session *base, int64_t handle,
                                        const rheos__signature_ids *ids,
                                        rheos_tensor *const *values, rheos_tensor **out_values,
                                        const rheos_run_options *options);
void rheos__remote_partial_end(rheos_session *base, int64_t handle);

void rheos__remote_forget_partials(rheos__remote_session *session);

#endif  // RHEOS_SRC_NET_REMOTE_PARTIAL_H
