// Memory of a few sizes, numbered by the caller: a thread keeps some of what it has freed.
#ifndef RHEOS_SRC_BASE_SMALL_BLOCKS_H
#define RHEOS_SRC_BASE_SMALL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RHEOS__SMALL_CLASSES = 4 };

// Memory of one class always has the same size. NULL when memory is short.
void *rheos__small_alloc(int32_t block_class, size_t size_bytes);
void rheos__small_free(int32_t block_class, void *memory);

// Defined by alloc.c: whether the allocator is the library's own, and its free.
bool rheos__is_default_allocator(void);
void rheos__default_free(void *memory);

#endif  // RHEOS_SRC_BASE_SMALL_BLOCKS_H
