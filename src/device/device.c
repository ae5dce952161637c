// What all devices have in common: their names.
#include "device/device.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void rheos__device_init(rheos__device *device, const rheos__device_kind *kind, int32_t index,
                        rheos__memory *memory, void *state) {
  assert(index >= 0 && index <= 9999 && strlen(kind->name) < sizeof device->parsed_name.type);
  *device = (rheos__device){.kind = kind, .memory = memory, .index = index, .state = state};
  device->parsed_name = (rheos__device_name){.id = index};
  snprintf(device->parsed_name.type, sizeof device->parsed_name.type, "%s", kind->name);
  rheos__device_set_task(device, &(rheos__device_name){.job = RHEOS__LOCAL_JOB});
}

void rheos__device_deinit(rheos__device *device) {
  rheos__memory_unref(device->memory);
  device->memory = NULL;
}

void rheos__device_set_task(rheos__device *device, const rheos__device_name *place) {
  rheos__device_name *name = &device->parsed_name;
  memcpy(name->job, place->job, sizeof name->job);
  name->replica = place->replica;
  name->task = place->task;
  rheos__device_name_format(name, device->name, sizeof device->name);
  if (device->memory != NULL) {
    memcpy(device->memory->device, device->name, sizeof device->memory->device);
  }
}
