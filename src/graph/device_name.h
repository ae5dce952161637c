// Device strings: "/job:ps/replica:0/task:1/device:CPU:0", "/cpu:0", "gpu:1", "CPU:0", "".
#ifndef RHEOS_SRC_GRAPH_DEVICE_NAME_H
#define RHEOS_SRC_GRAPH_DEVICE_NAME_H

#include "base/status.h"

typedef struct rheos__device_name {
  char job[64];               // "" : not given
  char type[64];              // upper case; "": not given
  int32_t replica, task, id;  // -1: not given
} rheos__device_name;

rheos_status *rheos__device_name_parse(const char *text, rheos__device_name *out_name);
// Fields that `inner` gives override `outer`'s.
rheos__device_name rheos__device_name_merge(const rheos__device_name *outer,
                                            const rheos__device_name *inner);
// Canonical text, "/job:ps/task:1/device:CPU:0"; returns the length it has or would have.
size_t rheos__device_name_format(const rheos__device_name *name, char *buffer, size_t size_bytes);
// Whether `device` (all fields given) fits what `wanted` asks for.
bool rheos__device_name_matches(const rheos__device_name *wanted, const rheos__device_name *device);

#endif  // RHEOS_SRC_GRAPH_DEVICE_NAME_H
