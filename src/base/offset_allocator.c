// Two-level segregated fit: free places hang in lists by size, eight to a doubling, with a bit for
// each list that is not empty; every place knows its neighbours, so that free ones are joined at
// once.
#include "base/offset_allocator.h"

#include <assert.h>
#include <string.h>

enum { LOOKED_AT = 8 };  // free places of the same class that may be too small

struct rheos__place {
  size_t offset, units;
  int32_t before, after;   // neighbours, -1: none
  int32_t previous, next;  // in the list of its class, while free
  bool is_free;
};

void rheos__offset_allocator_init(rheos__offset_allocator *space) {
  *space = (rheos__offset_allocator){.unused = -1, .last = -1};
  for (int32_t i = 0; i < RHEOS__OFFSET_CLASSES; i++) space->heads[i] = -1;
}

void rheos__offset_allocator_deinit(rheos__offset_allocator *space) { rheos__free(space->places); }

static int32_t class_of(size_t units) {
  if (units < 8) return (int32_t)units;
  const int shift = 63 - __builtin_clzll((unsigned long long)units);
  return (shift - 2) * 8 + (int32_t)(units >> (shift - 3) & 7);
}

static void link_free(rheos__offset_allocator *s, int32_t index) {
  rheos__place *place = &s->places[index];
  const int32_t class = class_of(place->units);
  assert(place->units > 0 && !place->is_free && class < RHEOS__OFFSET_CLASSES);
  place->is_free = true;
  place->previous = -1;
  place->next = s->heads[class];
  if (place->next >= 0) s->places[place->next].previous = index;
  s->heads[class] = index;
  s->filled[class / 64] |= UINT64_C(1) << (class % 64);
}

static void unlink_free(rheos__offset_allocator *s, int32_t index) {
  rheos__place *place = &s->places[index];
  const int32_t class = class_of(place->units);
  assert(place->is_free);
  place->is_free = false;
  if (place->next >= 0) s->places[place->next].previous = place->previous;
  if (place->previous >= 0) {
    s->places[place->previous].next = place->next;
  } else {
    s->heads[class] = place->next;
  }
  if (s->heads[class] < 0) s->filled[class / 64] &= ~(UINT64_C(1) << (class % 64));
}

static int32_t new_place(rheos__offset_allocator *s) {
  const int32_t index = s->unused;
  if (index >= 0) {
    s->unused = s->places[index].next;
    return index;
  }
  if (s->num_places >= INT32_MAX ||
      !RHEOS_RESERVE(s->places, s->place_capacity, s->num_places + 1)) {
    return -1;
  }
  return (int32_t)s->num_places++;
}

static void drop_place(rheos__offset_allocator *s, int32_t index) {
  assert(!s->places[index].is_free);
  s->places[index].next = s->unused;
  s->unused = index;
}

// The tightest of the first few of its own class, else any of the next class that has one.
static int32_t find_free(const rheos__offset_allocator *s, size_t units) {
  const int32_t class = class_of(units);
  int32_t best = -1, at = s->heads[class];
  for (int i = 0; i < LOOKED_AT && at >= 0; i++, at = s->places[at].next) {
    const size_t has = s->places[at].units;
    if (has >= units && (best < 0 || has < s->places[best].units)) best = at;
  }
  if (best >= 0 || class + 1 >= RHEOS__OFFSET_CLASSES) return best;
  int32_t word = (class + 1) / 64;
  uint64_t bits = s->filled[word] & (~UINT64_C(0) << ((class + 1) % 64));
  while (bits == 0 && word + 1 < RHEOS__OFFSET_CLASSES / 64) bits = s->filled[++word];
  return bits != 0 ? s->heads[word * 64 + __builtin_ctzll(bits)] : -1;
}

// Gives what `index` has beyond `units` to a free place behind it. Without memory for one it stays.
static void split(rheos__offset_allocator *s, int32_t index, size_t units) {
  assert(s->places[index].units >= units && units > 0);
  const size_t rest = s->places[index].units - units;
  if (rest == 0) return;
  const int32_t after = new_place(s);
  if (after < 0) return;
  rheos__place *place = &s->places[index];
  s->places[after] = (rheos__place){.offset = place->offset + units * RHEOS__OFFSET_UNIT,
                                    .units = rest,
                                    .before = index,
                                    .after = place->after};
  if (place->after >= 0) {
    s->places[place->after].before = after;
  } else {
    s->last = after;
  }
  place->after = after;
  place->units = units;
  link_free(s, after);
}

// A place at the end; a free one that lies there already grows.
static int32_t extend(rheos__offset_allocator *s, size_t units) {
  const int32_t last = s->last;
  const bool grows = last >= 0 && s->places[last].is_free;
  assert(last < 0 || s->places[last].after == -1);
  assert(!grows || s->places[last].units < units);  // else it would have been found
  const size_t more = grows ? units - s->places[last].units : units;
  size_t bytes, end;
  if (!rheos__mul_size(more, RHEOS__OFFSET_UNIT, &bytes) || !rheos__add_size(s->end, bytes, &end)) {
    return -1;
  }
  int32_t index = last;
  if (grows) {
    unlink_free(s, last);
    s->places[last].units = units;
  } else {
    index = new_place(s);
    if (index < 0) return -1;
    s->places[index] =
        (rheos__place){.offset = s->end, .units = units, .before = last, .after = -1};
    if (last >= 0) s->places[last].after = index;
    s->last = index;
  }
  s->end = end;
  return index;
}

bool rheos__offset_allocator_take(rheos__offset_allocator *s, size_t bytes, size_t *out_offset,
                                  int32_t *out_place) {
  size_t padded;
  if (!rheos__add_size(bytes, RHEOS__OFFSET_UNIT - 1, &padded)) return false;
  const size_t units = padded / RHEOS__OFFSET_UNIT > 0 ? padded / RHEOS__OFFSET_UNIT : 1;
  int32_t index = find_free(s, units);
  if (index >= 0) {
    unlink_free(s, index);
    split(s, index, units);
  } else {
    index = extend(s, units);
  }
  if (index < 0) return false;
  assert(!s->places[index].is_free && s->places[index].units >= units);
  assert(s->places[index].offset + s->places[index].units * RHEOS__OFFSET_UNIT <= s->end);
  *out_offset = s->places[index].offset;
  *out_place = index;
  return true;
}

// Joins `index` with the place behind it.
static void join(rheos__offset_allocator *s, int32_t index) {
  const int32_t after = s->places[index].after;
  assert(s->places[after].before == index);
  assert(s->places[index].offset + s->places[index].units * RHEOS__OFFSET_UNIT ==
         s->places[after].offset);
  s->places[index].units += s->places[after].units;
  s->places[index].after = s->places[after].after;
  if (s->places[index].after >= 0) {
    s->places[s->places[index].after].before = index;
  } else {
    s->last = index;
  }
  drop_place(s, after);
}

void rheos__offset_allocator_give(rheos__offset_allocator *s, int32_t index) {
  assert(index >= 0 && (size_t)index < s->num_places && !s->places[index].is_free);
  const int32_t after = s->places[index].after, before = s->places[index].before;
  if (after >= 0 && s->places[after].is_free) {
    unlink_free(s, after);
    join(s, index);
  }
  if (before >= 0 && s->places[before].is_free) {
    unlink_free(s, before);
    join(s, before);
    index = before;
  }
  link_free(s, index);
}
