// What is the same for all memories, and the host's.
#include "tensor/memory.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"

rheos__memory *rheos__memory_ref(rheos__memory *memory) {
  if (memory != NULL) atomic_fetch_add_explicit(&memory->references, 1, memory_order_relaxed);
  return memory;
}

void rheos__memory_unref(rheos__memory *memory) {
  if (memory == NULL) return;
  const int32_t before = atomic_fetch_sub_explicit(&memory->references, 1, memory_order_acq_rel);
  assert(before > 0);
  if (before == 1) memory->kind->deinit(memory);
}

void *rheos__memory_allocate(rheos__memory *memory, size_t size_bytes) {
  if (memory == NULL) return rheos__alloc_aligned(size_bytes);
  return memory->kind->allocate(memory, size_bytes);
}

void rheos__memory_free(rheos__memory *memory, void *block) {
  if (block == NULL) return;
  if (memory == NULL) {
    rheos__free_aligned(block);
  } else {
    memory->kind->free(memory, block);
  }
}

static rheos_status *copy_by_host(rheos__memory *to, void *to_bytes, rheos__memory *from,
                                  const void *from_bytes, size_t size_bytes) {
  void *between = rheos__alloc_aligned(size_bytes);
  if (between == NULL) return rheos__out_of_memory();
  rheos_status *status = from->kind->copy(NULL, between, from, from_bytes, size_bytes);
  if (status == NULL) status = to->kind->copy(to, to_bytes, NULL, between, size_bytes);
  rheos__free_aligned(between);
  return status;
}

rheos_status *rheos__memory_copy(rheos__memory *to, void *to_bytes, rheos__memory *from,
                                 const void *from_bytes, size_t size_bytes) {
  if (size_bytes == 0) return NULL;
  if (to == NULL && from == NULL) {
    memcpy(to_bytes, from_bytes, size_bytes);
    return NULL;
  }
  if (to != NULL && from != NULL && to->kind != from->kind) {
    return copy_by_host(to, to_bytes, from, from_bytes, size_bytes);
  }
  const rheos__memory *either = to != NULL ? to : from;
  return either->kind->copy(to, to_bytes, from, from_bytes, size_bytes);
}
