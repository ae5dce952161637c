// The table of resources and the variable cell. One mutex guards the table: resources
// are looked up while a plan is made, not while it runs.
#include "resource/resource.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "resource/variable_shape.h"

typedef struct resource_entry {
  uint64_t hash;
  rheos__resource *resource;
} resource_entry;

// Open addressing, at most half full; capacity is 0 or a power of two.
struct rheos__resources {
  pthread_mutex_t mutex;
  resource_entry *entries;
  size_t capacity, count;
  _Atomic int64_t num_variables_of_any_shape;
  _Atomic(rheos__resources *)
      next;  // of another device, with the next number; NULL: nobody asked for it
};

rheos__resources *rheos__resources_new(void) {
  rheos__resources *resources = rheos__alloc_zeroed(sizeof *resources);
  if (resources == NULL) return NULL;
  if (pthread_mutex_init(&resources->mutex, NULL) != 0) {
    rheos__free(resources);
    return NULL;
  }
  return resources;
}

static rheos__resources *make_next(rheos__resources *resources) {
  pthread_mutex_lock(&resources->mutex);
  if (atomic_load(&resources->next) == NULL) {
    atomic_store(&resources->next, rheos__resources_new());
  }
  pthread_mutex_unlock(&resources->mutex);
  return atomic_load(&resources->next);
}

rheos__resources *rheos__resources_of_device(rheos__resources *resources, int32_t device) {
  for (; resources != NULL && device > 0; device--) resources = make_next(resources);
  return resources;
}

static void clear_own(rheos__resources *resources) {
  pthread_mutex_lock(&resources->mutex);
  resource_entry *entries = resources->entries;
  const size_t capacity = resources->capacity;
  resources->entries = NULL;
  resources->capacity = resources->count = 0;
  pthread_mutex_unlock(&resources->mutex);
  for (size_t i = 0; i < capacity; i++) rheos__resource_unref(entries[i].resource);
  rheos__free(entries);
}

void rheos__resources_clear(rheos__resources *resources) {
  for (; resources != NULL; resources = atomic_load(&resources->next)) clear_own(resources);
}

void rheos__resources_free(rheos__resources *resources) {
  while (resources != NULL) {
    rheos__resources *next = atomic_load(&resources->next);
    clear_own(resources);
    pthread_mutex_destroy(&resources->mutex);
    rheos__free(resources);
    resources = next;
  }
}

// The entry that holds the resource, or the empty one where it belongs.
static resource_entry *find_entry(resource_entry *entries, size_t capacity, uint64_t hash,
                                  const rheos__resource_kind *kind, const char *name) {
  assert(capacity > 0 && (capacity & (capacity - 1)) == 0);
  size_t mask = capacity - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    const rheos__resource *resource = entries[i].resource;
    if (resource == NULL) return &entries[i];
    if (entries[i].hash == hash && resource->kind == kind && strcmp(resource->name, name) == 0) {
      return &entries[i];
    }
  }
}

// Behind the container's name. No name of a container has it.
static const char between[] = "//";

char *rheos__name_in_container(const char *container, const char *name) {
  const size_t size = strlen(container), head = size > 0 ? size + strlen(between) : 0;
  char *full = rheos__alloc(head + strlen(name) + 1);
  if (full == NULL) return NULL;
  memcpy(full, container, size);
  if (size > 0) strcpy(full + size, between);
  strcpy(full + head, name);
  return full;
}

static bool is_in_container(const rheos__resource *resource, const char *container) {
  const size_t size = strlen(container);
  if (size == 0) return strstr(resource->name, between) == NULL;
  return strncmp(resource->name, container, size) == 0 &&
         strncmp(resource->name + size, between, strlen(between)) == 0;
}

// With the mutex held. What goes is put into `gone`, which has room for all.
static bool take_container(rheos__resources *resources, const char *container,
                           rheos__resource **gone, size_t *num_gone) {
  resource_entry *kept = rheos__alloc_array(resources->capacity, sizeof *kept);
  if (kept == NULL) return false;
  for (size_t i = 0; i < resources->capacity; i++) {
    const resource_entry entry = resources->entries[i];
    if (entry.resource == NULL) continue;
    if (is_in_container(entry.resource, container)) {
      gone[(*num_gone)++] = entry.resource;
      continue;
    }
    *find_entry(kept, resources->capacity, entry.hash, entry.resource->kind, entry.resource->name) =
        entry;
  }
  rheos__free(resources->entries);
  resources->entries = kept;
  resources->count -= *num_gone;
  return true;
}

static rheos_status *clear_container(rheos__resources *resources, const char *container) {
  size_t num_gone = 0;
  pthread_mutex_lock(&resources->mutex);
  rheos__resource **gone = rheos__alloc_array(resources->count + 1, sizeof *gone);
  const bool done = gone != NULL && (resources->capacity == 0 ||
                                     take_container(resources, container, gone, &num_gone));
  pthread_mutex_unlock(&resources->mutex);
  for (size_t i = 0; i < num_gone; i++) rheos__resource_unref(gone[i]);
  rheos__free(gone);
  return done ? NULL : rheos__out_of_memory();
}

rheos_status *rheos__resources_clear_container(rheos__resources *resources, const char *container) {
  for (; resources != NULL; resources = atomic_load(&resources->next)) {
    RHEOS_TRY(clear_container(resources, container));
  }
  return NULL;
}

static bool reserve_entry(rheos__resources *resources) {
  if ((resources->count + 1) * 2 <= resources->capacity) return true;
  size_t capacity = resources->capacity != 0 ? resources->capacity * 2 : 16;
  resource_entry *entries = rheos__alloc_array(capacity, sizeof *entries);
  if (entries == NULL) return false;
  for (size_t i = 0; i < resources->capacity; i++) {
    resource_entry entry = resources->entries[i];
    if (entry.resource == NULL) continue;
    *find_entry(entries, capacity, entry.hash, entry.resource->kind, entry.resource->name) = entry;
  }
  rheos__free(resources->entries);
  resources->entries = entries;
  resources->capacity = capacity;
  return true;
}

rheos_status *rheos__resource_new(const rheos__resource_kind *kind, const char *name,
                                  const void *argument, rheos__resource **out_resource) {
  *out_resource = NULL;
  assert(kind->size_bytes >= sizeof(rheos__resource));
  rheos__resource *resource = rheos__alloc_zeroed(kind->size_bytes);
  if (resource == NULL) return rheos__out_of_memory();
  resource->kind = kind;
  atomic_init(&resource->references, 1);
  resource->name = rheos__strdup(name);
  rheos_status *status = NULL;
  if (resource->name == NULL) {
    status = rheos__out_of_memory();
  } else if (kind->init != NULL) {
    status = kind->init(resource, argument);
  }
  if (status != NULL) {
    rheos__free(resource->name);
    rheos__free(resource);
    return status;
  }
  *out_resource = resource;
  return NULL;
}

static rheos_status *get_locked(rheos__resources *resources, const rheos__resource_kind *kind,
                                const char *name, const void *argument,
                                rheos__resource **out_resource) {
  if (!reserve_entry(resources)) return rheos__out_of_memory();
  uint64_t hash = rheos__hash_bytes((uint64_t)(uintptr_t)kind, name, strlen(name));
  resource_entry *entry = find_entry(resources->entries, resources->capacity, hash, kind, name);
  if (entry->resource == NULL) {
    rheos__resource *resource;
    RHEOS_TRY(rheos__resource_new(kind, name, argument, &resource));
    *entry = (resource_entry){hash, resource};
    resources->count++;
    assert(resources->count * 2 <= resources->capacity);
  }
  *out_resource = rheos__resource_ref(entry->resource);
  return NULL;
}

rheos_status *rheos__resources_get(rheos__resources *resources, const rheos__resource_kind *kind,
                                   const char *name, const void *argument,
                                   rheos__resource **out_resource) {
  *out_resource = NULL;
  pthread_mutex_lock(&resources->mutex);
  rheos_status *status = get_locked(resources, kind, name, argument, out_resource);
  pthread_mutex_unlock(&resources->mutex);
  return status;
}

rheos__resource *rheos__resource_ref(rheos__resource *resource) {
  atomic_fetch_add_explicit(&resource->references, 1, memory_order_relaxed);
  return resource;
}

void rheos__resource_unref(rheos__resource *resource) {
  if (resource == NULL) return;
  if (atomic_fetch_sub_explicit(&resource->references, 1, memory_order_acq_rel) != 1) return;
  if (resource->kind->deinit != NULL) resource->kind->deinit(resource);
  rheos__free(resource->name);
  rheos__free(resource);
}

void rheos__resource_remember(rheos__resource *resource) {
  rheos__resource_ref(resource);
  atomic_fetch_add_explicit(&resource->num_memories, 1, memory_order_release);
}

void rheos__resource_forget(rheos__resource *resource) {
  atomic_fetch_sub_explicit(&resource->num_memories, 1, memory_order_relaxed);
  rheos__resource_unref(resource);
}

// Never true too soon: a memory is counted last and taken off first.
bool rheos__resource_is_gone(const rheos__resource *resource) {
  const int32_t memories = atomic_load_explicit(&resource->num_memories, memory_order_acquire);
  return atomic_load_explicit(&resource->references, memory_order_relaxed) == memories;
}

// ---- Variables

typedef struct variable {
  rheos__variable_cell cell;
  _Atomic bool has_any_shape;
} variable;

static rheos_status *variable_init(rheos__resource *resource, const void *argument) {
  rheos__variable_cell *cell = (rheos__variable_cell *)resource;
  if (argument != NULL) cell->dtype = *(const rheos_dtype *)argument;
  return pthread_mutex_init(&cell->mutex, NULL) == 0 ? NULL : rheos__out_of_memory();
}

static void variable_deinit(rheos__resource *resource) {
  rheos__variable_cell *cell = (rheos__variable_cell *)resource;
  rheos_tensor_unref(cell->value);
  pthread_mutex_destroy(&cell->mutex);
}

const rheos__resource_kind rheos__variable_kind = {"variable", sizeof(variable), variable_init,
                                                   variable_deinit};

void rheos__variable_allow_any_shape(rheos__resources *resources, rheos__variable_cell *cell) {
  if (atomic_exchange(&((variable *)cell)->has_any_shape, true)) return;
  ++resources->num_variables_of_any_shape;
}

bool rheos__variable_has_any_shape(const rheos__variable_cell *cell) {
  return ((const variable *)cell)->has_any_shape;
}

int64_t rheos__num_variables_of_any_shape(const rheos__resources *resources) {
  return resources != NULL ? resources->num_variables_of_any_shape : 0;
}

rheos_tensor *rheos__variable_read(rheos__variable_cell *cell) {
  pthread_mutex_lock(&cell->mutex);
  rheos_tensor *value = rheos_tensor_ref(cell->value);
  pthread_mutex_unlock(&cell->mutex);
  return value;
}

rheos_status *rheos__variable_read_in(rheos__variable_cell *cell, rheos__memory *memory,
                                      rheos_tensor **out_value) {
  rheos_tensor *value = rheos__variable_read(cell);
  *out_value = value;
  if (value == NULL) return rheos__variable_uninitialized(cell);
  if (__builtin_expect(value->memory == memory, 1)) return NULL;
  rheos_status *status = rheos__tensor_in(value, memory, out_value);
  rheos_tensor_unref(value);
  return status;
}

void rheos__variable_assign_take(rheos__variable_cell *cell, rheos_tensor *value) {
  pthread_mutex_lock(&cell->mutex);
  rheos_tensor *old = cell->value;
  cell->value = value;
  pthread_mutex_unlock(&cell->mutex);
  rheos_tensor_unref(old);
}

rheos_status *rheos__variable_assign(rheos__variable_cell *cell, rheos_tensor *value) {
  rheos_tensor *kept = NULL;
  if (rheos__tensor_can_keep(value)) {
    kept = rheos_tensor_ref(value);
  } else {
    RHEOS_TRY(rheos_tensor_copy(value, &kept));
  }
  rheos__variable_assign_take(cell, kept);
  return NULL;
}

// The value as the only reference, in the memory.
static rheos_status *make_writable(rheos__variable_cell *cell, rheos__memory *memory) {
  rheos_tensor *value = cell->value, *copy = NULL;
  if (value == NULL) return rheos__variable_uninitialized(cell);
  if (rheos__tensor_is_held_once(value)) rheos__tensor_changed(value);
  if (value->memory == memory && rheos__tensor_is_exclusive(value)) return NULL;
  RHEOS_TRY(rheos__tensor_copy_to(value, memory, &copy));
  rheos_tensor_unref(value);
  cell->value = copy;
  return NULL;
}

rheos_status *rheos__variable_begin_write(rheos__variable_cell *cell, rheos__memory *memory,
                                          rheos_tensor **out_value) {
  *out_value = NULL;
  pthread_mutex_lock(&cell->mutex);
  rheos_status *status = make_writable(cell, memory);
  if (status != NULL) {
    pthread_mutex_unlock(&cell->mutex);
    return status;
  }
  assert(rheos__tensor_is_exclusive(cell->value) && cell->value->content == 0);
  *out_value = cell->value;
  return NULL;
}

void rheos__variable_end_write(rheos__variable_cell *cell) { pthread_mutex_unlock(&cell->mutex); }

rheos_status *rheos__variable_uninitialized(const rheos__variable_cell *cell) {
  return rheos_status_new(RHEOS_FAILED_PRECONDITION, "Attempting to use uninitialized value %s",
                          cell->base.name);
}
