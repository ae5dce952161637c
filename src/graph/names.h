// The names of a graph: those of operations and of scopes, and which are in use.
//
// A name is kept as (name of the scope, base, number): "outer/add_5" is ("outer", "add", 5); its
// text is made when asked for. Whatever way it came in, it is found by its text. Names differ from
// each other without regard to case, as TensorFlow has it; the text keeps its capitals.
#ifndef RHEOS_SRC_GRAPH_NAMES_H
#define RHEOS_SRC_GRAPH_NAMES_H

#include "base/status.h"
#include "graph/intern.h"

typedef struct rheos__name_entry {
  uint32_t parent;   // entry of the scope; 0: none
  uint32_t base;     // interned
  uint32_t number;   // 0: no suffix
  uint32_t counter;  // 0: not in use; else where the search for "name_N" starts
  int32_t node;      // its node, or -1
  uint32_t hash;     // of the text in lower case
} rheos__name_entry;

// The hash stands here too, so that a search seldom looks at entries of other names.
typedef struct rheos__name_slot {
  uint32_t entry;  // 0: empty
  uint32_t hash;
} rheos__name_slot;

typedef struct rheos__names {
  rheos__name_entry *entries;  // entry 0 stands for the empty name
  size_t capacity, count;
  rheos__name_slot *slots;  // open addressing, at most half full
  size_t num_slots;
  rheos__interner bases;
  rheos__arena arena;
} rheos__names;

void rheos__names_init(rheos__names *names);
void rheos__names_deinit(rheos__names *names);

// Whether `text` may name an operation or scope inside `parent`.
bool rheos__name_is_valid(uint32_t parent, const char *text, size_t length);

// The entry whose text is exactly this; 0 if there is none.
uint32_t rheos__names_find(const rheos__names *names, const char *text, size_t length);

// Takes "text", or "text_N" if it is in use, inside `parent`. After a failure nothing is taken.
rheos_status *rheos__names_take(rheos__names *names, uint32_t parent, const char *text,
                                size_t length, uint32_t *out_entry);

// The entry with exactly this text, made if needed; `mark`: it is in use from now on. Of entries
// that differ by case only, the one that was made first says so for all.
rheos_status *rheos__names_at(rheos__names *names, const char *text, size_t length, bool mark,
                              uint32_t *out_entry);

// Whether "text", in any case, is in use.
bool rheos__names_is_used(const rheos__names *names, const char *text, size_t length);

// The text, cut to `size_bytes` with its NUL; returns the length of all of it.
size_t rheos__names_format(const rheos__names *names, uint32_t entry, char *buffer,
                           size_t size_bytes);

// The text that rheos__names_take() would give, likewise.
size_t rheos__names_peek(const rheos__names *names, uint32_t parent, const char *text,
                         size_t length, char *buffer, size_t size_bytes);

size_t rheos__names_size_bytes(const rheos__names *names);

#endif  // RHEOS_SRC_GRAPH_NAMES_H
