// The tasks of a cluster, and where they listen.
#ifndef RHEOS_SRC_NET_CLUSTER_H
#define RHEOS_SRC_NET_CLUSTER_H

#include "config.pb-c.h"
#include "graph/device_name.h"

enum { RHEOS__TASK_NAME_BYTES = 128 };

typedef struct rheos__cluster_task {
  char name[RHEOS__TASK_NAME_BYTES];  // "/job:worker/replica:0/task:1"
  rheos__device_name parsed;
  char *address;  // "host:port"
} rheos__cluster_task;

typedef struct rheos__cluster {
  rheos__cluster_task *tasks;  // as they were listed
  int32_t num_tasks;
} rheos__cluster;

// RHEOS_INVALID_ARGUMENT for names and addresses that cannot be, and a task that is listed twice.
// To be deinitialised, after a failure too.
rheos_status *rheos__cluster_from_def(const Tensorflow__ClusterDef *def,
                                      rheos__cluster *out_cluster);
// From JSON: {"ps": ["host:port", ...], "worker": {"0": "host:port", ...}}.
rheos_status *rheos__cluster_from_json(const char *text, size_t size_bytes,
                                       rheos__cluster *out_cluster);
void rheos__cluster_deinit(rheos__cluster *cluster);

// The number of the task among all; RHEOS_NOT_FOUND tells which there are.
rheos_status *rheos__cluster_find(const rheos__cluster *cluster, const char *job, int32_t task,
                                  int32_t *out_index);
// The number of the task that a device is of, or that this is, by the full name; -1: there is none.
int32_t rheos__cluster_task_of(const rheos__cluster *cluster, const char *device);

#endif  // RHEOS_SRC_NET_CLUSTER_H
