// The callables that a session keeps, one for each signature of feeds and fetches: a hash table
// from the words of a signature, with the least recently used half dropped when it is full.

#include <string.h>

#include <rheos/control_flow.h>

#include "session_object.h"

enum { num_buckets = 256, max_signatures = 512 };

bool is_session_handle(rheos_output output) {
  const char *type = rheos_operation_type((rheos_operation){output.graph, output.id});
  return type != NULL && strcmp(type, "GetSessionHandle") == 0;
}

int signatures_init(session_object *self) {
  self->buckets = PyMem_Calloc(num_buckets, sizeof *self->buckets);
  if (self->buckets) return 0;
  PyErr_NoMemory();
  return -1;
}

static uint64_t hash_words(const int32_t *words, int32_t count) {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (int32_t i = 0; i < count; ++i) {
    hash = (hash ^ (uint32_t)words[i]) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

static void free_signature(signature *entry) {
  rheos_callable_free(entry->callable);
  PyMem_Free(entry->feed_dtypes);
  PyMem_Free(entry);
}

void signatures_drop(session_object *self, bool everything) {
  int64_t limit = self->clock - max_signatures / 2;
  for (int32_t b = 0; self->buckets && b < num_buckets; ++b) {
    signature **link = &self->buckets[b];
    while (*link) {
      signature *entry = *link;
      if (entry->in_use || (!everything && entry->last_use > limit)) {
        link = &entry->next;
        continue;
      }
      *link = entry->next;
      self->num_signatures--;
      free_signature(entry);
    }
  }
}

static signature *find_signature(session_object *self, const int32_t *words, int32_t count,
                                 uint64_t hash) {
  for (signature *s = self->buckets[hash % num_buckets]; s; s = s->next) {
    if (s->hash == hash && s->num_words == count &&
        memcmp(s->words, words, (size_t)count * sizeof *words) == 0) {
      return s;
    }
  }
  return NULL;
}

// The callable of the words, in a new entry that is not yet in the table.
static rheos_status *make_callable(session_object *self, signature *entry) {
  int32_t num_pairs = (entry->num_words - 1) / 2;
  rheos_output *outputs = PyMem_Calloc((size_t)num_pairs + 1, sizeof *outputs);
  rheos_operation *targets = PyMem_Calloc((size_t)num_pairs + 1, sizeof *targets);
  rheos_status *status = NULL;
  if (!outputs || !targets) {
    status = rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
  } else {
    rheos_graph *graph = self->graph->graph;
    size_t num_outputs = 0, num_targets = 0;
    for (int32_t i = 0; i < num_pairs; ++i) {
      int32_t id = entry->words[1 + 2 * i], index = entry->words[2 + 2 * i];
      if (index < 0)
        targets[num_targets++] = (rheos_operation){graph, id};
      else
        outputs[num_outputs++] = (rheos_output){graph, id, index};
    }
    for (int32_t i = 0; i < entry->num_feeds; ++i) {
      entry->feed_dtypes[i] = rheos_dtype_base(rheos_output_dtype(outputs[i]));
    }
    size_t num_feeds = (size_t)entry->num_feeds;
    entry->num_fetches = (int32_t)(num_outputs - num_feeds);
    for (size_t i = num_feeds; i < num_outputs; ++i) {
      if (is_session_handle(outputs[i])) entry->has_handles = true;
    }
    status = rheos_callable_new(self->session, outputs, num_feeds, outputs + num_feeds,
                                num_outputs - num_feeds, targets, num_targets, &entry->callable);
  }
  PyMem_Free(outputs);
  PyMem_Free(targets);
  return status;
}

static signature *new_signature(session_object *self, const int32_t *words, int32_t count,
                                uint64_t hash) {
  if (self->num_signatures >= max_signatures) signatures_drop(self, false);
  signature *entry = PyMem_Calloc(1, sizeof *entry + (size_t)count * sizeof *words);
  if (entry) entry->feed_dtypes = PyMem_Calloc((size_t)words[0] + 1, sizeof *entry->feed_dtypes);
  if (!entry || !entry->feed_dtypes) {
    PyMem_Free(entry);
    PyErr_NoMemory();
    return NULL;
  }
  memcpy(entry->words, words, (size_t)count * sizeof *words);
  entry->num_words = count;
  entry->num_feeds = words[0];
  entry->hash = hash;
  rheos_status *status = make_callable(self, entry);
  if (status) {
    free_signature(entry);
    raise_run_error_take(status, self->graph);
    return NULL;
  }
  entry->next = self->buckets[hash % num_buckets];
  self->buckets[hash % num_buckets] = entry;
  self->num_signatures++;
  return entry;
}

// Whether there is something among the words that only exists in a branch or in some trips of a
// loop.
static bool is_inside(const session_object *self, const int32_t *words, int32_t count) {
  for (int32_t i = 1; i + 1 < count; i += 2) {
    rheos_operation operation = {self->graph->graph, words[i]};
    bool is_feed = i <= 2 * words[0];
    if (is_feed ? !rheos_operation_is_feedable(operation)
                : !rheos_operation_is_fetchable(operation)) {
      return true;
    }
  }
  return false;
}

// Asks the package whether all may be fed or fetched.
static bool may_run(const session_object *self, const int32_t *words, int32_t count) {
  PyObject *numbers = PyTuple_New(count);
  for (int32_t i = 0; numbers && i < count; ++i) {
    PyObject *number = PyLong_FromLong(words[i]);
    if (number)
      PyTuple_SET_ITEM(numbers, i, number);
    else
      Py_CLEAR(numbers);
  }
  if (!numbers) return false;
  PyObject *checked = PyObject_CallMethod((PyObject *)self->graph, "_check_run", "(N)", numbers);
  Py_XDECREF(checked);
  return checked != NULL;
}

signature *signature_of(session_object *self, const int32_t *words, int32_t count) {
  if (self->graph->restricts_runs && !may_run(self, words, count)) return NULL;
  uint64_t hash = hash_words(words, count);
  signature *entry = find_signature(self, words, count, hash);
  if (!entry && is_inside(self, words, count) && !may_run(self, words, count)) return NULL;
  if (!entry) entry = new_signature(self, words, count, hash);
  if (entry) entry->last_use = ++self->clock;
  return entry;
}
