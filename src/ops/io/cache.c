// The elements of a dataset, kept when all of them have been made once: in the dataset's memory, or
// in files. The files are a checkpoint as TensorFlow writes it for a cache, of a tensor for each
// component of each element; while they are written a lock file lies beside them.
#include <pthread.h>
#include <stdio.h>

#include "base/file.h"
#include "format/checkpoint/bundle.h"
#include "ops/data/stage.h"

typedef struct cache {
  const char *prefix;  // of the files; NULL: in memory
  int name_digits;     // of the number of a component in the names of tensors
  // In memory.
  pthread_mutex_t mutex;
  bool is_whole;
  rheos_tensor **tensors;  // of elements one after the other, when it is whole
  int64_t count;
} cache;

typedef enum doing { NOTHING_YET, COLLECTING, READING, ENDED, FAILED } doing;

typedef struct cached {
  rheos__iterator base;
  doing doing;
  int64_t at;  // elements that were collected or read
  // In memory.
  rheos_tensor **tensors;  // collected so far
  size_t capacity;
  // In files.
  rheos__bundle_writer *writer;
  rheos__bundle *bundle;
  char *lock;             // the lock file, if it is the iterator's
  rheos_status *failure;  // of writing: there will be no files, nor more elements
} cached;

static rheos_status *init_cache(rheos__dataset *d) {
  cache *c = d->data;
  const rheos_string *prefix;
  pthread_mutex_init(&c->mutex, NULL);
  RHEOS_TRY(rheos__dataset_string(d, 1, "filename", &prefix));
  c->name_digits = 1;
  for (int32_t most = d->num_components - 1; most >= 10; most /= 10) ++c->name_digits;
  if (prefix->size_bytes == 0) return NULL;
  c->prefix = rheos__strndup(prefix->data, prefix->size_bytes);
  return c->prefix != NULL ? NULL : rheos__out_of_memory();
}

static void deinit_cache(rheos__dataset *d) {
  cache *c = d->data;
  for (int64_t i = 0; i < c->count * d->num_components; ++i) rheos_tensor_unref(c->tensors[i]);
  rheos__free(c->tensors);
  rheos__free((char *)c->prefix);
  pthread_mutex_destroy(&c->mutex);
}

// ---- In memory

static rheos_status *open_input(cached *it, rheos__step *step) {
  it->doing = COLLECTING;
  return rheos__iterator_new(it->base.dataset->inputs[0], step, &it->base.input);
}

static void close_input(cached *it) {
  rheos__iterator_free(it->base.input);
  it->base.input = NULL;
}

// Whether the memory is whole when an element is first asked for decides.
static rheos_status *begin_in_memory(cached *it, rheos__step *step) {
  cache *c = it->base.dataset->data;
  pthread_mutex_lock(&c->mutex);
  const bool is_whole = c->is_whole;
  pthread_mutex_unlock(&c->mutex);
  if (!is_whole) return open_input(it, step);
  it->doing = READING;
  return NULL;
}

static void drop_collected(cached *it) {
  const int64_t count = it->tensors != NULL ? it->at * it->base.dataset->num_components : 0;
  for (int64_t i = 0; i < count; ++i) rheos_tensor_unref(it->tensors[i]);
  rheos__free(it->tensors);
  it->tensors = NULL;
  it->capacity = 0;
}

// Makes the tensors the cache's from now on, unless another iterator was faster.
static void hand_over_take(cache *c, rheos_tensor ***tensors, int64_t count) {
  pthread_mutex_lock(&c->mutex);
  if (!c->is_whole) {
    c->tensors = *tensors;
    c->count = count;
    c->is_whole = true;
    *tensors = NULL;
  }
  pthread_mutex_unlock(&c->mutex);
}

static rheos_status *collect(cached *it, rheos_tensor **element) {
  const int32_t n = it->base.dataset->num_components;
  const size_t used = (size_t)(it->at * n);
  if (!RHEOS_RESERVE(it->tensors, it->capacity, used + (size_t)n)) return rheos__out_of_memory();
  for (int32_t i = 0; i < n; ++i) it->tensors[used + (size_t)i] = rheos_tensor_ref(element[i]);
  return NULL;
}

static void read_memory(cached *it, rheos_tensor **element, bool *out_end) {
  const int32_t n = it->base.dataset->num_components;
  const cache *c = it->base.dataset->data;
  *out_end = it->at < 0 || it->at >= c->count;
  for (int32_t i = 0; !*out_end && i < n; ++i) {
    element[i] = rheos_tensor_ref(c->tensors[it->at * n + i]);
  }
  it->at += !*out_end;
}

static int64_t held_in_memory(rheos__iterator *iterator, int64_t most,
                              rheos_tensor *const **out_tensors) {
  const cached *it = (const cached *)iterator;
  const cache *c = iterator->dataset->data;
  if (c->prefix != NULL || it->doing != READING || it->at < 0 || it->at >= c->count) return 0;
  *out_tensors = c->tensors + it->at * iterator->dataset->num_components;
  return most < c->count - it->at ? most : c->count - it->at;
}

static void pass_in_memory(rheos__iterator *iterator, int64_t count) {
  ((cached *)iterator)->at += count;
}

// ---- In files

enum { NAME_BYTES = 48 };

// The name that TensorFlow gives a component of an element.
static size_t name_of(const cache *c, int64_t number, int32_t component, char *text) {
  return (size_t)snprintf(text, NAME_BYTES, "%7lld_%*d", (long long)number, c->name_digits,
                          (int)component);
}

static rheos_status *file_exists(const char *prefix, const char *suffix, bool *out_exists) {
  char *path = rheos__text_format("%s%s", prefix, suffix);
  if (path == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__file_exists(path, out_exists);
  rheos__free(path);
  return status;
}

static rheos_status *lock(cached *it, const char *prefix) {
  char *path = rheos__text_format("%s_0.lockfile", prefix);
  char *folder = rheos__path_folder(prefix);
  rheos_status *status = path == NULL || folder == NULL ? rheos__out_of_memory() : NULL;
  if (status == NULL) status = rheos__file_make_dirs(folder);
  if (status == NULL) status = rheos__file_make_new(path);
  rheos__free(folder);
  if (status == NULL) {
    it->lock = path;
    return NULL;
  }
  if (rheos_status_code(status) == RHEOS_ALREADY_EXISTS) {
    rheos_status_free(status);
    status = rheos_status_new(
        RHEOS_ALREADY_EXISTS,
        "There appears to be a concurrent caching iterator running - cache lockfile already exists "
        "('%s'). If you are sure no other running TensorFlow computations are using this cache "
        "prefix, delete the lockfile and re-initialize the iterator.",
        path);
  }
  rheos__free(path);
  return status;
}

static void unlock(cached *it) {
  if (it->lock != NULL) rheos_status_free(rheos__file_remove(it->lock));
  rheos__free(it->lock);
  it->lock = NULL;
}

static rheos_status *begin_in_files(cached *it, rheos__step *step) {
  const cache *c = it->base.dataset->data;
  bool is_there = false;
  RHEOS_TRY(file_exists(c->prefix, ".index", &is_there));
  if (is_there) {
    it->doing = READING;
    return rheos__bundle_open(c->prefix, &it->bundle);
  }
  RHEOS_TRY(lock(it, c->prefix));
  rheos_status *status = rheos__bundle_writer_open(c->prefix, &it->writer);
  if (status == NULL) status = open_input(it, step);
  if (status == NULL) return NULL;
  rheos__bundle_writer_abandon(it->writer);
  it->writer = NULL;
  it->doing = NOTHING_YET;
  unlock(it);
  return status;
}

static rheos_status *write_element(cached *it, rheos_tensor **element) {
  const cache *c = it->base.dataset->data;
  char name[NAME_BYTES];
  for (int32_t i = 0; i < it->base.dataset->num_components; ++i) {
    const size_t size = name_of(c, it->at, i, name);
    RHEOS_TRY(rheos__bundle_writer_add(it->writer, name, size, element[i]));
  }
  return NULL;
}

static rheos_status *read_files(cached *it, rheos_tensor **element, bool *out_end) {
  const rheos__dataset *d = it->base.dataset;
  const cache *c = d->data;
  char name[NAME_BYTES];
  for (int32_t i = 0; i < d->num_components; ++i) {
    const size_t size = name_of(c, it->at, i, name);
    const rheos__bundle_entry *entry = rheos__bundle_find(it->bundle, name, size);
    *out_end = entry == NULL && i == 0;
    if (*out_end) return NULL;
    if (entry == NULL || entry->dtype != d->types[i]) {
      return rheos_status_new(RHEOS_DATA_LOSS, "the cache %s is of other elements: '%s' %s",
                              c->prefix, name, entry == NULL ? "is missing" : "has another dtype");
    }
    RHEOS_TRY(rheos__bundle_read(it->bundle, entry, &element[i]));
  }
  ++it->at;
  return NULL;
}

// ---- Both

// The input has ended: what was collected is whole.
static rheos_status *finish_collecting(cached *it) {
  cache *c = it->base.dataset->data;
  close_input(it);
  it->doing = ENDED;
  if (c->prefix == NULL) {
    hand_over_take(c, &it->tensors, it->at);
    drop_collected(it);
    return NULL;
  }
  rheos_status *status = rheos__bundle_writer_finish_take(it->writer);
  it->writer = NULL;
  unlock(it);
  return status;
}

// The files are given up, since what was not written is missing in them.
static rheos_status *fail_writing(cached *it, rheos_status *status) {
  rheos__bundle_writer_abandon(it->writer);
  it->writer = NULL;
  unlock(it);
  close_input(it);
  it->doing = FAILED;
  it->failure = rheos_status_new(rheos_status_code(status), "%s", rheos_status_message(status));
  return status;
}

static rheos_status *next_collected(cached *it, rheos__step *step, rheos_tensor **element,
                                    bool *out_end) {
  RHEOS_TRY(rheos__iterator_next(it->base.input, step, element, out_end));
  if (*out_end) {
    rheos_status *status = finish_collecting(it);
    return status != NULL ? fail_writing(it, status) : NULL;
  }
  rheos_status *status = it->writer != NULL ? write_element(it, element) : collect(it, element);
  if (status == NULL) {
    ++it->at;
    return NULL;
  }
  rheos__element_clear(element, it->base.dataset->num_components);
  return it->writer != NULL ? fail_writing(it, status) : status;
}

static rheos_status *next_cached(rheos__iterator *iterator, rheos__step *step,
                                 rheos_tensor **element, bool *out_end) {
  cached *it = (cached *)iterator;
  const cache *c = iterator->dataset->data;
  if (it->doing == NOTHING_YET) {
    RHEOS_TRY(c->prefix != NULL ? begin_in_files(it, step) : begin_in_memory(it, step));
  }
  *out_end = it->doing == ENDED;
  if (*out_end) return NULL;
  if (it->doing == FAILED) {
    return rheos_status_new(rheos_status_code(it->failure), "%s",
                            rheos_status_message(it->failure));
  }
  if (it->doing == COLLECTING) return next_collected(it, step, element, out_end);
  if (c->prefix == NULL) {
    read_memory(it, element, out_end);
    return NULL;
  }
  rheos_status *status = read_files(it, element, out_end);
  if (status != NULL) rheos__element_clear(element, iterator->dataset->num_components);
  return status;
}

static void finish_cached(rheos__iterator *iterator) {
  cached *it = (cached *)iterator;
  drop_collected(it);
  rheos__bundle_writer_abandon(it->writer);
  rheos__bundle_close(it->bundle);
  rheos_status_free(it->failure);
  unlock(it);
}

// ---- Saving

// Tensors of elements from state; they are the caller's also after a failure, as far as they are
// there.
static rheos_status *transfer_tensors(const rheos__dataset *d, rheos__saved_state *state,
                                      rheos_tensor ***tensors, int64_t count) {
  if (state->is_restoring) {
    if (count < 0 || count > state->count) return RHEOS_INVALID("the state of a cache is damaged");
    *tensors = rheos__alloc_array((size_t)count, sizeof **tensors);
    if (*tensors == NULL) return rheos__out_of_memory();
  }
  RHEOS_TRY(rheos__state_tensors(state, *tensors, (int32_t)count));
  for (int64_t i = 0; state->is_restoring && i < count; ++i) {
    const rheos_tensor *tensor = (*tensors)[i];
    if (tensor == NULL || tensor->dtype != d->types[i % d->num_components]) {
      return RHEOS_INVALID("the state of a cache is damaged");
    }
  }
  return NULL;
}

static void free_tensors(rheos_tensor **tensors, int64_t count) {
  for (int64_t i = 0; tensors != NULL && i < count; ++i) rheos_tensor_unref(tensors[i]);
  rheos__free(tensors);
}

static rheos_status *transfer_memory(rheos__dataset *d, rheos__saved_state *state) {
  cache *c = d->data;
  int64_t count = c->count;
  RHEOS_TRY(rheos__state_ints(state, &count, 1));
  if (count < 0 || count > INT32_MAX / d->num_components)
    return RHEOS_INVALID("the cache is too large to save");
  if (!state->is_restoring)
    return transfer_tensors(d, state, &c->tensors, count * d->num_components);
  rheos_tensor **tensors = NULL;
  rheos_status *status = transfer_tensors(d, state, &tensors, count * d->num_components);
  if (status == NULL) hand_over_take(c, &tensors, count);
  free_tensors(tensors, count * d->num_components);
  return status;
}

static rheos_status *transfer_collected(cached *it, rheos__saved_state *state, rheos__step *step) {
  const int64_t count = it->at * it->base.dataset->num_components;
  rheos_status *status = transfer_tensors(it->base.dataset, state, &it->tensors, count);
  if (state->is_restoring) {
    it->capacity = it->tensors != NULL ? (size_t)count : 0;
    if (status != NULL) {
      free_tensors(it->tensors, count);
      it->tensors = NULL;
      it->at = 0;
    }
  }
  if (status == NULL && it->base.input == NULL) status = open_input(it, step);
  return status != NULL ? status : rheos__iterator_transfer(it->base.input, state, step);
}

static rheos_status *transfer_cached(rheos__iterator *iterator, rheos__saved_state *state,
                                     rheos__step *step) {
  cached *it = (cached *)iterator;
  const cache *c = iterator->dataset->data;
  int64_t numbers[2] = {it->doing, it->at};
  if (c->prefix != NULL && it->doing == COLLECTING) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "an iterator that is filling a cache in files cannot be saved");
  }
  if (it->doing == FAILED) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                            "the iterator cannot be saved: writing its cache failed");
  }
  RHEOS_TRY(rheos__state_ints(state, numbers, 2));
  if (state->is_restoring) {
    if (numbers[0] < NOTHING_YET || numbers[0] > ENDED || numbers[1] < 0) {
      return RHEOS_INVALID("the state of a cache is damaged");
    }
    it->doing = (doing)numbers[0];
    it->at = numbers[1];
    if (it->at > INT32_MAX / iterator->dataset->num_components) {
      return RHEOS_INVALID("the state of a cache is damaged");
    }
  }
  if (it->doing == NOTHING_YET || (it->doing == ENDED && c->prefix != NULL)) return NULL;
  if (c->prefix != NULL) {
    return it->bundle == NULL ? rheos__bundle_open(c->prefix, &it->bundle) : NULL;
  }
  if (it->doing == COLLECTING) return transfer_collected(it, state, step);
  return transfer_memory(iterator->dataset, state);
}

// In memory: what it has.
static void count_cached(rheos__iterator *iterator, rheos__stage_counts *out_counts) {
  const cached *it = (const cached *)iterator;
  cache *c = iterator->dataset->data;
  const int64_t n = iterator->dataset->num_components;
  pthread_mutex_lock(&c->mutex);
  rheos_tensor *const *tensors = c->is_whole ? c->tensors : it->tensors;
  const int64_t count = c->is_whole ? c->count : it->at;
  *out_counts = (rheos__stage_counts){.buffered = count, .capacity = count};
  for (int64_t i = 0; tensors != NULL && i < count * n; ++i) {
    out_counts->bytes += (int64_t)tensors[i]->size_bytes;
  }
  pthread_mutex_unlock(&c->mutex);
}

// What is not in memory is made again: nothing shows whether it was kept.
static rheos_status *at_cached(rheos__dataset *d, int64_t index, rheos__step *step,
                               rheos_tensor **element) {
  cache *c = d->data;
  const int32_t n = d->num_components;
  pthread_mutex_lock(&c->mutex);
  const bool has = c->is_whole && index < c->count;
  for (int32_t i = 0; has && i < n; ++i) element[i] = rheos_tensor_ref(c->tensors[index * n + i]);
  pthread_mutex_unlock(&c->mutex);
  return has ? NULL : rheos__dataset_at(d->inputs[0], index, step, element);
}

static const rheos__dataset_kind cache_kind = {.name = "Cache",
                                               .data_bytes = sizeof(cache),
                                               .iterator_bytes = sizeof(cached),
                                               .like_input = true,
                                               .init = init_cache,
                                               .deinit = deinit_cache,
                                               .finish = finish_cached,
                                               .next = next_cached,
                                               .held = held_in_memory,
                                               .pass = pass_in_memory,
                                               .count = count_cached,
                                               .state = transfer_cached,
                                               .at = at_cached};
#define METADATA RHEOS_DATASET_TYPES "; metadata: string = \"\""
#define CACHE_TEXT "The elements, kept in memory or files when all of them have been made once."
RHEOS_FILE_DATASET_OP(CacheDataset, cache_kind, "input_dataset: variant, filename: string",
                      METADATA, CACHE_TEXT, "filename")
RHEOS_FILE_DATASET_OP(CacheDatasetV2, cache_kind,
                      "input_dataset: variant, filename: string, cache: resource", METADATA,
                      CACHE_TEXT, "filename")
