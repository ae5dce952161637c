// Memory of a few sizes, numbered by the caller: a thread keeps some of what it has freed.
#ifndef RHEOS_SRC_BASE_SMALL_BLOCKS_H
#define RHEOS_SRC_BASE_SMALL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

enum { RHEOS__SMALL_CLASSES = 4 };

// Defined by alloc.c: whether the allocator is the library's own, and its free.
extern bool rheos__allocator_is_default;
void rheos__default_free(void *memory);

// Of a thread. Invariant: `room` and the blocks that are kept of a class are as many as a thread
// may keep, or there are none of either.
typedef struct rheos__kept_block {
  struct rheos__kept_block *next;
} rheos__kept_block;
typedef struct rheos__kept_blocks {
  rheos__kept_block *first[RHEOS__SMALL_CLASSES];
  int32_t room[RHEOS__SMALL_CLASSES];
  bool is_watched;
} rheos__kept_blocks;
extern _Thread_local rheos__kept_blocks rheos__own_blocks;

// Where there is no room.
void rheos__small_free_full(int32_t block_class, void *memory);

// Memory of one class always has the same size. NULL when memory is short.
static inline void *rheos__small_alloc(int32_t block_class, size_t size_bytes) {
  rheos__kept_blocks *own = &rheos__own_blocks;
  rheos__kept_block *block = own->first[block_class];
  if (block == NULL || !rheos__allocator_is_default) return rheos__alloc(size_bytes);
  own->first[block_class] = block->next;
  own->room[block_class]++;
  return block;
}

static inline void rheos__small_free(int32_t block_class, void *memory) {
  rheos__kept_blocks *own = &rheos__own_blocks;
  if (own->room[block_class] == 0 || !rheos__allocator_is_default) {
    rheos__small_free_full(block_class, memory);
    return;
  }
  rheos__kept_block *block = memory;
  block->next = own->first[block_class];
  own->first[block_class] = block;
  own->room[block_class]--;
}

#endif  // RHEOS_SRC_BASE_SMALL_BLOCKS_H
