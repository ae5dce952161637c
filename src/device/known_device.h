// Devices of which no more is known than their names: those of other tasks of a cluster, and of
// machines that a graph is placed for. Nothing runs on them here, and nothing is in their memory.
#ifndef RHEOS_SRC_DEVICE_KNOWN_DEVICE_H
#define RHEOS_SRC_DEVICE_KNOWN_DEVICE_H

#include "device/device.h"

// The kind of devices that a name says, such as "CPU"; NULL: there is none of that name.
const rheos__device_kind *rheos__known_kind(const char *type);

// Device `index` of such a kind, of the task that `place` tells.
rheos_status *rheos__known_device_init(rheos__device *device, const rheos__device_kind *kind,
                                       int32_t index, const rheos__device_name *place);

#endif  // RHEOS_SRC_DEVICE_KNOWN_DEVICE_H
