#include "runtime/step/host.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/options.h"
#include "base/random_id.h"
#include "device/cpu/cpu.h"
#include "device/opencl/opencl.h"

enum { MAX_DEVICES = 64, MAX_THREADS = 4096 };

// The task that the options name, "" for the job where they name none.
static rheos_status *read_task(const rheos_host_options *options, rheos__device_name *out_task) {
  *out_task = (rheos__device_name){.replica = options->replica, .task = options->task};
  if (options->replica < 0 || options->task < 0) {
    return RHEOS_INVALID("a host is of replica %d and task %d: neither can be below 0",
                         (int)options->replica, (int)options->task);
  }
  const char *job = options->job;
  if (job == NULL) {
    snprintf(out_task->job, sizeof out_task->job, RHEOS__LOCAL_JOB);
    return NULL;
  }
  char text[128];
  rheos__device_name named;
  const int length = snprintf(text, sizeof text, "/job:%s", job);
  rheos_status *status = rheos__device_name_parse(text, &named);
  const bool is_name = status == NULL && length < (int)sizeof text && strcmp(named.job, job) == 0;
  rheos_status_free(status);
  if (!is_name) return RHEOS_INVALID("'%s' is not the name of a job", job);
  memcpy(out_task->job, named.job, sizeof named.job);
  return NULL;
}

// Makes room for one more device, and tells of it.
static rheos_status *keep_device(rheos_host *host, const rheos__device *device) {
  const size_t count = (size_t)host->num_devices + 1;
  const rheos__device **devices =
      rheos__realloc((void *)host->devices, count * sizeof(rheos__device *));
  if (devices != NULL) host->devices = devices;
  rheos_device_attributes *attributes =
      rheos__realloc(host->attributes, count * sizeof *attributes);
  if (attributes != NULL) host->attributes = attributes;
  if (devices == NULL || attributes == NULL) return rheos__out_of_memory();
  host->attributes[host->num_devices] =
      (rheos_device_attributes){.name = device->name,
                                .type = device->kind->name,
                                .memory_limit_bytes = RHEOS__MEMORY_LIMIT_BYTES,
                                .incarnation = rheos__random_id()};
  host->devices[host->num_devices++] = device;
  return NULL;
}

static rheos_status *add_cpus(rheos_host *host, int32_t count, const rheos__device_name *task) {
  host->cpus = rheos__alloc_array((size_t)count, sizeof *host->cpus);
  if (host->cpus == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < count; ++i) {
    rheos__device_init(&host->cpus[i], &rheos__cpu_kind, i, NULL, NULL);
    rheos__device_set_task(&host->cpus[i], task);
    RHEOS_TRY(keep_device(host, &host->cpus[i]));
  }
  return NULL;
}

static rheos_status *add_cards(rheos_host *host, const rheos__device_name *task,
                               const rheos_gpu_device *wanted, int32_t count) {
  if (count <= 0) return NULL;
  host->cards = rheos__alloc_array((size_t)count, sizeof *host->cards);
  if (host->cards == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < count && host->num_devices < MAX_DEVICES; ++i) {
    rheos__device *card = &host->cards[i];
    const rheos_gpu_device whole = {.card = i}, *of = wanted != NULL ? &wanted[i] : &whole;
    RHEOS_TRY(rheos__opencl_device_init(card, i, of->card, of->memory_limit_bytes));
    host->num_cards++;
    rheos__device_set_task(card, task);
    RHEOS_TRY(keep_device(host, card));
    host->attributes[host->num_devices - 1].memory_limit_bytes = rheos__opencl_memory_limit(card);
  }
  return NULL;
}

// The graphics cards that the options say: where they list none, those of the machine.
static rheos_status *add_wanted_cards(rheos_host *host, const rheos__device_name *task,
                                      const rheos_host_options *options) {
  const int32_t most = options->num_gpu_devices;
  if (options->gpu_devices != NULL) return add_cards(host, task, options->gpu_devices, most);
  if (most < 0) return NULL;
  const int32_t count = rheos__opencl_count();
  return add_cards(host, task, NULL, most > 0 && count > most ? most : count);
}

static rheos_status *add_devices(rheos_host *host, const rheos_host_options *options) {
  const int32_t count = options->num_cpu_devices < 1 ? 1 : options->num_cpu_devices;
  rheos__device_name task;
  RHEOS_TRY(read_task(options, &task));
  if (count > MAX_DEVICES) {
    return RHEOS_INVALID("%d CPU devices asked for, at most %d", (int)count, MAX_DEVICES);
  }
  RHEOS_TRY(add_cpus(host, count, &task));
  return add_wanted_cards(host, &task, options);
}

rheos_status *rheos__host_add_device(rheos_host *host, const rheos__device *device) {
  return keep_device(host, device);
}

static int32_t num_cores(void) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 0 && cores <= MAX_THREADS ? (int32_t)cores : 1;
}

rheos_status *rheos_host_new_sized(const rheos_host_options *options, size_t options_bytes,
                                   rheos_host **out_host) {
  RHEOS_OUT(out_host);
  rheos_host_options wanted;
  RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_host_options, options, options_bytes, &wanted));
  if (wanted.num_threads > MAX_THREADS) {
    return RHEOS_INVALID("%d threads asked for, at most %d", (int)wanted.num_threads, MAX_THREADS);
  }
  rheos_host *host = rheos__alloc_zeroed(sizeof *host);
  if (host == NULL) return rheos__out_of_memory();
  atomic_init(&host->references, 1);
  host->pool = rheos__pool_new(wanted.num_threads > 0 ? wanted.num_threads : num_cores());
  host->resources = rheos__resources_new();
  host->packings = rheos__packings_new();
  rheos_status *status = host->pool == NULL || host->resources == NULL || host->packings == NULL
                             ? rheos__out_of_memory()
                             : add_devices(host, &wanted);
  if (status != NULL) {
    rheos_host_unref(host);
    return status;
  }
  *out_host = host;
  return NULL;
}

rheos_status *rheos__host_apart(rheos_host *whole, rheos_host **out_host) {
  *out_host = NULL;
  rheos_host *host = rheos__alloc(sizeof *host);
  rheos__resources *resources = rheos__resources_new();
  if (host == NULL || resources == NULL) {
    rheos__resources_free(resources);
    rheos__free(host);
    return rheos__out_of_memory();
  }
  *host = (rheos_host){.whole = rheos_host_ref(whole),
                       .pool = whole->pool,
                       .packings = whole->packings,
                       .resources = resources,
                       .collectives = whole->collectives,
                       .cpus = whole->cpus,
                       .cards = whole->cards,
                       .num_cards = whole->num_cards,
                       .devices = whole->devices,
                       .attributes = whole->attributes,
                       .num_devices = whole->num_devices};
  atomic_init(&host->references, 1);
  *out_host = host;
  return NULL;
}

// The cards of another host, for one that is named as a task.
static rheos_status *add_same_cards(rheos_host *host, const rheos__device_name *task,
                                    const rheos_host *other) {
  rheos_gpu_device same[MAX_DEVICES];
  for (int32_t i = 0; i < other->num_cards; ++i) {
    same[i] =
        (rheos_gpu_device){.card = rheos__opencl_card(&other->cards[i]),
                           .memory_limit_bytes = rheos__opencl_memory_limit(&other->cards[i])};
  }
  return add_cards(host, task, same, other->num_cards);
}

rheos_status *rheos__host_as_task(rheos_host *whole, const rheos__device_name *task,
                                  rheos_host **out_host) {
  rheos_host *host;
  *out_host = NULL;
  RHEOS_TRY(rheos__host_apart(whole, &host));
  int32_t num_cpus = 0;
  while (num_cpus < whole->num_devices && whole->devices[num_cpus] == &whole->cpus[num_cpus]) {
    num_cpus++;
  }
  host->cpus = host->cards = NULL;
  host->num_cards = 0;
  host->devices = NULL;
  host->attributes = NULL;
  host->num_devices = 0;
  rheos_status *status = add_cpus(host, num_cpus, task);
  if (status == NULL && whole->num_cards > 0) {
    status = add_same_cards(host, task, whole);
  }
  if (status == NULL) {
    *out_host = host;
  } else {
    rheos_host_unref(host);
  }
  return status;
}

static void free_devices(rheos_host *host) {
  for (int32_t i = 0; i < host->num_cards; ++i) rheos__device_deinit(&host->cards[i]);
  rheos__free(host->cards);
  rheos__free((void *)host->devices);
  rheos__free(host->attributes);
  rheos__free(host->cpus);
}

rheos_host *rheos_host_ref(rheos_host *host) {
  if (host != NULL) atomic_fetch_add_explicit(&host->references, 1, memory_order_relaxed);
  return host;
}

void rheos_host_unref(rheos_host *host) {
  if (host == NULL || atomic_fetch_sub(&host->references, 1) != 1) return;
  rheos__resources_free(host->resources);
  if (host->whole != NULL) {
    if (host->devices != host->whole->devices) free_devices(host);
    rheos_host_unref(host->whole);
    rheos__free(host);
    return;
  }
  rheos__collectives_unref(host->collectives);
  rheos__pool_free(host->pool);
  rheos__packings_unref(host->packings);
  free_devices(host);
  rheos__free(host);
}

int32_t rheos_host_num_devices(const rheos_host *host) {
  return host != NULL ? host->num_devices : 0;
}

const char *rheos_host_device(const rheos_host *host, int32_t index) {
  if (host == NULL) return NULL;
  return index >= 0 && index < host->num_devices ? host->devices[index]->name : NULL;
}

int32_t rheos_host_num_threads(const rheos_host *host) {
  return host != NULL ? rheos__pool_num_threads(host->pool) : 0;
}

// The card among its devices; NULL: another one is meant, or none.
static const rheos__device *card_of(const rheos_host *host, int32_t device) {
  for (int32_t i = 0; i < host->num_cards; ++i) {
    if (host->devices[device] == &host->cards[i]) return &host->cards[i];
  }
  return NULL;
}

static rheos_status *check_device(const rheos_host *host, int32_t device) {
  if (device >= 0 && device < host->num_devices) return NULL;
  return RHEOS_INVALID("the host has %d devices, and none of number %d", (int)host->num_devices,
                       (int)device);
}

rheos_status *rheos_host_memory_use(const rheos_host *host, int32_t device, int64_t *out_bytes,
                                    int64_t *out_peak_bytes) {
  RHEOS_NEED(host, out_bytes, out_peak_bytes);
  *out_bytes = *out_peak_bytes = 0;
  RHEOS_TRY(check_device(host, device));
  const rheos__device *card = card_of(host, device);
  if (card != NULL) rheos__opencl_memory_use(card, out_bytes, out_peak_bytes);
  return NULL;
}

rheos_status *rheos_host_reset_memory_peak(rheos_host *host, int32_t device) {
  RHEOS_NEED(host);
  RHEOS_TRY(check_device(host, device));
  const rheos__device *card = card_of(host, device);
  if (card != NULL) rheos__opencl_reset_memory_peak(card);
  return NULL;
}

int32_t rheos_num_graphics_cards(void) { return rheos__opencl_count(); }

const char *rheos_graphics_card(int32_t index) {
  return index >= 0 && index < rheos__opencl_count() ? rheos__opencl_description(index) : NULL;
}

bool rheos_op_def_has_kernel(const rheos_op_def *op) {
  return op != NULL && rheos__cpu_has_kernel(op->op);
}
