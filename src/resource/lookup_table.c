// Lookup tables. Keys and values lie in two arrays, in the order they came; an open-addressed table
// of positions finds them. One mutex guards a table.
#include "resource/lookup_table.h"

#include <string.h>

#include "base/hash.h"

// Invariants: num_slots is 0 or a power of two, at least twice `count`; slots[] hold positions of
// entries or -1; behind `count` the arrays are zeroed where they hold strings.
typedef struct entries {
  int64_t count, capacity;
  char *keys, *values;
  int64_t *slots;
  size_t num_slots;
} entries;

struct rheos__table {
  rheos__resource base;
  pthread_mutex_t mutex;
  rheos__table_spec spec;
  int64_t value_width;  // elements of a value
  bool initialized;     // of a fixed table
  entries entries;
  rheos_tensor *reserved[2];
};

// ---- Entries

static size_t key_bytes(const rheos__table *t) { return rheos_dtype_size(t->spec.key_dtype); }
static size_t value_bytes(const rheos__table *t) {
  return rheos_dtype_size(t->spec.value_dtype) * (size_t)t->value_width;
}
static void *key_at(const rheos__table *t, const entries *e, int64_t i) {
  return e->keys + (size_t)i * key_bytes(t);
}
static void *value_at(const rheos__table *t, const entries *e, int64_t i) {
  return e->values + (size_t)i * value_bytes(t);
}

static uint64_t hash_of(const rheos__table *t, const void *key) {
  if (t->spec.key_dtype != RHEOS_STRING) return rheos__hash_bytes(0, key, key_bytes(t));
  const rheos_string *text = key;
  return rheos__hash_bytes(0, text->data, text->size_bytes);
}

static bool same_key(const rheos__table *t, const void *a, const void *b) {
  if (t->spec.key_dtype != RHEOS_STRING) return memcmp(a, b, key_bytes(t)) == 0;
  const rheos_string *x = a, *y = b;
  return x->size_bytes == y->size_bytes &&
         (x->size_bytes == 0 || memcmp(x->data, y->data, x->size_bytes) == 0);
}

// The slot that holds the key, or the empty one where it belongs. There are slots.
static size_t slot_of(const rheos__table *t, const entries *e, const void *key) {
  const size_t mask = e->num_slots - 1;
  size_t slot = (size_t)hash_of(t, key) & mask;
  while (e->slots[slot] >= 0 && !same_key(t, key_at(t, e, e->slots[slot]), key)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

// The position of the key, or -1.
static int64_t find_key(const rheos__table *t, const entries *e, const void *key) {
  return e->num_slots == 0 ? -1 : e->slots[slot_of(t, e, key)];
}

static void free_strings(void *data, int64_t count) {
  rheos_string *strings = data;
  for (int64_t i = 0; i < count; i++) rheos__free(strings[i].data);
}

static void entries_deinit(const rheos__table *t, entries *e) {
  if (t->spec.key_dtype == RHEOS_STRING) free_strings(e->keys, e->count);
  if (t->spec.value_dtype == RHEOS_STRING) free_strings(e->values, e->count * t->value_width);
  rheos__free(e->keys);
  rheos__free(e->values);
  rheos__free(e->slots);
  *e = (entries){0};
}

static bool grow_array(char **data, size_t element_bytes, int64_t count, int64_t capacity) {
  size_t bytes;
  if (!rheos__mul_size((size_t)capacity, element_bytes, &bytes)) return false;
  char *grown = rheos__realloc(*data, bytes);
  if (grown == NULL) return false;
  memset(grown + (size_t)count * element_bytes, 0, (size_t)(capacity - count) * element_bytes);
  *data = grown;
  return true;
}

static bool rebuild_slots(const rheos__table *t, entries *e, size_t num_slots) {
  int64_t *slots = rheos__alloc_array(num_slots, sizeof *slots);
  if (slots == NULL) return false;
  for (size_t i = 0; i < num_slots; i++) slots[i] = -1;
  rheos__free(e->slots);
  e->slots = slots;
  e->num_slots = num_slots;
  for (int64_t i = 0; i < e->count; i++) slots[slot_of(t, e, key_at(t, e, i))] = i;
  return true;
}

static bool reserve_entry(const rheos__table *t, entries *e) {
  if (e->count == e->capacity) {
    const int64_t capacity = e->capacity > 0 ? e->capacity * 2 : 8;
    if (!grow_array(&e->keys, key_bytes(t), e->count, capacity) ||
        !grow_array(&e->values, value_bytes(t), e->count, capacity)) {
      return false;
    }
    e->capacity = capacity;
  }
  if ((size_t)(e->count + 1) * 2 <= e->num_slots) return true;
  return rebuild_slots(t, e, e->num_slots > 0 ? e->num_slots * 2 : 16);
}

// Puts a key with its value in; replaces the value of one that is there.
static rheos_status *put(const rheos__table *t, entries *e, const void *key, const void *value) {
  int64_t at = find_key(t, e, key);
  if (at >= 0) {
    return rheos__copy_elements(t->spec.value_dtype, value_at(t, e, at), value, t->value_width);
  }
  if (!reserve_entry(t, e)) return rheos__out_of_memory();
  at = e->count++;  // counted first: an entry made in part is freed with the others
  rheos_status *status = rheos__copy_elements(t->spec.key_dtype, key_at(t, e, at), key, 1);
  if (status == NULL) {
    status = rheos__copy_elements(t->spec.value_dtype, value_at(t, e, at), value, t->value_width);
  }
  if (status == NULL) {
    e->slots[slot_of(t, e, key)] = at;
    return NULL;
  }
  if (t->spec.key_dtype == RHEOS_STRING) free_strings(key_at(t, e, at), 1);
  if (t->spec.value_dtype == RHEOS_STRING) free_strings(value_at(t, e, at), t->value_width);
  memset(key_at(t, e, at), 0, key_bytes(t));
  memset(value_at(t, e, at), 0, value_bytes(t));
  e->count--;
  return status;
}

// Empties a slot; those behind it that are not in their own place move up.
static void empty_slot(const rheos__table *t, entries *e, size_t slot) {
  const size_t mask = e->num_slots - 1;
  e->slots[slot] = -1;
  for (size_t i = (slot + 1) & mask; e->slots[i] >= 0; i = (i + 1) & mask) {
    const int64_t position = e->slots[i];
    e->slots[i] = -1;
    e->slots[slot_of(t, e, key_at(t, e, position))] = position;
  }
}

// The last entry takes the place of the one that goes.
static void take_out(const rheos__table *t, entries *e, const void *key) {
  const int64_t at = find_key(t, e, key);
  if (at < 0) return;
  const int64_t last = e->count - 1;
  empty_slot(t, e, slot_of(t, e, key_at(t, e, at)));
  if (at != last) e->slots[slot_of(t, e, key_at(t, e, last))] = at;
  if (t->spec.key_dtype == RHEOS_STRING) free_strings(key_at(t, e, at), 1);
  if (t->spec.value_dtype == RHEOS_STRING) free_strings(value_at(t, e, at), t->value_width);
  memmove(key_at(t, e, at), key_at(t, e, last), key_bytes(t));
  memmove(value_at(t, e, at), value_at(t, e, last), value_bytes(t));
  memset(key_at(t, e, last), 0, key_bytes(t));
  memset(value_at(t, e, last), 0, value_bytes(t));
  e->count = last;
}

// ---- The kind

static rheos_status *table_init(rheos__resource *resource, const void *argument) {
  rheos__table *t = (rheos__table *)resource;
  t->spec = *(const rheos__table_spec *)argument;
  t->value_width = t->spec.value_shape.rank == 0 ? 1 : t->spec.value_shape.dims[0];
  return pthread_mutex_init(&t->mutex, NULL) == 0 ? NULL : rheos__out_of_memory();
}

static void table_deinit(rheos__resource *resource) {
  rheos__table *t = (rheos__table *)resource;
  entries_deinit(t, &t->entries);
  for (int i = 0; i < 2; i++) rheos_tensor_unref(t->reserved[i]);
  pthread_mutex_destroy(&t->mutex);
}

const rheos__resource_kind rheos__table_kind = {"table", sizeof(rheos__table), table_init,
                                                table_deinit};

bool rheos__table_takes_key(rheos_dtype dtype) {
  return dtype == RHEOS_STRING || dtype == RHEOS_BOOL || rheos_dtype_is_integer(dtype);
}

bool rheos__table_takes_value(rheos_dtype dtype) {
  return rheos__table_takes_key(dtype) || rheos_dtype_is_floating(dtype) ||
         rheos_dtype_is_complex(dtype);
}

const rheos__table_spec *rheos__table_spec_of(const rheos__table *table) { return &table->spec; }

int64_t rheos__table_size(rheos__table *t) {
  pthread_mutex_lock(&t->mutex);
  const int64_t count = t->entries.count;
  pthread_mutex_unlock(&t->mutex);
  return count;
}

// ---- Arguments

static rheos_status *check_keys(const rheos__table *t, const rheos_tensor *keys) {
  for (int k = 0; k < 2; k++) {
    if (t->reserved[k] == NULL) continue;
    for (int64_t i = 0; i < keys->num_elements; i++) {
      const char *key = (const char *)keys->data + (size_t)i * key_bytes(t);
      if (!same_key(t, key, t->reserved[k]->data)) continue;
      return RHEOS_INVALID("Using the %s_key as a table key is not allowed",
                           k == 0 ? "empty" : "deleted");
    }
  }
  return NULL;
}

// The shape of values for keys of that shape.
static rheos_status *values_shape(const rheos__table *t, const rheos_shape *keys,
                                  rheos_shape *out_shape) {
  *out_shape = *keys;
  if (t->spec.value_shape.rank == 0) return NULL;
  if (keys->rank == RHEOS_MAX_RANK) {
    return RHEOS_INVALID("values would have more than %d dimensions", RHEOS_MAX_RANK);
  }
  out_shape->dims[out_shape->rank++] = t->value_width;
  return NULL;
}

static rheos_status *check_pairs(const rheos__table *t, const rheos_tensor *keys,
                                 const rheos_tensor *values) {
  rheos_shape expected;
  RHEOS_TRY(values_shape(t, &keys->shape, &expected));
  if (!rheos_shape_equal(&expected, &values->shape)) {
    rheos__shape_text want, got;
    return RHEOS_INVALID("Expected shape %s for value, got %s",
                         rheos__shape_text_of(&expected, &want),
                         rheos__shape_text_of(&values->shape, &got));
  }
  return check_keys(t, keys);
}

rheos_status *rheos__table_reserve(rheos__table *t, const rheos_tensor *empty_key,
                                   const rheos_tensor *deleted_key) {
  const rheos_tensor *keys[] = {empty_key, deleted_key};
  rheos_status *status = NULL;
  if (deleted_key != NULL && same_key(t, empty_key->data, deleted_key->data)) {
    return RHEOS_INVALID("Empty and deleted keys cannot be equal");
  }
  pthread_mutex_lock(&t->mutex);
  for (int k = 0; status == NULL && k < 2; k++) {
    if (keys[k] == NULL) continue;
    if (t->reserved[k] == NULL) {
      status = rheos_tensor_copy(keys[k], &t->reserved[k]);
    } else if (!same_key(t, t->reserved[k]->data, keys[k]->data)) {
      status =
          RHEOS_INVALID("table %s has another %s_key", t->base.name, k == 0 ? "empty" : "deleted");
    }
  }
  pthread_mutex_unlock(&t->mutex);
  return status;
}

// ---- Operations, each under the mutex

// A key takes up to some hundred nanoseconds, in a large table.
enum { KEYS_BETWEEN_POLLS = 1 << 14 };

static rheos_status *stopped_at(int64_t key, rheos__table_stops stops) {
  if (stops == NULL || key % KEYS_BETWEEN_POLLS != KEYS_BETWEEN_POLLS - 1 || !stops()) return NULL;
  return rheos_status_new(RHEOS_CANCELLED, "Step was cancelled.");
}

static rheos_status *put_all(const rheos__table *t, entries *e, const rheos_tensor *keys,
                             const rheos_tensor *values, rheos__table_stops stops) {
  for (int64_t i = 0; i < keys->num_elements; i++) {
    RHEOS_TRY(stopped_at(i, stops));
    RHEOS_TRY(put(t, e, (const char *)keys->data + (size_t)i * key_bytes(t),
                  (const char *)values->data + (size_t)i * value_bytes(t)));
  }
  return NULL;
}

static bool same_values(const rheos__table *t, const void *a, const void *b) {
  if (t->spec.value_dtype != RHEOS_STRING) return memcmp(a, b, value_bytes(t)) == 0;
  const rheos_string *x = a, *y = b;
  return x->size_bytes == y->size_bytes &&
         (x->size_bytes == 0 || memcmp(x->data, y->data, x->size_bytes) == 0);
}

// Fills `e`; a key may come twice only with the same value.
static rheos_status *fill(const rheos__table *t, entries *e, const rheos_tensor *keys,
                          const rheos_tensor *values, rheos__table_stops stops) {
  for (int64_t i = 0; i < keys->num_elements; i++) {
    RHEOS_TRY(stopped_at(i, stops));
    const char *key = (const char *)keys->data + (size_t)i * key_bytes(t);
    const char *value = (const char *)values->data + (size_t)i * value_bytes(t);
    const int64_t at = find_key(t, e, key);
    if (at >= 0 && !same_values(t, value_at(t, e, at), value)) {
      return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                              "HashTable has different value for same key: keys[%lld] was there "
                              "before with another value",
                              (long long)i);
    }
    if (at < 0) RHEOS_TRY(put(t, e, key, value));
  }
  return NULL;
}

static rheos_status *initialize_locked(rheos__table *t, const rheos_tensor *keys,
                                       const rheos_tensor *values, rheos__table_stops stops) {
  if (t->initialized) {
    if (keys->num_elements == t->entries.count) return NULL;
    return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                            "Table was already initialized with different data.");
  }
  entries e = {0};
  rheos_status *status = fill(t, &e, keys, values, stops);
  if (status != NULL) {
    entries_deinit(t, &e);
    return status;
  }
  t->entries = e;
  t->initialized = true;
  return NULL;
}

rheos_status *rheos__table_initialize(rheos__table *t, const rheos_tensor *keys,
                                      const rheos_tensor *values, rheos__table_stops stops) {
  if (!t->spec.is_fixed) return RHEOS_INVALID("Table %s is not initializable", t->base.name);
  if (keys->shape.rank != 1) {
    rheos__shape_text text;
    return RHEOS_INVALID("Keys must be a vector, but received shape%s",
                         rheos__shape_text_of(&keys->shape, &text));
  }
  if (values->shape.rank != 1 || values->num_elements != keys->num_elements) {
    return RHEOS_INVALID("Keys and values must have the same size %lld vs %lld",
                         (long long)keys->num_elements, (long long)values->num_elements);
  }
  pthread_mutex_lock(&t->mutex);
  rheos_status *status = initialize_locked(t, keys, values, stops);
  pthread_mutex_unlock(&t->mutex);
  return status;
}

static rheos_status *find_locked(rheos__table *t, const rheos_tensor *keys,
                                 const rheos_tensor *default_value, bool default_for_each,
                                 rheos__table_stops stops, rheos_tensor *out) {
  if (t->spec.is_fixed && !t->initialized) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION, "Table not initialized.");
  }
  for (int64_t i = 0; i < keys->num_elements; i++) {
    RHEOS_TRY(stopped_at(i, stops));
    const int64_t at =
        find_key(t, &t->entries, (const char *)keys->data + (size_t)i * key_bytes(t));
    const size_t row = (size_t)i * value_bytes(t);
    const void *from = at >= 0 ? value_at(t, &t->entries, at)
                               : (const char *)default_value->data + (default_for_each ? row : 0);
    RHEOS_TRY(
        rheos__copy_elements(t->spec.value_dtype, (char *)out->data + row, from, t->value_width));
  }
  return NULL;
}

rheos_status *rheos__table_find(rheos__table *t, const rheos_tensor *keys,
                                const rheos_tensor *default_value, rheos__table_stops stops,
                                rheos_tensor **out_values) {
  rheos_shape shape;
  RHEOS_TRY(values_shape(t, &keys->shape, &shape));
  const bool one = rheos_shape_equal(&default_value->shape, &t->spec.value_shape);
  if (!one && !rheos_shape_equal(&default_value->shape, &shape)) {
    rheos__shape_text want, all, got;
    return RHEOS_INVALID("Expected shape %s or %s for default value, got %s",
                         rheos__shape_text_of(&t->spec.value_shape, &want),
                         rheos__shape_text_of(&shape, &all),
                         rheos__shape_text_of(&default_value->shape, &got));
  }
  RHEOS_TRY(check_keys(t, keys));
  RHEOS_TRY(rheos_tensor_new(t->spec.value_dtype, shape, out_values));
  pthread_mutex_lock(&t->mutex);
  rheos_status *status = find_locked(t, keys, default_value, !one, stops, *out_values);
  pthread_mutex_unlock(&t->mutex);
  return status;
}

static rheos_status *not_changeable(const char *verb) {
  return rheos_status_new(RHEOS_UNIMPLEMENTED,
                          "%s not supported by InitializableLookupTable implementations", verb);
}

rheos_status *rheos__table_insert(rheos__table *t, const rheos_tensor *keys,
                                  const rheos_tensor *values, rheos__table_stops stops) {
  if (t->spec.is_fixed) return not_changeable("Insert");
  RHEOS_TRY(check_pairs(t, keys, values));
  pthread_mutex_lock(&t->mutex);
  rheos_status *status = put_all(t, &t->entries, keys, values, stops);
  pthread_mutex_unlock(&t->mutex);
  return status;
}

rheos_status *rheos__table_remove(rheos__table *t, const rheos_tensor *keys) {
  if (t->spec.is_fixed) return not_changeable("Remove");
  RHEOS_TRY(check_keys(t, keys));
  pthread_mutex_lock(&t->mutex);
  for (int64_t i = 0; i < keys->num_elements; i++) {
    take_out(t, &t->entries, (const char *)keys->data + (size_t)i * key_bytes(t));
  }
  pthread_mutex_unlock(&t->mutex);
  return NULL;
}

rheos_status *rheos__table_import(rheos__table *t, const rheos_tensor *keys,
                                  const rheos_tensor *values, rheos__table_stops stops) {
  if (t->spec.is_fixed) return rheos__table_initialize(t, keys, values, stops);
  RHEOS_TRY(check_pairs(t, keys, values));
  entries e = {0};
  rheos_status *status = put_all(t, &e, keys, values, stops);
  if (status == NULL) {
    pthread_mutex_lock(&t->mutex);
    entries old = t->entries;
    t->entries = e;
    e = old;
    pthread_mutex_unlock(&t->mutex);
  }
  entries_deinit(t, &e);
  return status;
}

static rheos_status *export_locked(rheos__table *t, rheos_tensor **out_keys,
                                   rheos_tensor **out_values) {
  if (t->spec.is_fixed && !t->initialized) {
    return rheos_status_new(RHEOS_ABORTED, "HashTable is not initialized.");
  }
  const int64_t count = t->entries.count;
  const rheos_shape keys = RHEOS_SHAPE(count);
  rheos_shape values;
  RHEOS_TRY(values_shape(t, &keys, &values));
  RHEOS_TRY(rheos_tensor_new(t->spec.key_dtype, keys, out_keys));
  RHEOS_TRY(rheos_tensor_new(t->spec.value_dtype, values, out_values));
  RHEOS_TRY(rheos__copy_elements(t->spec.key_dtype, (*out_keys)->data, t->entries.keys, count));
  return rheos__copy_elements(t->spec.value_dtype, (*out_values)->data, t->entries.values,
                              count * t->value_width);
}

rheos_status *rheos__table_export(rheos__table *t, rheos_tensor **out_keys,
                                  rheos_tensor **out_values) {
  pthread_mutex_lock(&t->mutex);
  rheos_status *status = export_locked(t, out_keys, out_values);
  pthread_mutex_unlock(&t->mutex);
  return status;
}
