// The devices of a cluster, as `rheos serve --cluster` has it described.
#ifndef RHEOS_CLI_CLUSTER_DEVICES_H
#define RHEOS_CLI_CLUSTER_DEVICES_H

#include "options.h"
#include "status.h"

typedef struct cluster_devices {
  char **names;  // in full, those of the first task first
  size_t count, capacity;
} cluster_devices;

// So many CPUs and cards of each task of the cluster in the file of JSON; NULL: of this process
// alone. The task `job` and `index` comes first; job NULL: the first of the file.
rheos_status *cluster_devices_read(const char *path, int num_cpus, int num_gpus, const char *job,
                                   int index, cluster_devices *out_devices);
void cluster_devices_free(cluster_devices *devices);

#endif  // RHEOS_CLI_CLUSTER_DEVICES_H
