// Devices of hosts over the cards of the process, and what is asked of them.
#include "device/opencl/opencl.h"

#include "device/opencl/card_memory.h"
#include "device/opencl/launch.h"

int32_t rheos__opencl_count(void) { return rheos__card_count(); }

rheos_status *rheos__opencl_device_init(rheos__device *device, int32_t index, int32_t card,
                                        int64_t memory_limit_bytes) {
  rheos__memory *memory;
  if (card < 0 || card >= rheos__card_count()) {
    return RHEOS_INVALID("there is no graphics card %d", (int)card);
  }
  RHEOS_TRY(rheos__card_memory_new(rheos__card_at(card), memory_limit_bytes, &memory));
  rheos__device_init(device, &rheos__opencl_kind, index, memory, rheos__card_at(card));
  return NULL;
}

int32_t rheos__opencl_card(const rheos__device *device) {
  return (int32_t)(rheos__card_of(device) - rheos__card_at(0));
}

int64_t rheos__opencl_memory_limit(const rheos__device *device) {
  return rheos__card_memory_limit(device->memory);
}

void rheos__opencl_memory_use(const rheos__device *device, int64_t *out_bytes, int64_t *out_peak) {
  rheos__card_memory_use(device->memory, out_bytes, out_peak);
}

void rheos__opencl_reset_memory_peak(const rheos__device *device) {
  rheos__card_memory_reset_peak(device->memory);
}

int64_t rheos__opencl_memory_bytes(int32_t index) {
  return (int64_t)rheos__card_at(index)->memory_bytes;
}

const char *rheos__opencl_description(int32_t index) { return rheos__card_at(index)->description; }

void rheos__opencl_want_blocks(int32_t index, bool wants) {
  rheos__card_at(index)->wants_blocks = wants;
}

int64_t rheos__opencl_num_kernels(int32_t index) {
  rheos__card *card = rheos__card_at(index);
  pthread_mutex_lock(&card->mutex);
  const int64_t count = card->num_kernels;
  pthread_mutex_unlock(&card->mutex);
  return count;
}

int64_t rheos__opencl_num_copies(int32_t index) {
  return atomic_load(&rheos__card_at(index)->num_copies);
}
