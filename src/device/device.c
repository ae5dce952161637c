// What all devices have in common: their names.
#include "device/device.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void rheos__device_init(rheos__device *device, const rheos__device_kind *kind, int32_t index,
                        rheos__memory *memory, void *state) {
  assert(index >= 0 && index <= 9999 && strlen(kind->name) < sizeof device->parsed_name.type);
  *device = (rheos__device){.kind = kind, .memory = memory, .index = index, .state = state};
  device->parsed_name = (rheos__device_name){.replica = 0, .task = 0, .id = index};
  snprintf(device->parsed_name.job, sizeof device->parsed_name.job, "localhost");
  snprintf(device->parsed_name.type, sizeof device->parsed_name.type, "%s", kind->name);
  rheos__device_name_format(&device->parsed_name, device->name, sizeof device->name);
  if (memory != NULL) memcpy(memory->device, device->name, sizeof memory->device);
}

void rheos__device_deinit(rheos__device *device) {
  rheos__memory_unref(device->memory);
  device->memory = NULL;
}
