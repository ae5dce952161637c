// DecodeJSONExample: Example messages of their JSON. The message nests five levels and no further,
// so there is a function a level, and nothing that nests deeper is followed.
#include <math.h>

#include "format/wire.h"
#include "ops/string_util.h"

typedef struct reader {
  const char *start, *at, *end;
  rheos__text string;  // the string read last
} reader;

static rheos_status *wrong(const reader *r, const char *what) {
  return RHEOS_INVALID("Error while parsing JSON: %s (at byte %zu)", what,
                       (size_t)(r->at - r->start));
}

// ---- Tokens

static char peek(reader *r) {
  while (r->at < r->end && rheos__is_space(*r->at)) r->at++;
  return r->at < r->end ? *r->at : '\0';
}

static bool take(reader *r, char c) {
  if (peek(r) != c || r->at == r->end) return false;
  r->at++;
  return true;
}

static bool take_word(reader *r, const char *word) {
  const size_t size = strlen(word);
  peek(r);
  if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size) != 0) return false;
  r->at += size;
  return true;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The four digits of "\uXXXX".
static rheos_status *read_hex(reader *r, int32_t *out_value) {
  *out_value = 0;
  for (int i = 0; i < 4; i++, r->at++) {
    const int digit = r->at < r->end ? hex_digit(*r->at) : -1;
    if (digit < 0) return wrong(r, "a bad \\u escape");
    *out_value = *out_value << 4 | digit;
  }
  return NULL;
}

static rheos_status *read_unicode(reader *r) {
  int32_t character, low;
  RHEOS_TRY(read_hex(r, &character));
  if (character >= 0xd800 && character < 0xdc00 && r->end - r->at >= 2 && r->at[0] == '\\' &&
      r->at[1] == 'u') {
    r->at += 2;
    RHEOS_TRY(read_hex(r, &low));
    if (low < 0xdc00 || low > 0xdfff) return wrong(r, "an unpaired surrogate");
    character = 0x10000 + ((character - 0xd800) << 10) + (low - 0xdc00);
  } else if (character >= 0xd800 && character <= 0xdfff) {
    return wrong(r, "an unpaired surrogate");
  }
  rheos__utf8_add(&r->string, character);
  return NULL;
}

static rheos_status *read_escape(reader *r) {
  static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  const char c = r->at < r->end ? *r->at++ : '\0';
  if (c == 'u') return read_unicode(r);
  const char *found = c != '\0' ? strchr(escapes, c) : NULL;
  if (found == NULL) return wrong(r, "a bad escape");
  rheos__text_add(&r->string, &meant[found - escapes], 1);
  return NULL;
}

// A string into r->string.
static rheos_status *read_string(reader *r) {
  r->string.size = 0;
  if (!take(r, '"')) return wrong(r, "expected a string");
  while (r->at < r->end && *r->at != '"') {
    if (*r->at == '\\') {
      r->at++;
      RHEOS_TRY(read_escape(r));
      continue;
    }
    int32_t character;
    const size_t size = rheos__utf8_decode(r->at, r->end, &character);
    if (character < 0x20) return wrong(r, "a string that is not UTF-8, or has control characters");
    rheos__text_add(&r->string, r->at, size);
    r->at += size;
  }
  if (r->string.failed) return rheos__out_of_memory();
  return take(r, '"') ? NULL : wrong(r, "a string that does not end");
}

static bool string_is(const reader *r, const char *text) {
  return r->string.size == strlen(text) &&
         (r->string.size == 0 || memcmp(r->string.data, text, r->string.size) == 0);
}

// The text of a number, quoted or not, into r->string.
static rheos_status *read_number_text(reader *r, bool *out_quoted) {
  *out_quoted = peek(r) == '"';
  if (*out_quoted) {
    RHEOS_TRY(read_string(r));
  } else {
    r->string.size = 0;
    const char *start = r->at;
    while (r->at < r->end && strchr("0123456789+-.eE", *r->at) != NULL && *r->at != '\0') r->at++;
    rheos__text_add(&r->string, start, (size_t)(r->at - start));
  }
  if (r->string.failed) return rheos__out_of_memory();
  const char *text = r->string.size > 0 ? r->string.data : "";
  const size_t sign = text[0] == '-';
  const bool octal =
      r->string.size > sign + 1 && text[sign] == '0' && strchr(".eE", text[sign + 1]) == NULL;
  const bool starts = text[sign] >= '0' && text[sign] <= '9';
  return starts && !octal ? NULL : wrong(r, "expected a number");
}

// ---- Values

static rheos_string last_string(const reader *r) {
  return (rheos_string){r->string.data, r->string.size};
}

static rheos_status *add_int(reader *r, rheos__buffer *out) {
  bool quoted;
  int64_t value;
  double real;
  RHEOS_TRY(read_number_text(r, &quoted));
  const rheos_string text = last_string(r);
  if (!rheos__parse_number(&text, RHEOS_INT64, &value)) {
    const bool whole = rheos__parse_number(&text, RHEOS_DOUBLE, &real) && floor(real) == real &&
                       real >= -0x1p63 && real < 0x1p63;
    if (!whole || strpbrk(text.data, ".eE") == NULL) return wrong(r, "expected an int64");
    value = (int64_t)real;
  }
  rheos__wire_put_varint(out, 1, (uint64_t)value);
  return NULL;
}

static rheos_status *add_float(reader *r, rheos__buffer *out) {
  static const char *const words[] = {"\"NaN\"", "\"Infinity\"", "\"-Infinity\""};
  static const float values[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; i++) {
    if (!take_word(r, words[i])) continue;
    rheos__wire_put_float(out, 1, values[i]);
    return NULL;
  }
  bool quoted;
  double value;
  RHEOS_TRY(read_number_text(r, &quoted));
  const rheos_string text = last_string(r);
  if (!rheos__parse_number(&text, RHEOS_DOUBLE, &value)) return wrong(r, "expected a float");
  // What rounds to an infinity does not fit; a string may say so outright.
  if (fabs(value) >= 0x1.ffffffp127 && !(quoted && isinf(value))) {
    return wrong(r, "a float that is too large");
  }
  rheos__wire_put_float(out, 1, (float)value);
  return NULL;
}

static rheos_status *add_bytes(reader *r, rheos__buffer *out) {
  RHEOS_TRY(read_string(r));
  for (size_t i = 0; i < r->string.size; i++) {
    char *c = &r->string.data[i];
    *c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
  }
  const rheos_string text = last_string(r);
  rheos__text bytes = {0};
  rheos_status *status = rheos__base64_decode(&text, &bytes);
  if (status != NULL) {
    rheos_status_free(status);
    status = wrong(r, "expected base64");
  } else if (bytes.failed) {
    status = rheos__out_of_memory();
  } else {
    rheos__wire_put_bytes(out, 1, bytes.size > 0 ? bytes.data : "", bytes.size);
  }
  rheos__text_deinit(&bytes);
  return status;
}

// ---- Levels: each appends fields to `out`

typedef rheos_status *(*level)(reader *r, rheos__buffer *out);

// An object; `member` is called behind each key, which is in r->string.
static rheos_status *read_object(reader *r, level member, rheos__buffer *out) {
  if (!take(r, '{')) return wrong(r, "expected {");
  if (take(r, '}')) return NULL;
  do {
    RHEOS_TRY(read_string(r));
    if (!take(r, ':')) return wrong(r, "expected :");
    RHEOS_TRY(member(r, out));
  } while (take(r, ','));
  return take(r, '}') ? NULL : wrong(r, "expected , or }");
}

// A message as field `number`, or nothing for null.
static rheos_status *read_message(reader *r, int number, level member, rheos__buffer *out) {
  if (take_word(r, "null")) return NULL;
  rheos__buffer message = {0};
  rheos_status *status = read_object(r, member, &message);
  if (status == NULL) rheos__wire_put_message(out, number, &message);
  rheos__buffer_deinit(&message);
  return status;
}

static rheos_status *read_list(reader *r, level value, rheos__buffer *out) {
  if (!string_is(r, "value")) return wrong(r, "no such field");
  if (take_word(r, "null")) return NULL;
  if (!take(r, '[')) return value(r, out);
  if (take(r, ']')) return NULL;
  do {
    RHEOS_TRY(value(r, out));
  } while (take(r, ','));
  return take(r, ']') ? NULL : wrong(r, "expected , or ]");
}

static rheos_status *bytes_member(reader *r, rheos__buffer *out) {
  return read_list(r, add_bytes, out);
}
static rheos_status *floats_member(reader *r, rheos__buffer *out) {
  return read_list(r, add_float, out);
}
static rheos_status *ints_member(reader *r, rheos__buffer *out) {
  return read_list(r, add_int, out);
}

static rheos_status *feature_member(reader *r, rheos__buffer *out) {
  static const char *const names[][2] = {
      {"bytesList", "bytes_list"}, {"floatList", "float_list"}, {"int64List", "int64_list"}};
  static const level members[] = {bytes_member, floats_member, ints_member};
  for (int i = 0; i < 3; i++) {
    if (!string_is(r, names[i][0]) && !string_is(r, names[i][1])) continue;
    if (out->size_bytes > 0) return wrong(r, "a feature with two lists");
    return read_message(r, i + 1, members[i], out);
  }
  return wrong(r, "no such field");
}

// An entry of the map, whose key is in r->string.
static rheos_status *map_member(reader *r, rheos__buffer *out) {
  rheos__buffer entry = {0};
  rheos__wire_put_bytes(&entry, 1, r->string.size > 0 ? r->string.data : "", r->string.size);
  rheos_status *status = read_message(r, 2, feature_member, &entry);
  if (status == NULL) rheos__wire_put_message(out, 1, &entry);
  rheos__buffer_deinit(&entry);
  return status;
}

static rheos_status *features_member(reader *r, rheos__buffer *out) {
  if (!string_is(r, "feature")) return wrong(r, "no such field");
  return take_word(r, "null") ? NULL : read_object(r, map_member, out);
}

static rheos_status *example_member(reader *r, rheos__buffer *out) {
  if (!string_is(r, "features")) return wrong(r, "no such field");
  return read_message(r, 1, features_member, out);
}

// ---- The op

static rheos_status *decode(const rheos__string_map *map, const rheos_string *in,
                            rheos__text *out) {
  (void)map;
  const char *start = in->size_bytes > 0 ? in->data : "";
  reader r = {.start = start, .at = start, .end = start + in->size_bytes};
  rheos__buffer message = {0};
  rheos_status *status = read_object(&r, example_member, &message);
  peek(&r);
  if (status == NULL && r.at < r.end) status = wrong(&r, "extraneous characters behind the end");
  if (status == NULL && message.failed) status = rheos__out_of_memory();
  if (status == NULL) {
    rheos__text_add(out, message.size_bytes > 0 ? message.data : "", message.size_bytes);
  }
  rheos__text_deinit(&r.string);
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
