// Large blocks of memory, kept for the next request instead of going back to the system: a page that
// is touched for the first time costs more than the arithmetic on it.
#ifndef RHEOS_SRC_BASE_LARGE_BLOCKS_H
#define RHEOS_SRC_BASE_LARGE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RHEOS__LARGE_FROM = 64 << 10, RHEOS__HUGE_PAGE = 2 << 20 };

// False where the system has no mappings, or a sanitizer wants to see every request.
bool rheos__large_blocks_work(void);

// At least size_bytes, aligned to 64 bytes; blocks of 2 MiB and more lie in huge pages if the system
// has any. NULL when memory is short. The word before the block is left to the caller.
void *rheos__large_alloc(size_t size_bytes);
void rheos__large_free(void *block);

// Gives what is kept back to the system: a session has ended.
void rheos__large_trim(void);

// Bytes that are kept, for tests.
size_t rheos__large_kept_bytes(void);

#endif  // RHEOS_SRC_BASE_LARGE_BLOCKS_H
