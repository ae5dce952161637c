// What a host owns. Nothing here belongs to one session.
#ifndef RHEOS_SRC_RUNTIME_HOST_H
#define RHEOS_SRC_RUNTIME_HOST_H

#include <rheos/host.h>
#include <stdatomic.h>

#include "graph/device_name.h"
#include "resource/packing.h"
#include "runtime/pool.h"

struct rheos_host {
  _Atomic int32_t references;
  rheos__pool *pool;
  rheos__packings *packings;
  rheos__resources *resources;  // of sessions that share them
  char (*devices)[64];
  rheos__device_name *device_names;
  int32_t num_devices;
};

#endif  // RHEOS_SRC_RUNTIME_HOST_H
