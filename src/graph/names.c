// The table of names. Texts are hashed character by character, in lower case, so that the hash of a
// name continues its scope's, and are compared from their ends without being written down.
#include "graph/names.h"

#include <string.h>

// A name that may or may not be in the table.
typedef struct name_parts {
  uint32_t parent;
  const char *base;
  size_t length;
  uint32_t number;
} name_parts;

static char to_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

// The decimal digits of a number > 0; returns how many. `digits` holds ten.
static size_t write_digits(uint32_t number, char *digits) {
  char reversed[10];
  size_t count = 0;
  for (; number != 0; number /= 10) reversed[count++] = (char)('0' + number % 10);
  for (size_t i = 0; i < count; i++) digits[i] = reversed[count - 1 - i];
  return count;
}

// ---- Hashes

// Fowler-Noll-Vo 1a
static const uint32_t HASH_START = 0x811c9dc5u, HASH_PRIME = 0x01000193u;

static uint32_t hash_char(uint32_t hash, char c) {
  return (hash ^ (unsigned char)to_lower(c)) * HASH_PRIME;
}

static uint32_t hash_parts(const rheos__names *names, const name_parts *parts) {
  uint32_t hash = HASH_START;
  if (parts->parent != 0) hash = hash_char(names->entries[parts->parent].hash, '/');
  for (size_t i = 0; i < parts->length; i++) hash = hash_char(hash, parts->base[i]);
  if (parts->number == 0) return hash;
  char digits[10];
  size_t count = write_digits(parts->number, digits);
  hash = hash_char(hash, '_');
  for (size_t i = 0; i < count; i++) hash = hash_char(hash, digits[i]);
  return hash;
}

static size_t first_slot(const rheos__names *names, uint32_t hash) {
  uint64_t mixed = (uint64_t)hash * 0x9e3779b97f4a7c15u;
  return (size_t)(mixed >> 32) & (names->num_slots - 1);
}

// ---- Texts, read backwards

typedef struct name_reader {
  const rheos__names *names;
  uint32_t parent;
  const char *piece;  // what is left to read is piece[0..left)
  size_t left;
  uint32_t number;  // of the entry being read, if its digits are still to come
  char digits[11];
  const char *base;
  size_t base_length;
  bool in_digits;
} name_reader;

static void read_parts(name_reader *reader, const name_parts *parts) {
  reader->parent = parts->parent;
  reader->base = parts->base;
  reader->base_length = parts->length;
  reader->in_digits = parts->number != 0;
  if (reader->in_digits) {
    reader->digits[0] = '_';
    reader->left = 1 + write_digits(parts->number, reader->digits + 1);
    reader->piece = reader->digits;
  } else {
    reader->piece = parts->base;
    reader->left = parts->length;
  }
}

static name_parts parts_of(const rheos__names *names, uint32_t entry) {
  const rheos__name_entry *e = &names->entries[entry];
  const char *base = rheos__interned(&names->bases, e->base);
  return (name_parts){e->parent, base, strlen(base), e->number};
}

// The character before the ones read so far, or -1 at the beginning.
static int read_back(name_reader *reader) {
  if (reader->left == 0) {
    if (reader->in_digits) {
      reader->in_digits = false;
      reader->piece = reader->base;
      reader->left = reader->base_length;
    } else if (reader->parent != 0) {
      name_parts parts = parts_of(reader->names, reader->parent);
      read_parts(reader, &parts);
      return '/';
    }
    if (reader->left == 0) return -1;
  }
  return (unsigned char)reader->piece[--reader->left];
}

static bool same_text(const rheos__names *names, uint32_t entry, const name_parts *parts,
                      bool any_case) {
  name_parts own = parts_of(names, entry);
  if (own.parent == parts->parent && own.number == parts->number && own.length == parts->length &&
      memcmp(own.base, parts->base, own.length) == 0) {
    return true;
  }
  name_reader a = {.names = names}, b = {.names = names};
  read_parts(&a, &own);
  read_parts(&b, parts);
  for (;;) {
    int x = read_back(&a), y = read_back(&b);
    if (x != y && (!any_case || x < 0 || y < 0 || to_lower((char)x) != to_lower((char)y))) {
      return false;
    }
    if (x < 0) return true;
  }
}

static size_t format_parts(const rheos__names *names, const name_parts *parts, char *buffer,
                           size_t size_bytes) {
  name_reader reader = {.names = names};
  read_parts(&reader, parts);
  size_t length = 0;
  while (read_back(&reader) >= 0) length++;
  if (size_bytes == 0) return length;
  size_t kept = length < size_bytes ? length : size_bytes - 1;
  buffer[kept] = '\0';
  read_parts(&reader, parts);
  for (size_t i = length; i-- > 0;) {
    int c = read_back(&reader);
    if (i < kept) buffer[i] = (char)c;
  }
  return length;
}

size_t rheos__names_format(const rheos__names *names, uint32_t entry, char *buffer,
                           size_t size_bytes) {
  name_parts parts = {0, "", 0, 0};
  if (entry != 0) parts = parts_of(names, entry);
  return format_parts(names, &parts, buffer, size_bytes);
}

// ---- The table

void rheos__names_init(rheos__names *names) {
  *names = (rheos__names){0};
  rheos__arena_init(&names->arena);
}

void rheos__names_deinit(rheos__names *names) {
  rheos__free(names->entries);
  rheos__free(names->slots);
  rheos__interner_deinit(&names->bases);
  rheos__arena_deinit(&names->arena);
}

size_t rheos__names_size_bytes(const rheos__names *names) {
  return names->capacity * sizeof *names->entries + names->num_slots * sizeof *names->slots +
         rheos__interner_size_bytes(&names->bases) + names->arena.total_bytes;
}

bool rheos__name_is_valid(uint32_t parent, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    char c = text[i];
    bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!alphanumeric && c != '.' &&
        ((i == 0 && parent == 0) || (c != '_' && c != '-' && c != '/'))) {
      return false;
    }
  }
  return length > 0;
}

// The first entry with this text, 0 if there is none. Of entries that differ in case, the one that
// was made first comes first: it counts for all of them.
static uint32_t find_parts(const rheos__names *names, const name_parts *parts, uint32_t hash,
                           bool any_case) {
  if (names->num_slots == 0) return 0;
  size_t mask = names->num_slots - 1;
  for (size_t i = first_slot(names, hash);; i = (i + 1) & mask) {
    uint32_t entry = names->slots[i];
    if (entry == 0) return 0;
    if (names->entries[entry].hash == hash && same_text(names, entry, parts, any_case)) {
      return entry;
    }
  }
}

static bool is_used(const rheos__names *names, const name_parts *parts) {
  uint32_t entry = find_parts(names, parts, hash_parts(names, parts), true);
  return entry != 0 && names->entries[entry].counter != 0;
}

static void put_slot(rheos__names *names, uint32_t entry) {
  size_t mask = names->num_slots - 1;
  size_t i = first_slot(names, names->entries[entry].hash);
  while (names->slots[i] != 0) i = (i + 1) & mask;
  names->slots[i] = entry;
}

// Room for one more entry.
static bool reserve(rheos__names *names) {
  if (!RHEOS_GROW(names->entries, names->capacity, names->count + 2)) return false;
  if (names->count == 0) {
    names->entries[0] = (rheos__name_entry){.node = -1, .hash = HASH_START};
    names->count = 1;
  }
  if ((names->count + 1) * 4 <= names->num_slots * 3) return true;
  size_t num_slots = names->num_slots != 0 ? names->num_slots * 2 : 16;
  uint32_t *slots = rheos__alloc_array(num_slots, sizeof *slots);
  if (slots == NULL) return false;
  rheos__free(names->slots);
  names->slots = slots;
  names->num_slots = num_slots;
  for (size_t i = 1; i < names->count; i++) put_slot(names, (uint32_t)i);
  return true;
}

// "add_5" as ("add", 5); a number with a leading zero or too many digits stays in the base.
static name_parts split_number(uint32_t parent, const char *text, size_t length) {
  name_parts whole = {parent, text, length, 0};
  size_t start = length;
  while (start > 0 && text[start - 1] >= '0' && text[start - 1] <= '9') start--;
  if (start == length || length - start > 9 || start < 2 || text[start - 1] != '_' ||
      text[start] == '0') {
    return whole;
  }
  uint32_t number = 0;
  for (size_t i = start; i < length; i++) number = number * 10 + (uint32_t)(text[i] - '0');
  return (name_parts){parent, text, start - 1, number};
}

// "a/b/c" under the scope "a/b" if the table has that.
static name_parts split_scope(const rheos__names *names, const name_parts *parts) {
  size_t slash = parts->length;
  while (slash > 0 && parts->base[slash - 1] != '/') slash--;
  if (slash < 2 || slash == parts->length) return *parts;
  name_parts scope = split_number(parts->parent, parts->base, slash - 1);
  uint32_t parent = find_parts(names, &scope, hash_parts(names, &scope), false);
  if (parent == 0) return *parts;
  return (name_parts){parent, parts->base + slash, parts->length - slash, parts->number};
}

// The entry with exactly this text, made if needed; 0 when memory is short.
static uint32_t entry_at(rheos__names *names, const name_parts *parts) {
  uint32_t hash = hash_parts(names, parts);
  uint32_t entry = find_parts(names, parts, hash, false);
  if (entry != 0) return entry;
  name_parts stored = split_scope(names, parts);
  uint32_t base;
  if (!reserve(names) ||
      !rheos__intern(&names->bases, &names->arena, stored.base, stored.length, &base)) {
    return 0;
  }
  entry = (uint32_t)names->count++;
  names->entries[entry] = (rheos__name_entry){
      .parent = stored.parent, .base = base, .number = stored.number, .node = -1, .hash = hash};
  put_slot(names, entry);
  return entry;
}

// The entry that counts for this text in any case; 0 if there is none.
static uint32_t counting_entry(const rheos__names *names, const name_parts *parts) {
  return find_parts(names, parts, hash_parts(names, parts), true);
}

static void mark_used(rheos__names *names, const name_parts *parts) {
  rheos__name_entry *entry = &names->entries[counting_entry(names, parts)];
  if (entry->counter == 0) entry->counter = 1;
}

// TensorFlow's rule: the name itself, or name_N with the first N not in use, from the count of uses
// of the name on. `*out_counting` is the entry of the name itself if that is in use.
static name_parts choose(const rheos__names *names, uint32_t parent, const char *text,
                         size_t length, uint32_t *out_counting) {
  name_parts parts = split_number(parent, text, length);
  uint32_t counting = counting_entry(names, &parts);
  *out_counting = 0;
  if (counting == 0 || names->entries[counting].counter == 0) return parts;
  *out_counting = counting;
  parts = (name_parts){parent, text, length, names->entries[counting].counter};
  while (is_used(names, &parts)) parts.number++;
  return parts;
}

uint32_t rheos__names_find(const rheos__names *names, const char *text, size_t length) {
  name_parts parts = split_number(0, text, length);
  if (names->count == 0) return 0;
  return find_parts(names, &parts, hash_parts(names, &parts), false);
}

rheos_status *rheos__names_take(rheos__names *names, uint32_t parent, const char *text,
                                size_t length, uint32_t *out_entry) {
  uint32_t counting;
  name_parts parts = choose(names, parent, text, length, &counting);
  *out_entry = entry_at(names, &parts);
  if (*out_entry == 0) return rheos__out_of_memory();
  mark_used(names, &parts);
  // Names are never given back, so the next search may start behind this one.
  if (counting != 0) names->entries[counting].counter = parts.number + 1;
  return NULL;
}

rheos_status *rheos__names_at(rheos__names *names, const char *text, size_t length, bool mark,
                              uint32_t *out_entry) {
  name_parts parts = split_number(0, text, length);
  *out_entry = entry_at(names, &parts);
  if (*out_entry == 0) return rheos__out_of_memory();
  if (mark) mark_used(names, &parts);
  return NULL;
}

size_t rheos__names_peek(const rheos__names *names, uint32_t parent, const char *text,
                         size_t length, char *buffer, size_t size_bytes) {
  uint32_t counting;
  name_parts parts = choose(names, parent, text, length, &counting);
  return format_parts(names, &parts, buffer, size_bytes);
}
