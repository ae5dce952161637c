// Unicode: strings into characters and back, from one encoding to another, scripts of characters.
#include <string.h>

#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"
#include "ops/kit/string_util.h"
#include "ops/ragged/ragged.h"
#include "ops/string/unicode_reader.h"
#include "ops/string/unicode_scripts.h"

enum { BYTES_BETWEEN_POLLS = 1 << 17 };

// ---- What is done with characters that are not wanted

typedef enum on_error { STRICT, REPLACE, IGNORE } on_error;

typedef struct unicode_state {
  const char *encoding;
  on_error errors;
  int32_t replacement;
  bool replace_control;
  rheos_dtype splits_dtype;
  bool with_offsets;
  int out_kind;  // of the encodings written
} unicode_state;

enum { WRITES_UTF_8, WRITES_UTF_16, WRITES_UTF_32 };

static rheos_status *new_state(rheos__prepare *p, unicode_state **out) {
  unicode_state *s = RHEOS_NEW_STATE(p, unicode_state);
  if (s == NULL) return rheos__out_of_memory();
  *out = s;
  const char *errors = rheos__attr_string(p->attrs, "errors");
  s->errors = strcmp(errors, "strict") == 0   ? STRICT
              : strcmp(errors, "ignore") == 0 ? IGNORE
                                              : REPLACE;
  const int64_t replacement = rheos__attr_int(p->attrs, "replacement_char");
  if (replacement < 0 || replacement > RHEOS__MAX_CODE_POINT) {
    return RHEOS_INVALID("replacement_char out of unicode codepoint range: %lld",
                         (long long)replacement);
  }
  s->replacement = (int32_t)replacement;
  const rheos_attr_value *control = rheos__attrs_find(p->attrs, "replace_control_characters");
  s->replace_control = control != NULL && control->b;
  if (rheos__attrs_find(p->attrs, "input_encoding") != NULL) {
    s->encoding = rheos__attr_string(p->attrs, "input_encoding");
    rheos__unicode_reader reader;
    RHEOS_TRY(rheos__unicode_open(s->encoding, &reader));
    rheos__unicode_close(&reader);
  }
  if (rheos__attrs_find(p->attrs, "output_encoding") != NULL) {
    const char *encoding = rheos__attr_string(p->attrs, "output_encoding");
    s->out_kind = strcmp(encoding, "UTF-8") == 0       ? WRITES_UTF_8
                  : strcmp(encoding, "UTF-16-BE") == 0 ? WRITES_UTF_16
                                                       : WRITES_UTF_32;
  }
  return NULL;
}

static bool is_control(const unicode_state *s, int32_t character) {
  return s->replace_control && character >= 0 && character < 0x20;
}

// The character as it is to be passed on; -1: it is left out.
static rheos_status *judge(const unicode_state *s, int32_t *character) {
  if (*character == -1 && s->errors == STRICT) {
    return RHEOS_INVALID("Invalid formatting on input string");
  }
  if (*character == -1 || is_control(s, *character)) {
    *character = s->errors == IGNORE ? -1 : s->replacement;
  }
  return NULL;
}

// ---- Decoding

typedef struct characters {
  int32_t *items;
  int64_t *starts;
  size_t count, capacity, starts_capacity;
} characters;

static rheos_status *add_character(characters *c, int32_t character, int64_t start) {
  if (!RHEOS_RESERVE(c->items, c->capacity, c->count + 1) ||
      !RHEOS_RESERVE(c->starts, c->starts_capacity, c->count + 1)) {
    return rheos__out_of_memory();
  }
  c->items[c->count] = character;
  c->starts[c->count++] = start;
  return NULL;
}

static rheos_status *decode_string(const unicode_state *s, rheos__unicode_reader *reader,
                                   const rheos_string *string, characters *out) {
  if (string->size_bytes == 0) return NULL;
  const char *start = string->data, *end = start + string->size_bytes;
  const char *at = rheos__unicode_begin(reader, start, end), *from = start;
  while (from < end) {
    int32_t character;
    at = rheos__unicode_next(reader, at, end, &character);
    if (character == -2) break;
    RHEOS_TRY(judge(s, &character));
    if (character >= 0) RHEOS_TRY(add_character(out, character, from - start));
    from = at;
  }
  return NULL;
}

static rheos_status *decode_all(const unicode_state *s, const rheos_tensor *input, characters *all,
                                rheos_tensor *splits) {
  rheos__unicode_reader reader;
  RHEOS_TRY(rheos__unicode_open(s->encoding, &reader));
  const rheos_string *strings = input->data;
  rheos_status *status = NULL;
  rheos__set_int(s->splits_dtype, splits->data, 0, 0);
  int64_t since = 0;
  for (int64_t i = 0; status == NULL && i < input->num_elements; i++) {
    if (rheos__stops_after(&since, 1 + (int64_t)strings[i].size_bytes, BYTES_BETWEEN_POLLS)) {
      status = rheos__stopped();
      break;
    }
    status = decode_string(s, &reader, &strings[i], all);
    if (status == NULL && s->splits_dtype == RHEOS_INT32 && all->count > INT32_MAX) {
      status = RHEOS_INVALID("more characters than splits of int32 can count");
    }
    rheos__set_int(s->splits_dtype, splits->data, i + 1, (int64_t)all->count);
  }
  rheos__unicode_close(&reader);
  return status;
}

static rheos_status *compute_decode(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const unicode_state *s = state;
  characters all = {0};
  RHEOS_TRY(
      rheos__tensor_new(s->splits_dtype, &RHEOS_SHAPE(inputs[0]->num_elements + 1), &outputs[0]));
  rheos_status *status = decode_all(s, inputs[0], &all, outputs[0]);
  const rheos_shape shape = RHEOS_SHAPE((int64_t)all.count);
  if (status == NULL) status = rheos_tensor_from_values(RHEOS_INT32, shape, all.items, &outputs[1]);
  if (status == NULL && s->with_offsets) {
    status = rheos_tensor_from_values(RHEOS_INT64, shape, all.starts, &outputs[2]);
  }
  rheos__free(all.items);
  rheos__free(all.starts);
  return status;
}

static rheos_status *prepare_decode(rheos__prepare *p) {
  unicode_state *s;
  RHEOS_TRY(new_state(p, &s));
  s->splits_dtype = p->output_dtypes[0];
  s->with_offsets = p->num_outputs == 3;
  p->compute = compute_decode;
  return NULL;
}

static rheos_status *shape_decode(rheos__infer *c) {
  const int64_t count = rheos_shape_is_known(&c->input_shapes[0])
                            ? rheos_shape_num_elements(&c->input_shapes[0])
                            : -1;
  c->output_shapes[0] = RHEOS_SHAPE(-1);
  RHEOS_TRY(rheos__dim_add(count, 1, &c->output_shapes[0].dims[0]));
  c->output_shapes[1] = RHEOS_SHAPE(-1);
  if (c->num_outputs == 3) c->output_shapes[2] = RHEOS_SHAPE(-1);
  return NULL;
}

#define ERROR_ATTRS                                               \
  "errors: {\"strict\", \"replace\", \"ignore\"} = \"replace\"; " \
  "replacement_char: int = 65533"
#define DECODE_ATTRS                             \
  "input_encoding: string; " ERROR_ATTRS         \
  "; replace_control_characters: bool = false; " \
  "Tsplits: index = int64"
const rheos__op_def rheos__op_UnicodeDecode = {
    .name = "UnicodeDecode",
    .signature = "input: string -> row_splits: Tsplits, char_values: int32; " DECODE_ATTRS,
    .doc = "The characters of each string, a row of a ragged matrix.",
    .shape = shape_decode,
    .prepare = prepare_decode,
};
const rheos__op_def rheos__op_UnicodeDecodeWithOffsets = {
    .name = "UnicodeDecodeWithOffsets",
    .signature =
        "input: string -> row_splits: Tsplits, char_values: int32, "
        "char_to_byte_starts: int64; " DECODE_ATTRS,
    .doc = "The characters of each string, a row of a ragged matrix, and the byte each starts at.",
    .shape = shape_decode,
    .prepare = prepare_decode,
};

// ---- Writing characters

static void write_unit(rheos__text *text, uint32_t unit, int bytes) {
  char data[4];
  for (int i = 0; i < bytes; i++) data[i] = (char)(unit >> (8 * (bytes - 1 - i)) & 0xff);
  rheos__text_add(text, data, (size_t)bytes);
}

static bool is_scalar_value(int32_t c) {
  return c >= 0 && c <= RHEOS__MAX_CODE_POINT && (c < 0xd800 || c > 0xdfff);
}

// A surrogate, which can only be a replacement_char, is written as the character that stands for
// it.
static void write_character(const unicode_state *s, int32_t c, rheos__text *text) {
  if (!is_scalar_value(c)) c = 0xfffd;
  if (s->out_kind == WRITES_UTF_8) {
    rheos__utf8_add(text, c);
  } else if (s->out_kind == WRITES_UTF_32) {
    write_unit(text, (uint32_t)c, 4);
  } else if (c < 0x10000) {
    write_unit(text, (uint32_t)c, 2);
  } else {
    write_unit(text, 0xd800 + ((uint32_t)(c - 0x10000) >> 10), 2);
    write_unit(text, 0xdc00 + ((uint32_t)(c - 0x10000) & 0x3ff), 2);
  }
}

// ---- UnicodeTranscode

static rheos_status *transcode(const unicode_state *s, rheos__unicode_reader *reader,
                               const rheos_string *string, rheos__text *text) {
  text->size = 0;
  if (string->size_bytes == 0) return NULL;
  const char *at = string->data, *end = at + string->size_bytes;
  at = rheos__unicode_begin(reader, at, end);
  for (;;) {
    int32_t character;
    at = rheos__unicode_next(reader, at, end, &character);
    if (character == -2) return NULL;
    // Only this op takes a control character that is to be replaced for wrong formatting.
    if (s->errors == STRICT && is_control(s, character)) character = -1;
    RHEOS_TRY(judge(s, &character));
    if (character >= 0) write_character(s, character, text);
  }
}

static rheos_status *compute_transcode(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)step;
  const unicode_state *s = state;
  const rheos_string *strings = inputs[0]->data;
  rheos__unicode_reader reader;
  rheos__text text = {0};
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &inputs[0]->shape, &outputs[0]));
  RHEOS_TRY(rheos__unicode_open(s->encoding, &reader));
  rheos_status *status = NULL;
  for (int64_t i = 0; status == NULL && i < inputs[0]->num_elements; i++) {
    status = transcode(s, &reader, &strings[i], &text);
    if (status == NULL) status = rheos__set_text(outputs[0], i, &text);
  }
  rheos__unicode_close(&reader);
  rheos__text_deinit(&text);
  return status;
}

static rheos_status *prepare_transcode(rheos__prepare *p) {
  unicode_state *s;
  RHEOS_TRY(new_state(p, &s));
  p->compute = compute_transcode;
  return NULL;
}

#define OUTPUT_ENCODING "output_encoding: {\"UTF-8\", \"UTF-16-BE\", \"UTF-32-BE\"}; "
const rheos__op_def rheos__op_UnicodeTranscode = {
    .name = "UnicodeTranscode",
    .signature =
        "input: string -> output: string; input_encoding: string; " OUTPUT_ENCODING ERROR_ATTRS
        "; replace_control_characters: bool = false",
    .doc = "Strings in one encoding written in another.",
    .shape = rheos__shape_unchanged,
    .prepare = prepare_transcode,
};

// ---- UnicodeEncode

static rheos_status *shape_encode(rheos__infer *c) {
  rheos_shape values, splits;
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &values));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &splits));
  if (splits.dims[0] == 0) return RHEOS_INVALID("Input_splits should contain elements");
  c->output_shapes[0] = RHEOS_SHAPE(splits.dims[0] < 0 ? -1 : splits.dims[0] - 1);
  return NULL;
}

static rheos_status *encode(const unicode_state *s, const int32_t *values, int64_t count,
                            rheos__text *text) {
  text->size = 0;
  for (int64_t i = 0; i < count; i++) {
    if (is_scalar_value(values[i])) {
      write_character(s, values[i], text);
    } else if (s->errors == STRICT) {
      return RHEOS_INVALID("Code point is out of range for Unicode, or is a surrogate.");
    } else if (s->errors == REPLACE) {
      write_character(s, s->replacement, text);
    }
  }
  return NULL;
}

static rheos_status *compute_encode(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const rheos_tensor *values = inputs[0], *splits = inputs[1];
  RHEOS_TRY(rheos__check_splits(splits, values->num_elements));
  const int64_t rows = rheos__num_rows(splits);
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &RHEOS_SHAPE(rows), &outputs[0]));
  rheos__text text = {0};
  rheos_status *status = NULL;
  for (int64_t row = 0; status == NULL && row < rows; row++) {
    const int64_t first = rheos__tensor_int_at(splits, row);
    const int64_t count = rheos__tensor_int_at(splits, row + 1) - first;
    status = encode(state, (const int32_t *)values->data + first, count, &text);
    if (status == NULL) status = rheos__set_text(outputs[0], row, &text);
  }
  rheos__text_deinit(&text);
  return status;
}

static rheos_status *prepare_encode(rheos__prepare *p) {
  unicode_state *s;
  RHEOS_TRY(new_state(p, &s));
  p->compute = compute_encode;
  return NULL;
}

const rheos__op_def rheos__op_UnicodeEncode = {
    .name = "UnicodeEncode",
    .signature =
        "input_values: int32, input_splits: Tsplits -> output: string; "
        "errors: {\"ignore\", \"replace\", \"strict\"} = \"replace\"; " OUTPUT_ENCODING
        "replacement_char: int = 65533; Tsplits: index = int64",
    .doc = "Each row of characters of a ragged matrix as a string.",
    .shape = shape_encode,
    .prepare = prepare_encode,
};

// ---- UnicodeScript

enum { NUM_RUNS = sizeof script_runs / sizeof *script_runs };

static int32_t script_of(int32_t character) {
  if (character < 0 || character > RHEOS__MAX_CODE_POINT) return -1;
  int32_t low = 0, high = NUM_RUNS;  // the run is in [low, high)
  while (high - low > 1) {
    const int32_t middle = low + (high - low) / 2;
    if ((uint32_t)character < script_runs[middle].first) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return script_runs[low].script;
}

static rheos_status *run_script(const void *state, const void *const *inputs, void *const *outputs,
                                void *scratch, int64_t first, int64_t last) {
  (void)scratch, (void)first, (void)last;
  const rheos__operands *o = state;
  const int64_t count = rheos_shape_num_elements(&o->input_shapes[0]);
  const int32_t *characters = inputs[0];
  int32_t *scripts = outputs[0];
  for (int64_t i = 0; i < count; i++) scripts[i] = script_of(characters[i]);
  return NULL;
}

static rheos_status *prepare_script(rheos__prepare *p) {
  return rheos__answer_run_operands(p, run_script, 1);
}

const rheos__op_def rheos__op_UnicodeScript = {
    .name = "UnicodeScript",
    .signature = "input: int32 -> output: int32",
    .doc = "The number of the script that each character is written in; -1 for what is none.",
    .shape = rheos__shape_unchanged,
    .prepare = prepare_script,
};
