// An allocator that counts what is alive and can fail the n-th request, for tests.
#ifndef RHEOS_TESTS_GRAPH_COUNTING_ALLOCATOR_H
#define RHEOS_TESTS_GRAPH_COUNTING_ALLOCATOR_H

#include <rheos/base.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct counting_allocator {
  _Atomic int64_t alive, requests;
  int64_t fail_at;  // the number, from 1, of the request that fails; 0: none
  bool fail_after;  // all later requests fail too
} counting_allocator;

static bool counting_fails(counting_allocator *counter) {
  int64_t request = atomic_fetch_add(&counter->requests, 1) + 1;
  return counter->fail_at != 0 &&
         (request == counter->fail_at || (counter->fail_after && request > counter->fail_at));
}

static void *counting_allocate(void *user, size_t size_bytes) {
  counting_allocator *counter = user;
  void *memory = counting_fails(counter) ? NULL : malloc(size_bytes);
  if (memory != NULL) atomic_fetch_add(&counter->alive, 1);
  return memory;
}

static void *counting_reallocate(void *user, void *memory, size_t size_bytes) {
  counting_allocator *counter = user;
  if (counting_fails(counter)) return NULL;
  void *moved = realloc(memory, size_bytes);
  if (moved != NULL && memory == NULL) atomic_fetch_add(&counter->alive, 1);
  return moved;
}

static void counting_release(void *user, void *memory) {
  counting_allocator *counter = user;
  if (memory != NULL) atomic_fetch_sub(&counter->alive, 1);
  free(memory);
}

// Installs it; rheos_set_allocator(NULL) ends it.
static inline void counting_allocator_install(counting_allocator *counter) {
  rheos_allocator allocator = {counting_allocate, counting_reallocate, counting_release, counter};
  rheos_set_allocator(&allocator);
}

#endif  // RHEOS_TESTS_GRAPH_COUNTING_ALLOCATOR_H
