// Event writers by their folders: who writes to the same folder gets the same one.
#include <rheos/events.h>

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

typedef struct entry {
  char *logdir;
  rheos_event_writer *writer;
} entry;

struct rheos_event_writer_cache {
  pthread_mutex_t mutex;
  entry *items;
  size_t count, capacity;
};

rheos_event_writer_cache *rheos_event_writer_cache_new(void) {
  rheos_event_writer_cache *cache = rheos__alloc_zeroed(sizeof *cache);
  if (cache != NULL) pthread_mutex_init(&cache->mutex, NULL);
  return cache;
}

static rheos_status *add_writer(rheos_event_writer_cache *cache, const char *logdir,
                                rheos_graph *graph, rheos_event_writer **out_writer) {
  if (!RHEOS_RESERVE(cache->items, cache->capacity, cache->count + 1))
    return rheos__out_of_memory();
  char *name = rheos__strdup(logdir);
  if (name == NULL) return rheos__out_of_memory();
  rheos_event_writer *writer;
  rheos_status *status = rheos_event_writer_open(logdir, NULL, &writer);
  if (status == NULL && graph != NULL) {
    status = rheos_event_writer_add_graph(writer, graph);
    if (status != NULL) rheos_status_free(rheos_event_writer_close(writer));
  }
  if (status != NULL) {
    rheos__free(name);
    return status;
  }
  cache->items[cache->count++] = (entry){name, writer};
  *out_writer = writer;
  return NULL;
}

rheos_status *rheos_event_writer_cache_get(rheos_event_writer_cache *cache, const char *logdir,
                                           rheos_graph *graph, rheos_event_writer **out_writer) {
  RHEOS_OUT(out_writer);
  RHEOS_NEED(cache, logdir);
  pthread_mutex_lock(&cache->mutex);
  for (size_t i = 0; i < cache->count && *out_writer == NULL; i++) {
    if (strcmp(cache->items[i].logdir, logdir) == 0) *out_writer = cache->items[i].writer;
  }
  rheos_status *status = *out_writer == NULL ? add_writer(cache, logdir, graph, out_writer) : NULL;
  pthread_mutex_unlock(&cache->mutex);
  return status;
}

rheos_status *rheos_event_writer_cache_clear(rheos_event_writer_cache *cache) {
  RHEOS_NEED(cache);
  rheos_status *first = NULL;
  pthread_mutex_lock(&cache->mutex);
  for (size_t i = 0; i < cache->count; i++) {
    rheos_status *status = rheos_event_writer_close(cache->items[i].writer);
    if (first == NULL) {
      first = status;
    } else {
      rheos_status_free(status);
    }
    rheos__free(cache->items[i].logdir);
  }
  cache->count = 0;
  pthread_mutex_unlock(&cache->mutex);
  return first;
}

void rheos_event_writer_cache_free(rheos_event_writer_cache *cache) {
  if (cache == NULL) return;
  rheos_status_free(rheos_event_writer_cache_clear(cache));
  pthread_mutex_destroy(&cache->mutex);
  rheos__free(cache->items);
  rheos__free(cache);
}
