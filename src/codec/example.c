// Reading of examples: a walk over bytes that may be hostile, by the bounded reader of wire.h.
#include "codec/example.h"

#include <assert.h>

// ---- Maps

// An entry: its key and value, once each, in any order.
static bool read_entry(rheos__wire entry, rheos__wire *out_key, rheos__wire *out_value) {
  bool sound, has_key = false, has_value = false;
  rheos__wire_field field;
  while (rheos__wire_next(&entry, &field, &sound)) {
    if (field.type != RHEOS__WIRE_BYTES) return false;
    if (field.number == 1 && !has_key) {
      has_key = true;
      *out_key = field.data;
    } else if (field.number == 2 && !has_value) {
      has_value = true;
      *out_value = field.data;
    } else {
      return false;
    }
  }
  return sound && has_key && has_value;
}

bool rheos__entry_next_slow(rheos__wire *map, rheos__wire *out_key, rheos__wire *out_value,
                            bool *out_sound) {
  rheos__wire_field field;
  if (!rheos__wire_next(map, &field, out_sound)) return false;
  *out_sound = field.number == 1 && field.type == RHEOS__WIRE_BYTES &&
               read_entry(field.data, out_key, out_value);
  return *out_sound;
}

bool rheos__map_next_slow(rheos__wire *message, uint32_t number, rheos__wire *out_map,
                          bool *out_sound) {
  rheos__wire_field field;
  while (rheos__wire_next(message, &field, out_sound)) {
    if (field.number != number || field.type != RHEOS__WIRE_BYTES) continue;
    *out_map = field.data;
    return true;
  }
  return false;
}

bool rheos__example_entries(rheos__wire example, uint32_t number, rheos__take_entry take,
                            void *argument) {
  bool sound;
  rheos__wire map, key, value;
  while (rheos__map_next(&example, number, &map, &sound)) {
    while (rheos__entry_next(&map, &key, &value, &sound)) take(argument, key, value);
    if (!sound) return false;
  }
  return sound;
}

// ---- Features

bool rheos__feature_read(rheos__wire feature, rheos_dtype *out_dtype, rheos__wire *out_list) {
  static const rheos_dtype dtypes[] = {RHEOS_STRING, RHEOS_FLOAT, RHEOS_INT64};
  bool sound;
  rheos__wire_field field;
  *out_dtype = RHEOS_INVALID_DTYPE;
  *out_list = rheos__wire_of(NULL, 0);
  for (unsigned kind = 1; kind <= 3; kind++) {
    if (!rheos__wire_take(&feature, (unsigned char)(kind << 3 | RHEOS__WIRE_BYTES), out_list)) {
      continue;
    }
    *out_dtype = dtypes[kind - 1];
    return true;
  }
  if (!rheos__wire_next(&feature, &field, &sound)) return sound;
  if (field.type != RHEOS__WIRE_BYTES || field.number > 3) return false;
  assert(field.number >= 1);  // rheos__wire_next() refuses 0
  *out_dtype = dtypes[field.number - 1];
  *out_list = field.data;
  return true;
}

bool rheos__feature_list_next(rheos__wire *list, rheos__wire *out_feature, bool *out_sound) {
  rheos__wire_field field;
  if (!rheos__wire_next(list, &field, out_sound)) return false;
  *out_sound = field.number == 1 && field.type == RHEOS__WIRE_BYTES;
  *out_feature = field.data;
  return *out_sound;
}

bool rheos__single_read(rheos__wire feature, rheos__single *out_single) {
  rheos__wire *list = &out_single->list, fields;
  if (!rheos__feature_read(feature, &out_single->dtype, list) || list->end != feature.end) {
    return false;
  }
  fields = *list;
  return rheos__wire_take(&fields, 1 << 3 | RHEOS__WIRE_BYTES, &out_single->data) &&
         fields.at == fields.end;
}

// ---- Values

typedef struct sink {
  rheos_tensor *to;
  int64_t first, capacity, count;
} sink;

static bool has_room(const sink *s) { return s->to != NULL && s->count < s->capacity; }

// Most numbers are small: a varint of one or two bytes.
static inline bool read_int(rheos__wire *data, uint64_t *out_value) {
  const char *at = data->at;
  const unsigned char first = (unsigned char)at[0];
  if (first < 128) {
    *out_value = first;
    data->at = at + 1;
    return true;
  }
  if (data->end - at >= 2 && (unsigned char)at[1] < 128) {
    *out_value = (uint64_t)(first & 127) | (uint64_t)(unsigned char)at[1] << 7;
    data->at = at + 2;
    return true;
  }
  return rheos__read_varint(&data->at, data->end, out_value);
}

int64_t rheos__packed_ints(rheos__wire data, int64_t *to, int64_t capacity) {
  int64_t count = 0;
  for (; data.at < data.end; count++) {
    uint64_t value;
    if (!read_int(&data, &value)) return -1;
    if (count < capacity) memcpy(&to[count], &value, sizeof value);
  }
  return count;
}

static bool packed_ints(rheos__wire data, sink *s) {
  const bool room = has_room(s);
  const int64_t count =
      rheos__packed_ints(data, room ? (int64_t *)s->to->data + s->first + s->count : NULL,
                         room ? s->capacity - s->count : 0);
  s->count += count;
  return count >= 0;
}

static bool packed_floats(rheos__wire data, sink *s) {
  const size_t size = rheos__wire_size(data);
  if (size % sizeof(float) != 0) return false;
  int64_t count = (int64_t)(size / sizeof(float));
  if (has_room(s)) {
    const int64_t room = s->capacity - s->count, some = count < room ? count : room;
    memcpy((float *)s->to->data + s->first + s->count, data.at, (size_t)some * sizeof(float));
  }
  s->count += count;
  return true;
}

static bool single_value(const rheos__wire_field *field, sink *s) {
  if (has_room(s)) {
    const int64_t place = s->first + s->count;
    if (field->type == RHEOS__WIRE_32)
      memcpy((float *)s->to->data + place, &field->value, 4);
    else
      memcpy((int64_t *)s->to->data + place, &field->value, 8);
  }
  s->count++;
  return true;
}

static void string_value(rheos__wire data, sink *s) {
  if (has_room(s)) {
    ((rheos_string *)s->to->data)[s->first + s->count] =
        rheos__borrow_string(data.at, rheos__wire_size(data));
  }
  s->count++;
}

// A field of bytes: a string, or numbers packed. False if it is not that.
static bool bytes_field(rheos_dtype dtype, rheos__wire data, sink *s) {
  if (dtype == RHEOS_STRING) {
    string_value(data, s);
    return true;
  }
  return dtype == RHEOS_FLOAT ? packed_floats(data, s) : packed_ints(data, s);
}

// A field of a list that is not the usual one.
static bool other_field(rheos_dtype dtype, rheos__wire *list, sink *s, rheos__wire *out_data) {
  rheos__wire_field field;
  bool sound;
  out_data->at = NULL;
  if (!rheos__wire_next(list, &field, &sound) || field.number != 1) return false;
  if (field.type == RHEOS__WIRE_BYTES) {
    *out_data = field.data;
    return true;
  }
  const rheos__wire_type single = dtype == RHEOS_FLOAT ? RHEOS__WIRE_32 : RHEOS__WIRE_VARINT;
  return dtype != RHEOS_STRING && field.type == single && single_value(&field, s);
}

void rheos__feature_values(rheos_dtype dtype, rheos__wire list, rheos_tensor *to, int64_t first,
                           int64_t capacity, int64_t *out_count) {
  sink s = {.to = to, .first = first, .capacity = capacity};
  *out_count = -1;
  while (list.at < list.end) {
    rheos__wire data;
    if (!rheos__wire_take(&list, 1 << 3 | RHEOS__WIRE_BYTES, &data)) {
      if (!other_field(dtype, &list, &s, &data)) return;
      if (data.at == NULL) continue;
    }
    if (!bytes_field(dtype, data, &s)) return;
  }
  *out_count = s.count;
}

void rheos__packed_values(rheos_dtype dtype, rheos__wire data, rheos_tensor *to, int64_t first,
                          int64_t capacity, int64_t *out_count) {
  sink s = {.to = to, .first = first, .capacity = capacity};
  *out_count = bytes_field(dtype, data, &s) ? s.count : -1;
}
