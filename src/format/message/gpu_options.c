// Which graphics cards a ConfigProto asks for, and how much of their memory: the rules and the
// words of TensorFlow.
#include <rheos/format.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "device/opencl/opencl.h"
#include "format/message/protobuf.h"
#include "config.pb-c.h"

enum { MAX_CARDS = 64, MAX_DEVICES = 64 };

typedef struct reader {
  int32_t cards[MAX_CARDS];  // that are visible, in their new order
  int32_t num_cards;
  rheos_gpu_device *devices;
  int32_t num_devices;
} reader;

static rheos_status *add_visible(reader *r, const char *entry, size_t length, const char *list) {
  const int32_t count = rheos__opencl_count();
  char text[16], *end;
  long id = -1;
  bool is_number = length > 0 && length < sizeof text;
  if (is_number) {
    memcpy(text, entry, length);
    text[length] = '\0';
    id = strtol(text, &end, 10);
    is_number = *end == '\0';
  }
  if (!is_number) {
    return RHEOS_INVALID(
        "Could not parse entry in 'visible_device_list': '%.*s'. "
        "visible_device_list = %s",
        (int)length, entry, list);
  }
  if (id < 0 || id >= count) {
    return RHEOS_INVALID(
        "'visible_device_list' listed an invalid Device id '%ld' but visible "
        "device count is %d",
        id, (int)count);
  }
  for (int32_t i = 0; i < r->num_cards; i++) {
    if (r->cards[i] == id) {
      return RHEOS_INVALID("visible_device_list contained a duplicate entry: %s", list);
    }
  }
  if (r->num_cards < MAX_CARDS) r->cards[r->num_cards++] = (int32_t)id;
  return NULL;
}

static rheos_status *read_visible(reader *r, const char *list) {
  const int32_t count = rheos__opencl_count();
  if (list[0] == '\0') {
    for (int32_t i = 0; i < count && i < MAX_CARDS; i++) r->cards[r->num_cards++] = i;
    return NULL;
  }
  for (const char *at = list;; at++) {
    const size_t length = strcspn(at, ",");
    RHEOS_TRY(add_visible(r, at, length, list));
    at += length;
    if (*at == '\0') return NULL;
  }
}

static rheos_status *add_device(reader *r, int32_t card, double limit_bytes) {
  if (r->num_devices == MAX_DEVICES) {
    return RHEOS_INVALID("more than %d devices are asked for on graphics cards", MAX_DEVICES);
  }
  r->devices[r->num_devices++] =
      (rheos_gpu_device){.card = card, .memory_limit_bytes = (int64_t)limit_bytes};
  return NULL;
}

// Cards that the program sees as several, each with a part of the memory.
static rheos_status *read_parts(reader *r, const Tensorflow__GPUOptions *options) {
  const Tensorflow__GPUOptions__Experimental *wanted = options->experimental;
  if (options->per_process_gpu_memory_fraction > 0) {
    return RHEOS_INVALID(
        "It's invalid to set per_process_gpu_memory_fraction when virtual_devices "
        "is set.");
  }
  if ((size_t)r->num_cards < wanted->n_virtual_devices) {
    return rheos_status_new(RHEOS_UNKNOWN,
                            "Not enough GPUs to create virtual devices. num_gpus_to_use: %d "
                            "#virtual_devices: %zu",
                            (int)r->num_cards, wanted->n_virtual_devices);
  }
  if (options->visible_device_list[0] != '\0' &&
      (size_t)r->num_cards != wanted->n_virtual_devices) {
    return RHEOS_INVALID(
        "The number of GPUs in visible_device_list doesn't match the number of "
        "elements in the virtual_devices list.");
  }
  for (size_t i = 0; i < wanted->n_virtual_devices; i++) {
    const Tensorflow__GPUOptions__Experimental__VirtualDevices *of = wanted->virtual_devices[i];
    if (of->n_memory_limit_mb == 0) RHEOS_TRY(add_device(r, r->cards[i], 0));
    for (size_t k = 0; k < of->n_memory_limit_mb; k++) {
      RHEOS_TRY(add_device(r, r->cards[i], (double)of->memory_limit_mb[k] * (1 << 20)));
    }
  }
  return NULL;
}

static rheos_status *read_options(reader *r, const Tensorflow__ConfigProto *config) {
  const Tensorflow__GPUOptions *options = config->gpu_options;
  RHEOS_TRY(read_visible(r, options != NULL ? options->visible_device_list : ""));
  for (size_t i = 0; i < config->n_device_count; i++) {
    const Tensorflow__ConfigProto__DeviceCountEntry *entry = config->device_count[i];
    const int32_t count = entry->value > 0 ? entry->value : 0;
    if (strcmp(entry->key, "GPU") == 0 && count < r->num_cards) r->num_cards = count;
  }
  if (options != NULL && options->experimental != NULL &&
      options->experimental->n_virtual_devices > 0) {
    return read_parts(r, options);
  }
  const double fraction = options != NULL ? options->per_process_gpu_memory_fraction : 0;
  for (int32_t i = 0; i < r->num_cards; i++) {
    const double bytes = (double)rheos__opencl_memory_bytes(r->cards[i]);
    RHEOS_TRY(add_device(r, r->cards[i], fraction > 0 ? fraction * bytes : 0));
  }
  return NULL;
}

rheos_status *rheos_gpu_devices_from_config(const void *config, size_t config_bytes,
                                            rheos_gpu_device **out_devices, size_t *out_count) {
  RHEOS_OUT(out_devices);
  RHEOS_NEED(out_count);
  RHEOS_NEED_BYTES(config, config_bytes);
  *out_count = 0;
  Tensorflow__ConfigProto *message;
  rheos__arena arena;
  rheos__arena_init(&arena);
  reader r = {.devices = rheos__alloc_array(MAX_DEVICES, sizeof *r.devices)};
  rheos_status *status = r.devices == NULL ? rheos__out_of_memory() : NULL;
  if (status == NULL) {
    status = RHEOS_PROTO_UNPACK(config_proto, config, config_bytes, &arena, &message);
  }
  if (status == NULL) status = read_options(&r, message);
  rheos__arena_deinit(&arena);
  if (status != NULL) {
    rheos__free(r.devices);
    return status;
  }
  *out_devices = r.devices;
  *out_count = (size_t)r.num_devices;
  return NULL;
}
