// Arenas: many small objects that are freed together.
#ifndef RHEOS_SRC_BASE_ARENA_H
#define RHEOS_SRC_BASE_ARENA_H

#include "base/alloc.h"

typedef struct rheos__arena_block rheos__arena_block;

typedef struct rheos__arena {
  rheos__arena_block *blocks;  // newest first
  char *next, *end;            // free bytes of the newest block
  size_t total_bytes;
} rheos__arena;

void rheos__arena_init(rheos__arena *arena);
// Takes what it can from `room`, which the caller keeps, 16-byte aligned, until the arena is gone.
void rheos__arena_init_in(rheos__arena *arena, void *room, size_t room_bytes);
void rheos__arena_deinit(rheos__arena *arena);
// Forgets everything allocated but keeps the newest block for what comes next.
void rheos__arena_reset(rheos__arena *arena);
// 16-byte aligned, not initialised; NULL when memory is short.
void *rheos__arena_alloc(rheos__arena *arena, size_t size_bytes);
void *rheos__arena_alloc_zeroed(rheos__arena *arena, size_t size_bytes);
void *rheos__arena_copy(rheos__arena *arena, const void *data, size_t size_bytes);
char *rheos__arena_strdup(rheos__arena *arena, const char *text);

#endif  // RHEOS_SRC_BASE_ARENA_H
