// Strings stored once, named by small numbers.
#ifndef RHEOS_SRC_GRAPH_INTERN_H
#define RHEOS_SRC_GRAPH_INTERN_H

#include "base/arena.h"

// Number 0 is the empty string. Texts live in the arena and do not move.
typedef struct rheos__interner {
  const char **texts;
  size_t capacity, count;
  uint32_t *slots;  // open addressing, 0: empty
  size_t num_slots;
} rheos__interner;

void rheos__interner_deinit(rheos__interner *interner);
// False when memory is short.
bool rheos__intern(rheos__interner *interner, rheos__arena *arena, const char *text, size_t length,
                   uint32_t *out_number);
static inline const char *rheos__interned(const rheos__interner *interner, uint32_t number) {
  return number != 0 ? interner->texts[number] : "";
}
size_t rheos__interner_size_bytes(const rheos__interner *interner);

#endif  // RHEOS_SRC_GRAPH_INTERN_H
