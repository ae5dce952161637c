// Callables of a session on a server. One is made there by its first run; later runs send a number
// and tensors, whatever the graph has become meanwhile: names stay.
#ifndef RHEOS_SRC_NET_REMOTE_CALLABLE_H
#define RHEOS_SRC_NET_REMOTE_CALLABLE_H

#include "net/remote_graph.h"

typedef struct rheos__remote_callable {
  rheos_callable base;
  pthread_mutex_t mutex;  // held while it is made
  _Atomic int32_t is_made;
  int64_t handle;  // on the server, once it is made
} rheos__remote_callable;

// The kind's functions.
rheos_status *rheos__remote_make_callable(rheos_callable *base);
void rheos__remote_release_callable(rheos_callable *base);
rheos_status *rheos__remote_run_callable(rheos_callable *base, rheos_tensor *const *values,
                                         rheos_tensor **out_values,
                                         const rheos_run_options *options);

#endif  // RHEOS_SRC_NET_REMOTE_CALLABLE_H
