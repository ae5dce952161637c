// Reading of examples: a walk over bytes that may be hostile, by the bounded reader of wire.h.
#include "format/example.h"

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

static bool map_entries(rheos__wire map, rheos__take_entry take, void *argument) {
  bool sound;
  rheos__wire_field field;
  while (rheos__wire_next(&map, &field, &sound)) {
    rheos__wire key, value;
    if (field.number != 1 || field.type != RHEOS__WIRE_BYTES) return false;
    if (!read_entry(field.data, &key, &value)) return false;
    take(argument, key, value);
  }
  return sound;
}

bool rheos__example_entries(rheos__wire example, uint32_t number, rheos__take_entry take,
                            void *argument) {
  bool sound;
  rheos__wire_field field;
  while (rheos__wire_next(&example, &field, &sound)) {
    if (field.number != number || field.type != RHEOS__WIRE_BYTES) continue;
    if (!map_entries(field.data, take, argument)) return false;
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
  if (!rheos__wire_next(&feature, &field, &sound)) return sound;
  if (field.type != RHEOS__WIRE_BYTES || field.number > 3) return false;
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

// ---- Values

typedef struct sink {
  rheos_tensor *to;
  int64_t first, capacity, count;
} sink;

static bool has_room(const sink *s) {
  return s->to != NULL && s->count < s->capacity;
}

static bool packed_ints(rheos__wire data, sink *s) {
  while (data.at < data.end) {
    uint64_t value;
    if (!rheos__read_varint(&data.at, data.end, &value)) return false;
    if (has_room(s)) memcpy((int64_t *)s->to->data + s->first + s->count, &value, sizeof value);
    s->count++;
  }
  return true;
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

static rheos_status *string_value(rheos__wire data, sink *s) {
  const int64_t place = s->first + s->count;
  const bool stored = has_room(s);
  s->count++;
  if (!stored) return NULL;
  return rheos_tensor_set_string(s->to, place, data.at, rheos__wire_size(data));
}

// Of numbers: packed or one by one.
static bool number_values(rheos_dtype dtype, const rheos__wire_field *field, sink *s) {
  if (field->type == RHEOS__WIRE_BYTES) {
    return dtype == RHEOS_FLOAT ? packed_floats(field->data, s) : packed_ints(field->data, s);
  }
  const rheos__wire_type single = dtype == RHEOS_FLOAT ? RHEOS__WIRE_32 : RHEOS__WIRE_VARINT;
  return field->type == single && single_value(field, s);
}

rheos_status *rheos__feature_values(rheos_dtype dtype, rheos__wire list, rheos_tensor *to,
                                    int64_t first, int64_t capacity, int64_t *out_count) {
  sink s = {.to = to, .first = first, .capacity = capacity};
  bool sound;
  rheos__wire_field field;
  *out_count = -1;
  while (rheos__wire_next(&list, &field, &sound)) {
    if (field.number != 1) return NULL;
    if (dtype != RHEOS_STRING) {
      if (!number_values(dtype, &field, &s)) return NULL;
    } else if (field.type == RHEOS__WIRE_BYTES) {
      RHEOS_TRY(string_value(field.data, &s));
    } else {
      return NULL;
    }
  }
  if (sound) *out_count = s.count;
  return NULL;
}
