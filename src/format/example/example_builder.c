// Builds Example and SequenceExample messages. Each feature's values are kept as they go into the
// message; the lengths of what is around them are counted before, so that nothing is moved.
#include <rheos/examples.h>

#include "codec/example.h"

enum { LENGTH_TAG_1 = 1 << 3 | RHEOS__WIRE_BYTES, LENGTH_TAG_2 = 2 << 3 | RHEOS__WIRE_BYTES };

typedef struct entry {
  char *key;
  bool is_used;          // by the message that is being made
  rheos_dtype dtype;     // of a feature
  rheos__buffer values;  // strings as fields, numbers packed; of a list of features: its bytes
} entry;

typedef struct entry_map {
  entry *items;  // sorted by key
  size_t count, capacity;
} entry_map;

struct rheos_example_builder {
  entry_map features, lists;
  rheos__buffer message;
  bool failed;        // memory was short
  bool wrong;         // a key or values were NULL
  const char *mixed;  // the key of a feature that was given values of two kinds
};

rheos_example_builder *rheos_example_builder_new(void) {
  return rheos__alloc_zeroed(sizeof(rheos_example_builder));
}

static void free_entry(entry *e) {
  rheos__free(e->key);
  rheos__buffer_deinit(&e->values);
}

static void free_map(entry_map *map) {
  for (size_t i = 0; i < map->count; i++) free_entry(&map->items[i]);
  rheos__free(map->items);
}

void rheos_example_builder_free(rheos_example_builder *builder) {
  if (builder == NULL) return;
  free_map(&builder->features);
  free_map(&builder->lists);
  rheos__buffer_deinit(&builder->message);
  rheos__free(builder);
}

// What the last message did not use goes, so that keys that never come again do not pile up.
static void clear_map(entry_map *map) {
  size_t kept = 0;
  for (size_t i = 0; i < map->count; i++) {
    entry e = map->items[i];
    if (!e.is_used) {
      free_entry(&e);
      continue;
    }
    e.is_used = e.values.failed = false;
    e.values.size_bytes = 0;
    map->items[kept++] = e;
  }
  map->count = kept;
}

void rheos_example_builder_clear(rheos_example_builder *builder) {
  if (builder == NULL) return;
  clear_map(&builder->features);
  clear_map(&builder->lists);
  builder->failed = builder->wrong = builder->message.failed = false;
  builder->mixed = NULL;
}

// ---- Adding

static size_t place_of(const entry_map *map, const char *key, bool *out_found) {
  size_t low = 0, high = map->count;
  *out_found = false;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = strcmp(map->items[middle].key, key);
    if (order == 0) *out_found = true;
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// NULL when memory is short.
static entry *entry_of(entry_map *map, const char *key) {
  bool found;
  const size_t place = place_of(map, key, &found);
  if (found) return &map->items[place];
  char *copy = rheos__strdup(key);
  if (copy == NULL || !RHEOS_RESERVE(map->items, map->capacity, map->count + 1)) {
    rheos__free(copy);
    return NULL;
  }
  entry *at = &map->items[place];
  memmove(at + 1, at, (map->count - place) * sizeof *at);
  map->count++;
  *at = (entry){.key = copy};
  return at;
}

static void put_strings(rheos__buffer *buffer, const rheos_string *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    rheos__wire_put_bytes(buffer, 1, values[i].data, values[i].size_bytes);
  }
}

static void put_floats(rheos__buffer *buffer, const float *values, size_t count) {
  size_t size_bytes;
  if (rheos__mul_size(count, sizeof *values, &size_bytes)) {
    rheos__buffer_put(buffer, values, size_bytes);
  } else {
    buffer->failed = true;
  }
}

static void put_values(rheos__buffer *buffer, rheos_dtype dtype, const void *values, size_t count) {
  if (dtype == RHEOS_STRING) {
    put_strings(buffer, values, count);
  } else if (dtype == RHEOS_FLOAT) {
    put_floats(buffer, values, count);
  } else {
    for (size_t i = 0; i < count; i++) {
      rheos__buffer_put_varint(buffer, (uint64_t)((const int64_t *)values)[i]);
    }
  }
}

// Whether values can be added; if not, the message says so.
static bool accepts(rheos_example_builder *builder, const char *key, rheos_dtype dtype,
                    const void *values, size_t count) {
  if (builder == NULL) return false;
  bool is_sound = key != NULL && rheos__is_list(values, count, rheos_dtype_size(dtype));
  const rheos_string *strings = values;
  for (size_t i = 0; is_sound && dtype == RHEOS_STRING && i < count; i++) {
    is_sound = rheos__is_list(strings[i].data, strings[i].size_bytes, 1);
  }
  if (!is_sound) builder->wrong = true;
  return is_sound;
}

static void add(rheos_example_builder *builder, const char *key, rheos_dtype dtype,
                const void *values, size_t count) {
  if (!accepts(builder, key, dtype, values, count)) return;
  entry *e = entry_of(&builder->features, key);
  if (e == NULL) {
    builder->failed = true;
    return;
  }
  if (e->is_used && e->dtype != dtype) {
    if (builder->mixed == NULL) builder->mixed = e->key;
    return;
  }
  e->is_used = true;
  e->dtype = dtype;
  put_values(&e->values, dtype, values, count);
}

void rheos_example_builder_add_bytes(rheos_example_builder *builder, const char *key,
                                     const rheos_string *values, size_t count) {
  add(builder, key, RHEOS_STRING, values, count);
}

void rheos_example_builder_add_floats(rheos_example_builder *builder, const char *key,
                                      const float *values, size_t count) {
  add(builder, key, RHEOS_FLOAT, values, count);
}

void rheos_example_builder_add_ints(rheos_example_builder *builder, const char *key,
                                    const int64_t *values, size_t count) {
  add(builder, key, RHEOS_INT64, values, count);
}

void rheos_example_builder_add_text(rheos_example_builder *builder, const char *key,
                                    const char *text) {
  const rheos_string value = {.data = (char *)(uintptr_t)text,
                              .size_bytes = text != NULL ? strlen(text) : 1};
  add(builder, key, RHEOS_STRING, &value, 1);
}

// ---- The messages

// Of a field with that many bytes.
static size_t field_bytes(size_t size_bytes) {
  return 1 + rheos__varint_bytes(size_bytes) + size_bytes;
}

static void put_start(rheos__buffer *buffer, int tag, size_t size_bytes) {
  rheos__buffer_put_varint(buffer, (uint64_t)tag);
  rheos__buffer_put_varint(buffer, size_bytes);
}

// Of the BytesList, FloatList or Int64List with such values.
static size_t list_bytes(rheos_dtype dtype, const rheos__buffer *values) {
  const bool is_packed = dtype != RHEOS_STRING && values->size_bytes > 0;
  return is_packed ? field_bytes(values->size_bytes) : values->size_bytes;
}

static void put_feature(rheos__buffer *buffer, rheos_dtype dtype, const rheos__buffer *values) {
  const int list = dtype == RHEOS_STRING ? 1 : dtype == RHEOS_FLOAT ? 2 : 3;
  put_start(buffer, list << 3 | RHEOS__WIRE_BYTES, list_bytes(dtype, values));
  if (dtype != RHEOS_STRING && values->size_bytes > 0) {
    put_start(buffer, LENGTH_TAG_1, values->size_bytes);
  }
  rheos__buffer_put(buffer, values->data, values->size_bytes);
}

static void add_step(rheos_example_builder *builder, const char *key, rheos_dtype dtype,
                     const void *values, size_t count) {
  if (!accepts(builder, key, dtype, values, count)) return;
  entry *e = entry_of(&builder->lists, key);
  if (e == NULL) {
    builder->failed = true;
    return;
  }
  e->is_used = true;
  rheos__buffer packed = {0};
  put_values(&packed, dtype, values, count);
  put_start(&e->values, LENGTH_TAG_1, field_bytes(list_bytes(dtype, &packed)));
  put_feature(&e->values, dtype, &packed);
  if (packed.failed) builder->failed = true;
  rheos__buffer_deinit(&packed);
}

void rheos_example_builder_step_bytes(rheos_example_builder *builder, const char *key,
                                      const rheos_string *values, size_t count) {
  add_step(builder, key, RHEOS_STRING, values, count);
}

void rheos_example_builder_step_floats(rheos_example_builder *builder, const char *key,
                                       const float *values, size_t count) {
  add_step(builder, key, RHEOS_FLOAT, values, count);
}

void rheos_example_builder_step_ints(rheos_example_builder *builder, const char *key,
                                     const int64_t *values, size_t count) {
  add_step(builder, key, RHEOS_INT64, values, count);
}

// The bytes of an entry of a map, of Features or of FeatureLists.
static size_t value_bytes(const entry *e, bool is_list) {
  return is_list ? e->values.size_bytes : field_bytes(list_bytes(e->dtype, &e->values));
}

static size_t entry_bytes(const entry *e, bool is_list) {
  return field_bytes(strlen(e->key)) + field_bytes(value_bytes(e, is_list));
}

// The map as a field of the message, nothing if it is empty.
static void put_map(rheos__buffer *buffer, int tag, const entry_map *map, bool is_list) {
  size_t size_bytes = 0;
  for (size_t i = 0; i < map->count; i++) {
    if (map->items[i].values.failed) buffer->failed = true;
    if (map->items[i].is_used) size_bytes += field_bytes(entry_bytes(&map->items[i], is_list));
  }
  if (size_bytes == 0) return;
  put_start(buffer, tag, size_bytes);
  for (size_t i = 0; i < map->count; i++) {
    const entry *e = &map->items[i];
    if (!e->is_used) continue;
    put_start(buffer, LENGTH_TAG_1, entry_bytes(e, is_list));
    put_start(buffer, LENGTH_TAG_1, strlen(e->key));
    rheos__buffer_put(buffer, e->key, strlen(e->key));
    put_start(buffer, LENGTH_TAG_2, value_bytes(e, is_list));
    if (is_list) {
      rheos__buffer_put(buffer, e->values.data, e->values.size_bytes);
    } else {
      put_feature(buffer, e->dtype, &e->values);
    }
  }
}

static bool has_lists(const rheos_example_builder *builder) {
  for (size_t i = 0; i < builder->lists.count; i++) {
    if (builder->lists.items[i].is_used) return true;
  }
  return false;
}

static rheos_status *finish(rheos_example_builder *builder, bool is_sequence, const void **out_data,
                            size_t *out_size_bytes) {
  *out_data = "";
  *out_size_bytes = 0;
  if (builder->wrong) return RHEOS_INVALID("a feature was given a key or values that are NULL");
  if (builder->mixed != NULL) {
    return RHEOS_INVALID("feature '%s' was given values of two kinds", builder->mixed);
  }
  if (!is_sequence && has_lists(builder)) {
    return RHEOS_INVALID("an Example has no lists of features: ask for the SequenceExample");
  }
  rheos__buffer *message = &builder->message;
  message->size_bytes = 0;
  message->failed = builder->failed;
  put_map(message, LENGTH_TAG_1, &builder->features, false);
  if (is_sequence) put_map(message, LENGTH_TAG_2, &builder->lists, true);
  if (message->failed) return rheos__out_of_memory();
  if (message->size_bytes > 0) *out_data = message->data;
  *out_size_bytes = message->size_bytes;
  return NULL;
}

rheos_status *rheos_example_builder_example(rheos_example_builder *builder, const void **out_data,
                                            size_t *out_size_bytes) {
  RHEOS_OUT(out_data);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED(builder);
  return finish(builder, false, out_data, out_size_bytes);
}

rheos_status *rheos_example_builder_sequence(rheos_example_builder *builder, const void **out_data,
                                             size_t *out_size_bytes) {
  RHEOS_OUT(out_data);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED(builder);
  return finish(builder, true, out_data, out_size_bytes);
}
