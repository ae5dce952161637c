// A cluster that a session brings with it, in ConfigProto.cluster_def: its tasks are servers that
// need not know of each other. Each makes a session under the name of the task that it is there,
// with resources of its own, and knows the others for as long as that session lasts.
#ifndef RHEOS_SRC_NET_SESSION_CLUSTER_H
#define RHEOS_SRC_NET_SESSION_CLUSTER_H

#include "net/peers.h"

typedef struct rheos__session_cluster {
  rheos__peers peers;
  int32_t own_task;
  pthread_mutex_t mutex;  // guards what follows
  pthread_cond_t unused;
  int32_t num_users;
} rheos__session_cluster;

// `like` has the transport and the credentials. The own task is that of the name, where `job` is
// given, else the one whose address is that of `target` ("grpc://host:port").
rheos_status *rheos__session_cluster_new(const rheos__peers *like,
                                         const Tensorflow__ClusterDef *cluster, const char *job,
                                         int32_t task, const char *target,
                                         rheos__session_cluster **out_cluster);
// Waits until nobody uses it. NULL is nothing.
void rheos__session_cluster_free(rheos__session_cluster *cluster);

// While it is in use it lasts. NULL is nothing; the first returns its argument.
rheos__session_cluster *rheos__session_cluster_use(rheos__session_cluster *cluster);
void rheos__session_cluster_leave(rheos__session_cluster *cluster);

#endif  // RHEOS_SRC_NET_SESSION_CLUSTER_H
