// Large blocks of memory, kept for the next request instead of going back to the system: a page
// that is touched for the first time costs more than the arithmetic on it. What is kept belongs to
// the process, as the allocator does (rheos_set_allocator): memory may be freed by another object
// than the one that asked for it.
#ifndef RHEOS_SRC_BASE_LARGE_BLOCKS_H
#define RHEOS_SRC_BASE_LARGE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RHEOS__LARGE_FROM = 64 << 10, RHEOS__HUGE_PAGE = 2 << 20 };

// False where the system has no mappings, or a sanitizer wants to see every request.
bool rheos__large_blocks_work(void);

// At least size_bytes, aligned to 64 bytes; blocks of 2 MiB and more lie in huge pages if the
// system has any. NULL when memory is short. The word before the block is left to the caller.
void *rheos__large_alloc(size_t size_bytes);
void rheos__large_free(void *block);

// As rheos__large_alloc() and rheos__large_free(), for memory that is freed by a function that
// frees other memory too: blocks of 2 MiB and more are recognised by their address. For memory from
// elsewhere the free does nothing and is false, and the room (how many bytes fit) is 0.
void *rheos__large_alloc_listed(size_t size_bytes);
bool rheos__large_free_listed(void *memory);
size_t rheos__large_room_listed(const void *memory);

// Gives what is kept back to the system: a session has ended.
void rheos__large_trim(void);

// Bytes that are kept, for tests.
size_t rheos__large_kept_bytes(void);

#endif  // RHEOS_SRC_BASE_LARGE_BLOCKS_H
