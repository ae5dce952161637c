// Arenas of doubling blocks; a large request gets a block of its own. An arena that has become
// large takes blocks that huge pages fit: touching its memory for the first time would otherwise
// cost more than what most users write there.
#include "base/arena.h"

#include <assert.h>
#include <string.h>

struct rheos__arena_block {
  rheos__arena_block *next;
  size_t size_bytes;
};

// A little under a power of two, since the block's own head is added.
enum {
  FIRST_BLOCK_BYTES = 1024,
  LARGE_BLOCK_BYTES = (2 << 20) - 8192,
  LARGEST_BLOCK_BYTES = (16 << 20) - 8192,
  HEADER_BYTES = 16,
};
_Static_assert(sizeof(rheos__arena_block) <= HEADER_BYTES, "the header keeps blocks aligned");

void rheos__arena_init(rheos__arena *arena) { *arena = (rheos__arena){0}; }

void rheos__arena_init_in(rheos__arena *arena, void *room, size_t room_bytes) {
  *arena = (rheos__arena){.next = room, .end = (char *)room + room_bytes};
}

void rheos__arena_deinit(rheos__arena *arena) {
  for (rheos__arena_block *block = arena->blocks; block != NULL;) {
    rheos__arena_block *next = block->next;
    rheos__free_aligned(block);
    block = next;
  }
  *arena = (rheos__arena){0};
}

void rheos__arena_reset(rheos__arena *arena) {
  rheos__arena_block *newest = arena->blocks;
  if (newest == NULL) return;
  rheos__arena older = {.blocks = newest->next};
  rheos__arena_deinit(&older);
  newest->next = NULL;
  assert(newest->size_bytes + HEADER_BYTES <= arena->total_bytes);
  arena->next = (char *)newest + HEADER_BYTES;
  arena->end = arena->next + newest->size_bytes;
  arena->total_bytes = newest->size_bytes + HEADER_BYTES;
}

static bool add_block(rheos__arena *arena, size_t at_least) {
  size_t size_bytes = arena->blocks != NULL ? arena->blocks->size_bytes * 2 : FIRST_BLOCK_BYTES;
  size_t most = arena->total_bytes / 8;  // so that little is taken in vain
  if (most < LARGE_BLOCK_BYTES) most = LARGE_BLOCK_BYTES;
  if (most > LARGEST_BLOCK_BYTES) most = LARGEST_BLOCK_BYTES;
  if (size_bytes > most) size_bytes = most;
  if (size_bytes < at_least) size_bytes = at_least;
  size_t padded;
  if (!rheos__add_size(size_bytes, HEADER_BYTES, &padded)) return false;
  rheos__arena_block *block = rheos__alloc_aligned(padded);
  if (block == NULL) return false;
  *block = (rheos__arena_block){arena->blocks, size_bytes};
  assert(((uintptr_t)block & 15) == 0 && size_bytes >= at_least);
  arena->blocks = block;
  arena->next = (char *)block + HEADER_BYTES;
  arena->end = arena->next + size_bytes;
  arena->total_bytes += padded;
  return true;
}

void *rheos__arena_alloc(rheos__arena *arena, size_t size_bytes) {
  size_t rounded;
  if (!rheos__add_size(size_bytes, 15, &rounded)) return NULL;
  rounded &= ~(size_t)15;
  if (rounded == 0) rounded = 16;
  if ((size_t)(arena->end - arena->next) < rounded && !add_block(arena, rounded)) return NULL;
  void *memory = arena->next;
  arena->next += rounded;
  assert(arena->next <= arena->end && ((uintptr_t)memory & 15) == 0);
  return memory;
}

void *rheos__arena_alloc_zeroed(rheos__arena *arena, size_t size_bytes) {
  void *memory = rheos__arena_alloc(arena, size_bytes);
  if (memory != NULL) memset(memory, 0, size_bytes);
  return memory;
}

void *rheos__arena_copy(rheos__arena *arena, const void *data, size_t size_bytes) {
  void *memory = rheos__arena_alloc(arena, size_bytes);
  if (memory != NULL && size_bytes != 0) memcpy(memory, data, size_bytes);
  return memory;
}

char *rheos__arena_strdup(rheos__arena *arena, const char *text) {
  return rheos__arena_copy(arena, text, strlen(text) + 1);
}
