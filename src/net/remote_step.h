// Steps of a session on a server: names and tensors.
#ifndef RHEOS_SRC_NET_REMOTE_STEP_H
#define RHEOS_SRC_NET_REMOTE_STEP_H

#include "net/remote_graph.h"

typedef struct rheos__step_names {
  char **feeds, **fetches, **targets;
  char **asked;  // the fetches, as the server is asked for them
  size_t num_asked;
} rheos__step_names;

// As the ids are called, in the arena.
rheos_status *rheos__remote_names(const rheos_session *session, const rheos__signature_ids *ids,
                                  rheos__arena *arena, rheos__step_names *names);
rheos_status *rheos__remote_check_feeds(const rheos_graph *graph, const rheos__signature_ids *ids,
                                        rheos_tensor *const *values);
// A step by its names, or the next call of one in parts, by its handle (NULL: of none).
rheos_status *rheos__remote_run_named(rheos__remote_session *session, const char *partial,
                                      const rheos__signature_ids *ids,
                                      const rheos__step_names *names, rheos_tensor *const *values,
                                      rheos_tensor **out_values, const rheos_run_options *options);

// The kind's function.
rheos_status *rheos__remote_run(rheos_session *base, const rheos__signature_ids *ids,
                                rheos_tensor *const *values, rheos_tensor **out_values,
                                const rheos_run_options *options);

#endif  // RHEOS_SRC_NET_REMOTE_STEP_H
