#include "device/known_device.h"

#include <string.h>

#include "base/alloc.h"
#include "device/cpu/cpu.h"
#include "device/opencl/opencl.h"

static void free_memory(rheos__memory *memory) { rheos__free(memory); }

static const rheos__memory_kind elsewhere = {.deinit = free_memory};

static rheos_status *make_memory(rheos__memory **out_memory) {
  *out_memory = rheos__alloc_zeroed(sizeof **out_memory);
  if (*out_memory == NULL) return rheos__out_of_memory();
  (*out_memory)->kind = &elsewhere;
  atomic_init(&(*out_memory)->references, 1);
  return NULL;
}

const rheos__device_kind *rheos__known_kind(const char *type) {
  static const rheos__device_kind *const kinds[] = {&rheos__cpu_kind, &rheos__opencl_kind};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (strcmp(type, kinds[i]->name) == 0) return kinds[i];
  }
  return NULL;
}

rheos_status *rheos__known_device_init(rheos__device *device, const rheos__device_kind *kind,
                                       int32_t index, const rheos__device_name *place) {
  rheos__memory *memory = NULL;
  if (kind != &rheos__cpu_kind) RHEOS_TRY(make_memory(&memory));
  rheos__device_init(device, kind, index, memory, NULL);
  rheos__device_set_task(device, place);
  return NULL;
}
