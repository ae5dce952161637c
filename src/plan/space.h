// Places in a block of memory: taken, given back, joined with their neighbours. Constant time each.
#ifndef RHEOS_SRC_PLAN_SPACE_H
#define RHEOS_SRC_PLAN_SPACE_H

#include "base/alloc.h"

enum { RHEOS__SPACE_UNIT = 64, RHEOS__SPACE_CLASSES = 8 * 64 };

typedef struct rheos__place rheos__place;

// Zeroed at the start, with `unused` -1 and `last` -1.
typedef struct rheos__space {
  size_t end;  // the bytes needed: the highest place ever taken
  rheos__place *places;
  size_t num_places, place_capacity;
  int32_t unused;                              // entries of `places`
  int32_t last;                                // the place that ends at `end`
  uint64_t filled[RHEOS__SPACE_CLASSES / 64];  // classes with free places
  int32_t heads[RHEOS__SPACE_CLASSES];
} rheos__space;

void rheos__space_init(rheos__space *space);
void rheos__space_deinit(rheos__space *space);

// False when memory is short or the sizes overflow. The place is a number for rheos__space_give().
bool rheos__space_take(rheos__space *space, size_t bytes, size_t *out_offset, int32_t *out_place);
void rheos__space_give(rheos__space *space, int32_t place);

#endif  // RHEOS_SRC_PLAN_SPACE_H
