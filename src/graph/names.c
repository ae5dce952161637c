// The table of names. Texts are hashed character by character, in lower case, so that the hash of a
// name continues its scope's, and are compared from their ends without being written down.
#include "graph/names.h"

#include <assert.h>
#include <string.h>

// A name that may or may not be in the table, and the hash of its text.
typedef struct name_parts {
  uint32_t parent;
  const char *base;
  size_t length;
  uint32_t number;
  uint32_t hash;
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

// Fowler-Noll-Vo 1: names that differ in their last character differ in the last bits alone.
static const uint32_t HASH_START = 0x811c9dc5u, HASH_PRIME = 0x01000193u;

static uint32_t hash_char(uint32_t hash, char c) {
  return (hash * HASH_PRIME) ^ (unsigned char)to_lower(c);
}

static uint32_t hash_number(uint32_t hash, uint32_t number) {
  char digits[10];
  size_t count = write_digits(number, digits);
  hash = hash_char(hash, '_');
  for (size_t i = 0; i < count; i++) hash = (hash * HASH_PRIME) ^ (unsigned char)digits[i];
  return hash;
}

// The name with this text inside `parent`.
static name_parts whole_name(const rheos__names *names, uint32_t parent, const char *text,
                             size_t length) {
  uint32_t hash = HASH_START;
  if (parent != 0) hash = hash_char(names->entries[parent].hash, '/');
  for (size_t i = 0; i < length; i++) hash = hash_char(hash, text[i]);
  return (name_parts){parent, text, length, 0, hash};
}

// Ten names "add_120" to "add_129", which come one after the other, are neighbours: adding a
// million of them would otherwise wait for memory once for each.
static size_t first_slot(const rheos__names *names, uint32_t hash) {
  uint64_t mixed = (uint64_t)(hash >> 4) * 0x9e3779b97f4a7c15u;
  size_t group = (size_t)(mixed >> 32), within = (hash ^ (uint32_t)(mixed >> 28)) & 15;
  return (group << 4 | within) & (names->num_slots - 1);
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
  assert(entry > 0 && entry < names->count);
  const rheos__name_entry *e = &names->entries[entry];
  assert(e->parent < names->count && e->parent != entry);
  const char *base = rheos__interned(&names->bases, e->base);
  return (name_parts){e->parent, base, strlen(base), e->number, e->hash};
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
  name_parts parts = {.base = ""};
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
        ((i == 0 && parent == 0) || (c != '_' && c != '-' && c != '/' && c != '>'))) {
      return false;
    }
  }
  return length > 0;
}

// As find_parts(); `*out_slot` is where the entry is, or belongs if there are slots at all.
static uint32_t find_slot(const rheos__names *names, const name_parts *parts, bool any_case,
                          size_t *out_slot) {
  *out_slot = 0;
  if (names->num_slots == 0) return 0;
  size_t mask = names->num_slots - 1, i = first_slot(names, parts->hash);
  for (;; i = (i + 1) & mask) {
    const rheos__name_slot slot = names->slots[i];
    if (slot.entry != 0 &&
        (slot.hash != parts->hash || !same_text(names, slot.entry, parts, any_case))) {
      continue;
    }
    *out_slot = i;
    return slot.entry;
  }
}

// The first entry with this text, 0 if there is none. Of entries that differ in case, the one that
// was made first comes first: it counts for all of them.
static uint32_t find_parts(const rheos__names *names, const name_parts *parts, bool any_case) {
  size_t slot;
  return find_slot(names, parts, any_case, &slot);
}

static void put_slot(rheos__names *names, rheos__name_slot slot) {
  size_t mask = names->num_slots - 1, i = first_slot(names, slot.hash);
  while (names->slots[i].entry != 0) i = (i + 1) & mask;
  names->slots[i] = slot;
}

// Slots are taken over in their order, from behind an empty one on, so that of names that differ in
// case the first one stays first; neighbours stay near each other, and entries need no look.
static bool grow_slots(rheos__names *names) {
  rheos__name_slot *old = names->slots;
  const size_t num_old = names->num_slots, num_slots = num_old != 0 ? num_old * 2 : 16;
  rheos__name_slot *slots = rheos__alloc_array(num_slots, sizeof *slots);
  if (slots == NULL) return false;
  names->slots = slots;
  names->num_slots = num_slots;
  size_t start = 0;
  while (start < num_old && old[start].entry != 0) start++;
  for (size_t i = 0; i < num_old; i++) {
    const rheos__name_slot *slot = &old[(start + i) & (num_old - 1)];
    if (slot->entry != 0) put_slot(names, *slot);
  }
  rheos__free(old);
  return true;
}

// Room for one more entry.
static bool reserve(rheos__names *names) {
  if (!RHEOS_RESERVE(names->entries, names->capacity, names->count + 2)) return false;
  if (names->count == 0) {
    names->entries[0] = (rheos__name_entry){.node = -1, .hash = HASH_START};
    names->count = 1;
  }
  return (names->count + 1) * 2 <= names->num_slots || grow_slots(names);
}

// "add_5" as ("add", 5); a number with a leading zero or too many digits stays in the base.
static name_parts split_number(const name_parts *name) {
  const char *text = name->base;
  size_t start = name->length;
  while (start > 0 && text[start - 1] >= '0' && text[start - 1] <= '9') start--;
  if (start == name->length || name->length - start > 9 || start < 2 || text[start - 1] != '_' ||
      text[start] == '0') {
    return *name;
  }
  uint32_t number = 0;
  for (size_t i = start; i < name->length; i++) number = number * 10 + (uint32_t)(text[i] - '0');
  return (name_parts){name->parent, text, start - 1, number, name->hash};
}

// "a/b/c" under the scope "a/b" if the table has that.
static name_parts split_scope(const rheos__names *names, const name_parts *parts) {
  size_t slash = parts->length;
  while (slash > 0 && parts->base[slash - 1] != '/') slash--;
  if (slash < 2 || slash == parts->length) return *parts;
  name_parts scope = whole_name(names, parts->parent, parts->base, slash - 1);
  uint32_t parent = find_parts(names, &scope, false);
  if (parent == 0) return *parts;
  return (name_parts){parent, parts->base + slash, parts->length - slash, parts->number,
                      parts->hash};
}

// A new entry; 0 when memory is short.
static uint32_t add_entry(rheos__names *names, const name_parts *parts) {
  name_parts stored = parts->number != 0 ? *parts : split_number(parts);
  stored = split_scope(names, &stored);
  uint32_t base;
  if (!reserve(names) ||
      !rheos__intern(&names->bases, &names->arena, stored.base, stored.length, &base)) {
    return 0;
  }
  uint32_t entry = (uint32_t)names->count++;
  names->entries[entry] = (rheos__name_entry){.parent = stored.parent,
                                              .base = base,
                                              .number = stored.number,
                                              .node = -1,
                                              .hash = parts->hash};
  put_slot(names, (rheos__name_slot){entry, parts->hash});
  return entry;
}

// The entry with exactly this text, made if needed; 0 when memory is short.
static uint32_t entry_at(rheos__names *names, const name_parts *parts) {
  uint32_t entry = find_parts(names, parts, false);
  return entry != 0 ? entry : add_entry(names, parts);
}

typedef struct name_choice {
  name_parts parts;
  uint32_t counting;  // the entry that counts the uses of the name asked for, 0: it was not in use
  uint32_t same;      // an entry of the chosen name, in any case, not in use; 0: there is none
  size_t slot;        // where it is, or belongs
} name_choice;

// Whether the name chosen so far is in use.
static bool is_used(const rheos__names *names, name_choice *choice) {
  choice->same = find_slot(names, &choice->parts, true, &choice->slot);
  return choice->same != 0 && names->entries[choice->same].counter != 0;
}

// TensorFlow's rule: the name itself, or name_N with the first N not in use, from the count of uses
// of the name on.
static name_choice choose(const rheos__names *names, uint32_t parent, const char *text,
                          size_t length) {
  name_choice choice = {.parts = whole_name(names, parent, text, length)};
  if (!is_used(names, &choice)) return choice;
  uint32_t hash = choice.parts.hash;
  choice.counting = choice.same;
  choice.parts.number = names->entries[choice.counting].counter;
  for (;; choice.parts.number++) {
    choice.parts.hash = hash_number(hash, choice.parts.number);
    if (!is_used(names, &choice)) return choice;
  }
}

// A new entry for a choice; 0 when memory is short. "add_5" is like "add", which counts it, but for
// the number.
static uint32_t add_chosen(rheos__names *names, const name_choice *choice) {
  const name_parts *parts = &choice->parts;
  if (choice->counting == 0 || parts->number == 0) return add_entry(names, parts);
  const rheos__name_entry counting = names->entries[choice->counting];
  const char *base = rheos__interned(&names->bases, counting.base);
  if (counting.number != 0 || counting.parent != parts->parent ||
      strncmp(base, parts->base, parts->length) != 0 || base[parts->length] != '\0') {
    return add_entry(names, parts);
  }
  const uint32_t entry = (uint32_t)names->count++;
  names->entries[entry] = (rheos__name_entry){.parent = counting.parent,
                                              .base = counting.base,
                                              .number = parts->number,
                                              .node = -1,
                                              .hash = parts->hash};
  names->slots[choice->slot] = (rheos__name_slot){entry, parts->hash};
  return entry;
}

static void mark_used(rheos__names *names, const name_parts *parts) {
  rheos__name_entry *entry = &names->entries[find_parts(names, parts, true)];
  if (entry->counter == 0) entry->counter = 1;
}

uint32_t rheos__names_find(const rheos__names *names, const char *text, size_t length) {
  name_parts parts = whole_name(names, 0, text, length);
  return find_parts(names, &parts, false);
}

bool rheos__names_is_used(const rheos__names *names, const char *text, size_t length) {
  name_choice choice = {.parts = whole_name(names, 0, text, length)};
  return is_used(names, &choice);
}

rheos_status *rheos__names_take(rheos__names *names, uint32_t parent, const char *text,
                                size_t length, uint32_t *out_entry) {
  if (!reserve(names)) return rheos__out_of_memory();  // so that the slot found stays where it is
  name_choice choice = choose(names, parent, text, length);
  *out_entry = choice.same != 0 ? entry_at(names, &choice.parts) : add_chosen(names, &choice);
  if (*out_entry == 0) return rheos__out_of_memory();
  names->entries[choice.same != 0 ? choice.same : *out_entry].counter = 1;
  // Names are never given back, so the next search may start behind this one.
  if (choice.counting != 0) names->entries[choice.counting].counter = choice.parts.number + 1;
  return NULL;
}

rheos_status *rheos__names_at(rheos__names *names, const char *text, size_t length, bool mark,
                              uint32_t *out_entry) {
  name_parts parts = whole_name(names, 0, text, length);
  *out_entry = entry_at(names, &parts);
  if (*out_entry == 0) return rheos__out_of_memory();
  if (mark) mark_used(names, &parts);
  return NULL;
}

size_t rheos__names_peek(const rheos__names *names, uint32_t parent, const char *text,
                         size_t length, char *buffer, size_t size_bytes) {
  name_choice choice = choose(names, parent, text, length);
  return format_parts(names, &choice.parts, buffer, size_bytes);
}
