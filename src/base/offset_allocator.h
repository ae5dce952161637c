// Places in a block of memory: taken, given back, joined with their neighbours. Constant time each.
#ifndef RHEOS_SRC_BASE_OFFSET_ALLOCATOR_H
#define RHEOS_SRC_BASE_OFFSET_ALLOCATOR_H

#include "base/alloc.h"

enum { RHEOS__OFFSET_UNIT = 64, RHEOS__OFFSET_CLASSES = 8 * 64 };

typedef struct rheos__place rheos__place;

// Zeroed at the start, with `unused` -1 and `last` -1.
typedef struct rheos__offset_allocator {
  size_t end;  // the bytes needed: the highest place ever taken
  rheos__place *places;
  size_t num_places, place_capacity;
  int32_t unused;                               // entries of `places`
  int32_t last;                                 // the place that ends at `end`
  uint64_t filled[RHEOS__OFFSET_CLASSES / 64];  // classes with free places
  int32_t heads[RHEOS__OFFSET_CLASSES];
} rheos__offset_allocator;

void rheos__offset_allocator_init(rheos__offset_allocator *space);
void rheos__offset_allocator_deinit(rheos__offset_allocator *space);

// False when memory is short or the sizes overflow. The place is a number for
// rheos__offset_allocator_give().
bool rheos__offset_allocator_take(rheos__offset_allocator *space, size_t bytes, size_t *out_offset,
                                  int32_t *out_place);
void rheos__offset_allocator_give(rheos__offset_allocator *space, int32_t place);

#endif  // RHEOS_SRC_BASE_OFFSET_ALLOCATOR_H
