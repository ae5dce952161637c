// DecodeJSONExample: Example messages of their JSON. The message nests five levels and no further,
// so there is a function a level, and nothing that nests deeper is followed.
#include <math.h>

#include "codec/json.h"
#include "codec/wire.h"
#include "ops/kit/string_util.h"

// ---- Values

static rheos_status *add_int(rheos__json *r, rheos__buffer *out) {
  bool quoted;
  int64_t value;
  double real;
  RHEOS_TRY(rheos__json_read_number(r, &quoted));
  const rheos_string text = rheos__json_string(r);
  if (!rheos__parse_number(&text, RHEOS_INT64, &value)) {
    const bool whole = rheos__parse_number(&text, RHEOS_DOUBLE, &real) && floor(real) == real &&
                       real >= -0x1p63 && real < 0x1p63;
    if (!whole || strpbrk(text.data, ".eE") == NULL)
      return rheos__json_wrong(r, "expected an int64");
    value = (int64_t)real;
  }
  rheos__wire_put_varint(out, 1, (uint64_t)value);
  return NULL;
}

static rheos_status *add_float(rheos__json *r, rheos__buffer *out) {
  static const char *const words[] = {"\"NaN\"", "\"Infinity\"", "\"-Infinity\""};
  static const float values[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; i++) {
    if (!rheos__json_take_word(r, words[i])) continue;
    rheos__wire_put_float(out, 1, values[i]);
    return NULL;
  }
  bool quoted;
  double value;
  RHEOS_TRY(rheos__json_read_number(r, &quoted));
  const rheos_string text = rheos__json_string(r);
  if (!rheos__parse_number(&text, RHEOS_DOUBLE, &value))
    return rheos__json_wrong(r, "expected a float");
  // What rounds to an infinity does not fit; a string may say so outright.
  if (fabs(value) >= 0x1.ffffffp127 && !(quoted && isinf(value))) {
    return rheos__json_wrong(r, "a float that is too large");
  }
  rheos__wire_put_float(out, 1, (float)value);
  return NULL;
}

static rheos_status *add_bytes(rheos__json *r, rheos__buffer *out) {
  rheos__text bytes = {0};
  rheos_status *status = rheos__json_read_base64(r, &bytes);
  if (status == NULL) rheos__wire_put_bytes(out, 1, bytes.size > 0 ? bytes.data : "", bytes.size);
  rheos__text_deinit(&bytes);
  return status;
}

// ---- Levels: each appends fields to `out`

typedef rheos_status *(*level)(rheos__json *r, rheos__buffer *out);

// An object; `member` is called behind each key, which is in r->string.
static rheos_status *read_object(rheos__json *r, level member, rheos__buffer *out) {
  if (!rheos__json_take(r, '{')) return rheos__json_wrong(r, "expected {");
  if (rheos__json_take(r, '}')) return NULL;
  do {
    RHEOS_TRY(rheos__json_read_string(r));
    if (!rheos__json_take(r, ':')) return rheos__json_wrong(r, "expected :");
    RHEOS_TRY(member(r, out));
  } while (rheos__json_take(r, ','));
  return rheos__json_take(r, '}') ? NULL : rheos__json_wrong(r, "expected , or }");
}

// A message as field `number`, or nothing for null.
static rheos_status *read_message(rheos__json *r, int number, level member, rheos__buffer *out) {
  if (rheos__json_take_word(r, "null")) return NULL;
  rheos__buffer message = {0};
  rheos_status *status = read_object(r, member, &message);
  if (status == NULL) rheos__wire_put_message(out, number, &message);
  rheos__buffer_deinit(&message);
  return status;
}

static rheos_status *read_list(rheos__json *r, level value, rheos__buffer *out) {
  if (!rheos__json_string_is(r, "value")) return rheos__json_wrong(r, "no such field");
  if (rheos__json_take_word(r, "null")) return NULL;
  if (!rheos__json_take(r, '[')) return value(r, out);
  if (rheos__json_take(r, ']')) return NULL;
  do {
    RHEOS_TRY(value(r, out));
  } while (rheos__json_take(r, ','));
  return rheos__json_take(r, ']') ? NULL : rheos__json_wrong(r, "expected , or ]");
}

static rheos_status *bytes_member(rheos__json *r, rheos__buffer *out) {
  return read_list(r, add_bytes, out);
}
static rheos_status *floats_member(rheos__json *r, rheos__buffer *out) {
  return read_list(r, add_float, out);
}
static rheos_status *ints_member(rheos__json *r, rheos__buffer *out) {
  return read_list(r, add_int, out);
}

static rheos_status *feature_member(rheos__json *r, rheos__buffer *out) {
  static const char *const names[][2] = {
      {"bytesList", "bytes_list"}, {"floatList", "float_list"}, {"int64List", "int64_list"}};
  static const level members[] = {bytes_member, floats_member, ints_member};
  for (int i = 0; i < 3; i++) {
    if (!rheos__json_string_is(r, names[i][0]) && !rheos__json_string_is(r, names[i][1])) continue;
    if (out->size_bytes > 0) return rheos__json_wrong(r, "a feature with two lists");
    return read_message(r, i + 1, members[i], out);
  }
  return rheos__json_wrong(r, "no such field");
}

// An entry of the map, whose key is in r->string.
static rheos_status *map_member(rheos__json *r, rheos__buffer *out) {
  const rheos_string key = rheos__json_string(r);
  rheos__buffer entry = {0};
  rheos__wire_put_bytes(&entry, 1, key.data, key.size_bytes);
  rheos_status *status = read_message(r, 2, feature_member, &entry);
  if (status == NULL) rheos__wire_put_message(out, 1, &entry);
  rheos__buffer_deinit(&entry);
  return status;
}

static rheos_status *features_member(rheos__json *r, rheos__buffer *out) {
  if (!rheos__json_string_is(r, "feature")) return rheos__json_wrong(r, "no such field");
  return rheos__json_take_word(r, "null") ? NULL : read_object(r, map_member, out);
}

static rheos_status *example_member(rheos__json *r, rheos__buffer *out) {
  if (!rheos__json_string_is(r, "features")) return rheos__json_wrong(r, "no such field");
  return read_message(r, 1, features_member, out);
}

// ---- The op

static rheos_status *decode(const rheos__string_map *map, const rheos_string *in,
                            rheos__text *out) {
  (void)map;
  rheos__json r = rheos__json_of(in->data, in->size_bytes, "Error while parsing JSON");
  rheos__buffer message = {0};
  rheos_status *status = read_object(&r, example_member, &message);
  if (status == NULL && !rheos__json_is_at_end(&r)) {
    status = rheos__json_wrong(&r, "extraneous characters behind the end");
  }
  if (status == NULL && message.failed) status = rheos__out_of_memory();
  if (status == NULL) {
    rheos__text_add(out, message.size_bytes > 0 ? message.data : "", message.size_bytes);
  }
  rheos__json_deinit(&r);
  rheos__buffer_deinit(&message);
  return status;
}

static rheos_status *prepare(rheos__prepare *p) {
  rheos__string_map *map = RHEOS_NEW_STATE(p, rheos__string_map);
  if (map == NULL) return rheos__out_of_memory();
  map->make = decode;
  return rheos__answer_string_map(p);
}

const rheos__op_def rheos__op_DecodeJSONExample = {
    .name = "DecodeJSONExample",
    .signature = "json_examples: string -> binary_examples: string",
    .doc = "Example messages in JSON as serialized ones.",
    .shape = rheos__shape_unchanged,
    .prepare = prepare,
};
