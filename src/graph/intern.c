// Interned strings: an array of texts and a hash table of their numbers, at most half full.
#include "graph/intern.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"

void rheos__interner_deinit(rheos__interner *interner) {
  rheos__free(interner->texts);
  rheos__free(interner->slots);
  *interner = (rheos__interner){0};
}

// The slot that holds the text, or the empty one where it belongs.
static uint32_t *find_slot(const rheos__interner *interner, const char *text, size_t length) {
  size_t mask = interner->num_slots - 1;
  for (size_t i = rheos__hash_bytes(0, text, length) & mask;; i = (i + 1) & mask) {
    uint32_t number = interner->slots[i];
    if (number == 0) return &interner->slots[i];
    const char *other = interner->texts[number];
    if (strncmp(other, text, length) == 0 && other[length] == '\0') return &interner->slots[i];
  }
}

static bool reserve(rheos__interner *interner) {
  if (!RHEOS_RESERVE(interner->texts, interner->capacity, interner->count + 2)) return false;
  if ((interner->count + 2) * 2 <= interner->num_slots) return true;
  size_t num_slots = interner->num_slots != 0 ? interner->num_slots * 2 : 16;
  uint32_t *slots = rheos__alloc_array(num_slots, sizeof *slots);
  if (slots == NULL) return false;
  rheos__free(interner->slots);
  interner->slots = slots;
  assert((num_slots & (num_slots - 1)) == 0);
  interner->num_slots = num_slots;
  for (uint32_t i = 1; i < interner->count; i++) {
    *find_slot(interner, interner->texts[i], strlen(interner->texts[i])) = i;
  }
  return true;
}

bool rheos__intern(rheos__interner *interner, rheos__arena *arena, const char *text, size_t length,
                   uint32_t *out_number) {
  *out_number = 0;
  if (length == 0) return true;
  if (!reserve(interner)) return false;
  uint32_t *slot = find_slot(interner, text, length);
  if (*slot == 0) {
    char *copy = rheos__arena_alloc(arena, length + 1);
    if (copy == NULL) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (interner->count == 0) interner->texts[interner->count++] = "";
    assert(interner->count < interner->capacity && memchr(text, 0, length) == NULL);
    interner->texts[interner->count] = copy;
    *slot = (uint32_t)interner->count++;
  }
  *out_number = *slot;
  return true;
}

size_t rheos__interner_size_bytes(const rheos__interner *interner) {
  return interner->capacity * sizeof *interner->texts +
         interner->num_slots * sizeof *interner->slots;
}
