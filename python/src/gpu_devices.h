// Which graphics cards sessions and eager execution have: gpu_devices.c.
#ifndef RHEOS_PYTHON_GPU_DEVICES_H
#define RHEOS_PYTHON_GPU_DEVICES_H

#include <rheos/host.h>

#include "core.h"

enum { max_gpu_devices = 64 };

// `given` is `all`, or NULL for whatever there is.
typedef struct gpu_devices {
  rheos_gpu_device all[max_gpu_devices], *given;
  int32_t count;
} gpu_devices;

// Of a list of pairs, or None; false with an exception.
bool gpu_devices_read(PyObject *list, gpu_devices *out);
int gpu_devices_init(PyObject *module);

#endif  // RHEOS_PYTHON_GPU_DEVICES_H
