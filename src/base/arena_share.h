// Equal objects of an arena as one: a chain of a million equal nodes has their states once.
#ifndef RHEOS_SRC_BASE_ARENA_SHARE_H
#define RHEOS_SRC_BASE_ARENA_SHARE_H

#include "base/arena.h"

// A copy that nobody changes. It is what the arena gave out last, if that ends with the same bytes,
// so they have to be such that nothing ends with them by chance which is changed later: pointers to
// functions, say, and what belongs to them. NULL when memory is short.
void *rheos__arena_share(rheos__arena *arena, const void *data, size_t size_bytes);

#endif  // RHEOS_SRC_BASE_ARENA_SHARE_H
