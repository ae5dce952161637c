// What a host owns. Nothing here belongs to one session.
#ifndef RHEOS_SRC_RUNTIME_STEP_HOST_H
#define RHEOS_SRC_RUNTIME_STEP_HOST_H

#include <rheos/host.h>
#include <stdatomic.h>

#include "device/device.h"
#include "resource/collective.h"
#include "resource/packing.h"
#include "runtime/threads/pool.h"

struct rheos_host {
  _Atomic int32_t references;
  rheos_host *whole;  // whose all is but the resources; NULL: its own
  rheos__pool *pool;
  rheos__packings *packings;
  rheos__resources *resources;  // of sessions that share them
  // Of all that runs on it, where it is a task's of a cluster; counted. NULL: sessions and eager
  // contexts have their own.
  rheos__collectives *collectives;
  rheos__device *cpus, *cards;
  int32_t num_cards;                    // of which it has the memory
  const rheos__device **devices;        // the CPUs, then the cards, then others
  rheos_device_attributes *attributes;  // of all devices
  int32_t num_devices;
};

// A host (counted) that is another one but for its resources, which are its own: for sessions that
// share theirs among themselves only.
rheos_status *rheos__host_apart(rheos_host *whole, rheos_host **out_host);

// As rheos__host_apart(), with CPUs of their own that are named as those of that task.
rheos_status *rheos__host_as_task(rheos_host *whole, const rheos__device_name *task,
                                  rheos_host **out_host);

// Adds a device, which must outlive the host, before the first session has it.
rheos_status *rheos__host_add_device(rheos_host *host, const rheos__device *device);

#endif  // RHEOS_SRC_RUNTIME_STEP_HOST_H
