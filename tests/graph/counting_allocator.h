// An allocator that counts what is alive, can fail the n-th request and can hold to a limit, for
// tests.
#ifndef RHEOS_TESTS_GRAPH_COUNTING_ALLOCATOR_H
#define RHEOS_TESTS_GRAPH_COUNTING_ALLOCATOR_H

#include <malloc.h>
#include <rheos/base.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct counting_allocator {
  _Atomic int64_t alive, requests;
  _Atomic int64_t fail_at;  // the number, from 1, of the request that fails; 0: none
  bool fail_after;          // all later requests fail too
  _Atomic int64_t alive_bytes;
  int64_t limit_bytes;  // of alive_bytes: a request beyond it fails; 0: none
  _Atomic bool met_limit;
} counting_allocator;

// The next request, by which alive_bytes would grow by `more_bytes`, is to fail.
static bool counting_fails(counting_allocator *counter, int64_t more_bytes) {
  int64_t request = atomic_fetch_add(&counter->requests, 1) + 1;
  if (counter->limit_bytes != 0 && counter->alive_bytes + more_bytes > counter->limit_bytes) {
    counter->met_limit = true;
    return true;
  }
  return counter->fail_at != 0 &&
         (request == counter->fail_at || (counter->fail_after && request > counter->fail_at));
}

// Far more than there is counts as this much.
static int64_t counting_size(size_t size_bytes) {
  return size_bytes < (size_t)1 << 60 ? (int64_t)size_bytes : (int64_t)1 << 60;
}

static void *counting_allocate(void *user, size_t size_bytes) {
  counting_allocator *counter = user;
  if (counting_fails(counter, counting_size(size_bytes))) return NULL;
  void *memory = malloc(size_bytes);
  if (memory == NULL) return NULL;
  atomic_fetch_add(&counter->alive, 1);
  atomic_fetch_add(&counter->alive_bytes, (int64_t)malloc_usable_size(memory));
  return memory;
}

static void *counting_reallocate(void *user, void *memory, size_t size_bytes) {
  counting_allocator *counter = user;
  const int64_t before = (int64_t)malloc_usable_size(memory);
  if (counting_fails(counter, counting_size(size_bytes) - before)) return NULL;
  void *moved = realloc(memory, size_bytes);
  if (moved == NULL) return NULL;
  if (memory == NULL) atomic_fetch_add(&counter->alive, 1);
  atomic_fetch_add(&counter->alive_bytes, (int64_t)malloc_usable_size(moved) - before);
  return moved;
}

static void counting_release(void *user, void *memory) {
  counting_allocator *counter = user;
  if (memory != NULL) {
    atomic_fetch_sub(&counter->alive, 1);
    atomic_fetch_sub(&counter->alive_bytes, (int64_t)malloc_usable_size(memory));
  }
  free(memory);
}

// Installs it; rheos_set_allocator(NULL) ends it.
static inline void counting_allocator_install(counting_allocator *counter) {
  rheos_allocator allocator = {counting_allocate, counting_reallocate, counting_release, counter};
  rheos_set_allocator(&allocator);
}

#endif  // RHEOS_TESTS_GRAPH_COUNTING_ALLOCATOR_H
