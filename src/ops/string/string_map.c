// Strings changed or measured one by one: length, part, case, white space. Characters are those of
// UTF-8; how they change case is asked of the C library, and listed here where one becomes several.
#include <locale.h>
#include <string.h>
#include <wctype.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"
#include "ops/kit/string_util.h"

static bool wants_chars(const rheos__attrs *attrs) {
  return strcmp(rheos__attr_string(attrs, "unit"), "UTF8_CHAR") == 0;
}

// ---- StringLength

typedef struct length_state {
  rheos__string_units units;
  bool chars;
} length_state;

static rheos_status *run_length(const void *argument, const void *const *inputs,
                                void *const *outputs, void *scratch, int64_t first, int64_t last) {
  (void)scratch;
  const length_state *state = argument;
  const rheos_string *strings = inputs[0];
  int32_t *lengths = outputs[0];
  last = rheos__last_unit(state, last);
  for (int64_t i = first; i < last; i++) {
    size_t length = strings[i].size_bytes;
    for (size_t k = 0; state->chars && k < strings[i].size_bytes; k++) {
      if (rheos__is_trail_byte(strings[i].data[k])) length--;
    }
    lengths[i] = (int32_t)length;
  }
  return NULL;
}

static rheos_status *prepare_length(rheos__prepare *p) {
  length_state *state = RHEOS_NEW_STATE(p, length_state);
  if (state == NULL) return rheos__out_of_memory();
  state->chars = wants_chars(p->attrs);
  rheos__answer_string_units(p, run_length);
  return NULL;
}

const rheos__op_def rheos__op_StringLength = {
    .name = "StringLength",
    .signature = "input: string -> output: int32; unit: {\"BYTE\", \"UTF8_CHAR\"} = \"BYTE\"",
    .doc = "The length of each string in bytes or characters.",
    .shape = rheos__shape_unchanged,
    .prepare = prepare_length,
};

// ---- Substr

static rheos_status *shape_substr(rheos__infer *c) {
  const rheos_shape *pos = &c->input_shapes[1], *len = &c->input_shapes[2];
  if (!rheos_shape_compatible(pos, len)) {
    rheos__shape_text a, b;
    return RHEOS_INVALID("pos and len should have the same shape, got: %s vs. %s",
                         rheos__shape_text_of(pos, &a), rheos__shape_text_of(len, &b));
  }
  return rheos__shape_broadcast(&c->input_shapes[0], pos, &c->output_shapes[0]);
}

// Moves `*at` forward over `count` characters; how many there were not.
static int64_t forward(const char **at, const char *end, int64_t count) {
  while (count > 0 && *at < end) {
    do {
      ++*at;
    } while (*at < end && rheos__is_trail_byte(**at));
    count--;
  }
  return count;
}

// Backward over `count` (as a negative number) characters; how many there were not.
static int64_t backward(const char **at, const char *start, int64_t count) {
  while (count < 0 && *at > start) {
    do {
      --*at;
    } while (*at > start && rheos__is_trail_byte(**at));
    count++;
  }
  return count;
}

static bool chars_part(const rheos_string *in, int64_t pos, int64_t len, rheos_string *out_part) {
  const char *start = in->data, *end = start + in->size_bytes;
  const char *from = pos < 0 ? end : start;
  const int64_t missed = pos < 0 ? backward(&from, start, pos) : forward(&from, end, pos);
  const char *to = from;
  forward(&to, end, len);
  *out_part = rheos__borrow_string(from, (size_t)(to - from));
  return missed == 0;
}

// A negative length is what is left, as in TensorFlow.
static bool bytes_part(const rheos_string *in, int64_t pos, int64_t len, rheos_string *out_part) {
  const int64_t size = (int64_t)in->size_bytes;
  if (pos > size || pos < -size) return false;
  if (pos < 0) pos += size;
  const int64_t left = size - pos;
  const int64_t wanted = len < 0 || len > left ? left : len;
  *out_part = (rheos_string){in->data + pos, (size_t)wanted};
  return true;
}

static rheos_status *out_of_range(const rheos_string *in, int64_t pos, int64_t index) {
  return RHEOS_INVALID("pos %lld out of range for string b'%.*s' at index %lld", (long long)pos,
                       (int)(in->size_bytes < 200 ? in->size_bytes : 200), in->data,
                       (long long)index);
}

typedef struct substr_state {
  bool chars;
  rheos_shape shape;
} substr_state;

enum { STRINGS_BETWEEN_POLLS = 1 << 13 };

static rheos_status *compute_substr(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const substr_state *state = argument;
  static char nothing[1];
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &state->shape, &outputs[0]));
  int64_t since = 0;
  for (int64_t i = 0; i < outputs[0]->num_elements; i++) {
    if (rheos__stops_after(&since, 1, STRINGS_BETWEEN_POLLS)) return rheos__stopped();
    const int64_t of = rheos__broadcast_index(&inputs[0]->shape, &state->shape, i);
    const int64_t by = rheos__broadcast_index(&inputs[1]->shape, &state->shape, i);
    const int64_t pos = rheos__tensor_int_at(inputs[1], by);
    const int64_t len = rheos__tensor_int_at(inputs[2], by);
    rheos_string in = ((const rheos_string *)inputs[0]->data)[of], part;
    if (in.size_bytes == 0) in.data = nothing;
    const bool found =
        state->chars ? chars_part(&in, pos, len, &part) : bytes_part(&in, pos, len, &part);
    if (!found) return out_of_range(&in, pos, i);
    RHEOS_TRY(rheos_tensor_set_string(outputs[0], i, part.data, part.size_bytes));
  }
  return NULL;
}

static rheos_status *prepare_substr(rheos__prepare *p) {
  substr_state *state = RHEOS_NEW_STATE(p, substr_state);
  if (state == NULL) return rheos__out_of_memory();
  state->chars = wants_chars(p->attrs);
  state->shape = p->output_shapes[0];
  p->compute = compute_substr;
  return NULL;
}

const rheos__op_def rheos__op_Substr = {
    .name = "Substr",
    .signature =
        "input: string, pos: T, len: T -> output: string; T: index; "
        "unit: {\"BYTE\", \"UTF8_CHAR\"} = \"BYTE\"",
    .doc =
        "`len` bytes or characters of each string from `pos` on, which counts from the end if it "
        "is "
        "negative.",
    .shape = shape_substr,
    .prepare = prepare_substr,
};

// ---- StringLower, StringUpper

typedef struct case_state {
  rheos__string_map map;
  locale_t locale;  // for the characters of Unicode; 0: bytes, only those of ASCII change
} case_state;

static rheos_status *lower_bytes(const rheos__string_map *map, const rheos_string *in,
                                 rheos__text *out) {
  (void)map;
  rheos__text_add(out, in->data, in->size_bytes);
  for (size_t i = 0; !out->failed && i < out->size; i++) {
    if (out->data[i] >= 'A' && out->data[i] <= 'Z') out->data[i] += 'a' - 'A';
  }
  return NULL;
}

static rheos_status *upper_bytes(const rheos__string_map *map, const rheos_string *in,
                                 rheos__text *out) {
  (void)map;
  rheos__text_add(out, in->data, in->size_bytes);
  for (size_t i = 0; !out->failed && i < out->size; i++) {
    if (out->data[i] >= 'a' && out->data[i] <= 'z') out->data[i] -= 'a' - 'A';
  }
  return NULL;
}

enum { CAPITAL_SIGMA = 0x3a3, SIGMA = 0x3c3, FINAL_SIGMA = 0x3c2, REPLACEMENT = 0xfffd };

// Whether a character with case comes next from `at` on, looking over apostrophes, points and
// marks.
static bool cased_follows(const case_state *state, const char *at, const char *end) {
  while (at < end) {
    int32_t c;
    at += rheos__utf8_decode(at, end, &c);
    if (c == '\'' || c == '.' || c == ':' || c == 0xad || c == 0x2019 ||
        (c >= 0x300 && c < 0x370)) {
      continue;
    }
    return c >= 0 && (iswupper_l((wint_t)c, state->locale) || iswlower_l((wint_t)c, state->locale));
  }
  return false;
}

static rheos_status *lower_chars(const rheos__string_map *map, const rheos_string *in,
                                 rheos__text *out) {
  const case_state *state = (const case_state *)map;
  const char *at = in->data, *end = at + in->size_bytes;
  bool after_cased = false;
  while (at < end) {
    int32_t c;
    at += rheos__utf8_decode(at, end, &c);
    if (c < 0) c = REPLACEMENT;
    const bool final = c == CAPITAL_SIGMA && after_cased && !cased_follows(state, at, end);
    after_cased = iswupper_l((wint_t)c, state->locale) || iswlower_l((wint_t)c, state->locale);
    if (c == 0x130) {  // a capital i with a dot
      rheos__utf8_add(out, 'i');
      rheos__utf8_add(out, 0x307);
    } else {
      rheos__utf8_add(out, final ? FINAL_SIGMA : (int32_t)towlower_l((wint_t)c, state->locale));
    }
  }
  return NULL;
}

// Characters whose upper case is several, as Unicode's SpecialCasing.txt lists them.
static const uint16_t several[][4] = {
    {0xdf, 0x53, 0x53},
    {0x149, 0x2bc, 0x4e},
    {0x1f0, 0x4a, 0x30c},
    {0x390, 0x399, 0x308, 0x301},
    {0x3b0, 0x3a5, 0x308, 0x301},
    {0x587, 0x535, 0x552},
    {0x1e96, 0x48, 0x331},
    {0x1e97, 0x54, 0x308},
    {0x1e98, 0x57, 0x30a},
    {0x1e99, 0x59, 0x30a},
    {0x1e9a, 0x41, 0x2be},
    {0x1f50, 0x3a5, 0x313},
    {0x1f52, 0x3a5, 0x313, 0x300},
    {0x1f54, 0x3a5, 0x313, 0x301},
    {0x1f56, 0x3a5, 0x313, 0x342},
    {0x1f80, 0x1f08, 0x399},
    {0x1f81, 0x1f09, 0x399},
    {0x1f82, 0x1f0a, 0x399},
    {0x1f83, 0x1f0b, 0x399},
    {0x1f84, 0x1f0c, 0x399},
    {0x1f85, 0x1f0d, 0x399},
    {0x1f86, 0x1f0e, 0x399},
    {0x1f87, 0x1f0f, 0x399},
    {0x1f88, 0x1f08, 0x399},
    {0x1f89, 0x1f09, 0x399},
    {0x1f8a, 0x1f0a, 0x399},
    {0x1f8b, 0x1f0b, 0x399},
    {0x1f8c, 0x1f0c, 0x399},
    {0x1f8d, 0x1f0d, 0x399},
    {0x1f8e, 0x1f0e, 0x399},
    {0x1f8f, 0x1f0f, 0x399},
    {0x1f90, 0x1f28, 0x399},
    {0x1f91, 0x1f29, 0x399},
    {0x1f92, 0x1f2a, 0x399},
    {0x1f93, 0x1f2b, 0x399},
    {0x1f94, 0x1f2c, 0x399},
    {0x1f95, 0x1f2d, 0x399},
    {0x1f96, 0x1f2e, 0x399},
    {0x1f97, 0x1f2f, 0x399},
    {0x1f98, 0x1f28, 0x399},
    {0x1f99, 0x1f29, 0x399},
    {0x1f9a, 0x1f2a, 0x399},
    {0x1f9b, 0x1f2b, 0x399},
    {0x1f9c, 0x1f2c, 0x399},
    {0x1f9d, 0x1f2d, 0x399},
    {0x1f9e, 0x1f2e, 0x399},
    {0x1f9f, 0x1f2f, 0x399},
    {0x1fa0, 0x1f68, 0x399},
    {0x1fa1, 0x1f69, 0x399},
    {0x1fa2, 0x1f6a, 0x399},
    {0x1fa3, 0x1f6b, 0x399},
    {0x1fa4, 0x1f6c, 0x399},
    {0x1fa5, 0x1f6d, 0x399},
    {0x1fa6, 0x1f6e, 0x399},
    {0x1fa7, 0x1f6f, 0x399},
    {0x1fa8, 0x1f68, 0x399},
    {0x1fa9, 0x1f69, 0x399},
    {0x1faa, 0x1f6a, 0x399},
    {0x1fab, 0x1f6b, 0x399},
    {0x1fac, 0x1f6c, 0x399},
    {0x1fad, 0x1f6d, 0x399},
    {0x1fae, 0x1f6e, 0x399},
    {0x1faf, 0x1f6f, 0x399},
    {0x1fb2, 0x1fba, 0x399},
    {0x1fb3, 0x391, 0x399},
    {0x1fb4, 0x386, 0x399},
    {0x1fb6, 0x391, 0x342},
    {0x1fb7, 0x391, 0x342, 0x399},
    {0x1fbc, 0x391, 0x399},
    {0x1fc2, 0x1fca, 0x399},
    {0x1fc3, 0x397, 0x399},
    {0x1fc4, 0x389, 0x399},
    {0x1fc6, 0x397, 0x342},
    {0x1fc7, 0x397, 0x342, 0x399},
    {0x1fcc, 0x397, 0x399},
    {0x1fd2, 0x399, 0x308, 0x300},
    {0x1fd3, 0x399, 0x308, 0x301},
    {0x1fd6, 0x399, 0x342},
    {0x1fd7, 0x399, 0x308, 0x342},
    {0x1fe2, 0x3a5, 0x308, 0x300},
    {0x1fe3, 0x3a5, 0x308, 0x301},
    {0x1fe4, 0x3a1, 0x313},
    {0x1fe6, 0x3a5, 0x342},
    {0x1fe7, 0x3a5, 0x308, 0x342},
    {0x1ff2, 0x1ffa, 0x399},
    {0x1ff3, 0x3a9, 0x399},
    {0x1ff4, 0x38f, 0x399},
    {0x1ff6, 0x3a9, 0x342},
    {0x1ff7, 0x3a9, 0x342, 0x399},
    {0x1ffc, 0x3a9, 0x399},
    {0xfb00, 0x46, 0x46},
    {0xfb01, 0x46, 0x49},
    {0xfb02, 0x46, 0x4c},
    {0xfb03, 0x46, 0x46, 0x49},
    {0xfb04, 0x46, 0x46, 0x4c},
    {0xfb05, 0x53, 0x54},
    {0xfb06, 0x53, 0x54},
    {0xfb13, 0x544, 0x546},
    {0xfb14, 0x544, 0x535},
    {0xfb15, 0x544, 0x53b},
    {0xfb16, 0x54e, 0x546},
    {0xfb17, 0x544, 0x53d},
};

static bool add_several(rheos__text *out, int32_t c) {
  size_t low = 0, high = sizeof several / sizeof *several;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (several[middle][0] == c) {
      for (int k = 1; k < 4 && several[middle][k] != 0; k++) {
        rheos__utf8_add(out, several[middle][k]);
      }
      return true;
    }
    if (several[middle][0] < c)
      low = middle + 1;
    else
      high = middle;
  }
  return false;
}

static rheos_status *upper_chars(const rheos__string_map *map, const rheos_string *in,
                                 rheos__text *out) {
  const case_state *state = (const case_state *)map;
  const char *at = in->data, *end = at + in->size_bytes;
  while (at < end) {
    int32_t c;
    at += rheos__utf8_decode(at, end, &c);
    if (c < 0) c = REPLACEMENT;
    if (!add_several(out, c)) rheos__utf8_add(out, (int32_t)towupper_l((wint_t)c, state->locale));
  }
  return NULL;
}

static void free_locale(void *argument) { freelocale(((case_state *)argument)->locale); }

typedef rheos_status *(*change_fn)(const rheos__string_map *map, const rheos_string *in,
                                   rheos__text *out);

typedef struct case_family {
  change_fn bytes, chars;  // by itself, and in UTF-8
} case_family;

static const case_family lower = {lower_bytes, lower_chars};
static const case_family upper = {upper_bytes, upper_chars};

static rheos_status *prepare_case(rheos__prepare *p) {
  const case_family *family = p->op->family;
  case_state *state = RHEOS_NEW_STATE(p, case_state);
  if (state == NULL) return rheos__out_of_memory();
  const char *encoding = rheos__attr_string(p->attrs, "encoding");
  if (encoding[0] == '\0') {
    state->map.make = family->bytes;
    return rheos__answer_string_map(p);
  }
  if (strcmp(encoding, "utf-8") != 0) {
    return RHEOS_INVALID("only utf-8 or '' (no encoding) is supported, received %s", encoding);
  }
  state->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
  if (state->locale == (locale_t)0) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "the system has no locale C.UTF-8");
  }
  p->release = free_locale;
  state->map.make = family->chars;
  return rheos__answer_string_map(p);
}

const rheos__op_def rheos__op_StringLower = {
    .name = "StringLower",
    .signature = "input: string -> output: string; encoding: string = \"\"",
    .doc =
        "The strings in lower case: ASCII letters, or all characters if `encoding` is \"utf-8\".",
    .shape = rheos__shape_unchanged,
    .prepare = prepare_case,
    .family = &lower,
};

const rheos__op_def rheos__op_StringUpper = {
    .name = "StringUpper",
    .signature = "input: string -> output: string; encoding: string = \"\"",
    .doc =
        "The strings in upper case: ASCII letters, or all characters if `encoding` is \"utf-8\".",
    .shape = rheos__shape_unchanged,
    .prepare = prepare_case,
    .family = &upper,
};

// ---- StringStrip

static rheos_status *strip(const rheos__string_map *map, const rheos_string *in, rheos__text *out) {
  (void)map;
  size_t first = 0, last = in->size_bytes;
  while (first < last && rheos__is_space(in->data[first])) first++;
  while (first < last && rheos__is_space(in->data[last - 1])) last--;
  if (first < last) rheos__text_add(out, in->data + first, last - first);
  return NULL;
}

static rheos_status *prepare_strip(rheos__prepare *p) {
  rheos__string_map *map = RHEOS_NEW_STATE(p, rheos__string_map);
  if (map == NULL) return rheos__out_of_memory();
  map->make = strip;
  return rheos__answer_string_map(p);
}

const rheos__op_def rheos__op_StringStrip = {
    .name = "StringStrip",
    .signature = "input: string -> output: string",
    .doc = "The strings without white space at either end.",
    .shape = rheos__shape_unchanged,
    .prepare = prepare_strip,
};
