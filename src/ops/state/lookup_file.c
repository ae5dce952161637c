// Lookup tables filled from text files: a vocabulary with a word a line, or columns.
#include <string.h>

#include "base/file.h"
#include "ops/kit/array_util.h"
#include "ops/kit/string_util.h"
#include "ops/state/lookup_util.h"

enum { WHOLE_LINE = -2, LINE_NUMBER = -1 };
static const size_t MAX_FILE_BYTES = (size_t)1 << 40;

typedef struct file_state {
  rheos__table *table;
  int64_t key_index, value_index, vocab_size, offset;
  char delimiter;
} file_state;

// Keys or values being read.
typedef struct column {
  int64_t index;
  rheos_tensor *tensor;
} column;

// ---- A line

// Part `index` of the line between delimiters; false if it has fewer parts.
static bool part_of(const rheos_string *line, char delimiter, int64_t index, rheos_string *out) {
  const char *at = line->data, *end = at + line->size_bytes;
  for (; index > 0; index--) {
    at = at < end ? memchr(at, delimiter, (size_t)(end - at)) : NULL;
    if (at == NULL) return false;
    at++;
  }
  const char *stop = at < end ? memchr(at, delimiter, (size_t)(end - at)) : NULL;
  if (stop == NULL) stop = end;
  *out = rheos__borrow_string(at, (size_t)(stop - at));
  return true;
}

static int64_t count_parts(const rheos_string *line, char delimiter) {
  int64_t count = 1;
  for (size_t i = 0; i < line->size_bytes; i++) count += line->data[i] == delimiter;
  return count;
}

static int excerpt(const rheos_string *text) {
  return (int)(text->size_bytes < 200 ? text->size_bytes : 200);
}

static rheos_status *set_field(const file_state *state, const column *c, int64_t row,
                               const rheos_string *line, const char *path) {
  const rheos_dtype dtype = c->tensor->dtype;
  if (c->index == LINE_NUMBER) {
    ((int64_t *)c->tensor->data)[row] = (int64_t)((uint64_t)row + (uint64_t)state->offset);
    return NULL;
  }
  rheos_string field = *line;
  if (c->index >= 0 && !part_of(line, state->delimiter, c->index, &field)) {
    return RHEOS_INVALID(
        "Invalid number of columns in %s line %lld (%.*s) : expected at least "
        "%llu got %lld",
        path, (long long)row, excerpt(line), line->data, (unsigned long long)c->index + 1,
        (long long)count_parts(line, state->delimiter));
  }
  if (dtype == RHEOS_STRING) {
    return rheos_tensor_set_string(c->tensor, row, field.data, field.size_bytes);
  }
  char *to = (char *)c->tensor->data + (size_t)row * rheos_dtype_size(dtype);
  if (rheos__parse_number(&field, dtype, to)) return NULL;
  return RHEOS_INVALID("Field %.*s in line %lld is not a valid %s.", excerpt(&field), field.data,
                       (long long)row, rheos_dtype_name(dtype));
}

// ---- The file

// The line at `*at`, which moves behind it; without its end, which may be "\r\n". False at the end.
static bool next_line(const char **at, const char *end, rheos_string *out_line) {
  if (*at == end) return false;
  const char *stop = memchr(*at, '\n', (size_t)(end - *at));
  if (stop == NULL) stop = end;
  const char *behind = stop;
  if (stop > *at && stop[-1] == '\r') behind--;
  *out_line = rheos__borrow_string(*at, (size_t)(behind - *at));
  *at = stop < end ? stop + 1 : end;
  return true;
}

static rheos_status *count_lines(const file_state *state, const char *path, const char *data,
                                 size_t size_bytes, int64_t *out_count) {
  const char *at = data;
  rheos_string line;
  int64_t count = 0;
  while ((state->vocab_size < 0 || count < state->vocab_size) &&
         next_line(&at, data + size_bytes, &line)) {
    count++;
  }
  *out_count = count;
  if (count == 0) {
    return rheos_status_new(RHEOS_OUT_OF_RANGE, "Finished reading 0 of lines from %s", path);
  }
  if (state->vocab_size >= 0 && count != state->vocab_size) {
    return RHEOS_INVALID("Invalid vocab_size in %s: expected %lld but got %lld", path,
                         (long long)state->vocab_size, (long long)count);
  }
  return NULL;
}

static rheos_status *read_columns(const file_state *state, const char *path, const char *data,
                                  size_t size_bytes, column columns[2]) {
  const rheos__table_spec *spec = rheos__table_spec_of(state->table);
  int64_t count;
  RHEOS_TRY(count_lines(state, path, data, size_bytes, &count));
  RHEOS_TRY(rheos__tensor_new(spec->key_dtype, &RHEOS_SHAPE(count), &columns[0].tensor));
  RHEOS_TRY(rheos__tensor_new(spec->value_dtype, &RHEOS_SHAPE(count), &columns[1].tensor));
  const char *at = data;
  rheos_string line;
  for (int64_t row = 0; row < count && next_line(&at, data + size_bytes, &line); row++) {
    if (line.size_bytes == 0) {
      return RHEOS_INVALID("Invalid content in %s: empty line found at position %lld", path,
                           (long long)(at - data));
    }
    for (int k = 0; k < 2; k++) RHEOS_TRY(set_field(state, &columns[k], row, &line, path));
  }
  return NULL;
}

static rheos_status *fill_table(const file_state *state, const char *path) {
  char *data;
  size_t size_bytes;
  RHEOS_TRY(rheos__file_read_all(path, MAX_FILE_BYTES, &data, &size_bytes));
  column columns[2] = {{state->key_index, NULL}, {state->value_index, NULL}};
  rheos_status *status = read_columns(state, path, data, size_bytes, columns);
  rheos__free(data);
  if (status == NULL) {
    status = rheos__table_initialize(state->table, columns[0].tensor, columns[1].tensor,
                                     rheos__is_stopping);
  }
  for (int k = 0; k < 2; k++) rheos_tensor_unref(columns[k].tensor);
  return status;
}

static rheos_status *compute_file(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)step, (void)outputs;
  if (inputs[1]->num_elements != 1) return RHEOS_INVALID("filename should be a single string");
  char *path;
  RHEOS_TRY(rheos__string_path(inputs[1]->data, &path));
  rheos_status *status = fill_table(state, path);
  rheos__free(path);
  return status;
}

// ---- The ops

static rheos_status *check_column(const char *what, int64_t index, rheos_dtype dtype) {
  if (index == LINE_NUMBER && dtype != RHEOS_INT64) {
    return RHEOS_INVALID("%s index for line number requires table %s dtype of int64, got %s", what,
                         what, rheos_dtype_name(dtype));
  }
  const bool readable = dtype == RHEOS_STRING || dtype == RHEOS_INT32 || dtype == RHEOS_INT64 ||
                        dtype == RHEOS_FLOAT || dtype == RHEOS_DOUBLE || dtype == RHEOS_UINT32 ||
                        dtype == RHEOS_UINT64;
  if (readable) return NULL;
  return RHEOS_INVALID("%s dtype %s cannot be read from a text file", what,
                       rheos_dtype_name(dtype));
}

static rheos_status *prepare_file(rheos__prepare *p) {
  file_state *state = RHEOS_NEW_STATE(p, file_state);
  if (state == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__table_of(p, &state->table));
  const rheos_attr_value *delimiter = rheos__attrs_find(p->attrs, "delimiter");
  if (delimiter->s.size_bytes != 1) return RHEOS_INVALID("delimiter should be only 1 char");
  state->delimiter = delimiter->s.data[0];
  state->key_index = rheos__attr_int(p->attrs, "key_index");
  state->value_index = rheos__attr_int(p->attrs, "value_index");
  state->vocab_size = rheos__attr_int(p->attrs, "vocab_size");
  state->offset = rheos__attr_int(p->attrs, "offset");
  const rheos__table_spec *spec = rheos__table_spec_of(state->table);
  RHEOS_TRY(check_column("Key", state->key_index, spec->key_dtype));
  RHEOS_TRY(check_column("Value", state->value_index, spec->value_dtype));
  p->compute = compute_file;
  return NULL;
}

static rheos_status *shape_file(rheos__infer *c) {
  rheos_shape unused;
  RHEOS_TRY(rheos__infer_handle(c, 0));
  return rheos__infer_rank(c, 1, 0, &unused);
}

#define FROM_FILE(op_name, handle)                                                                \
  const rheos__op_def rheos__op_##op_name = {                                                     \
      .name = #op_name,                                                                           \
      .signature = "table_handle: " handle                                                        \
                   ", filename: string ->; key_index: int >= -2; "                                \
                   "value_index: int >= -2; vocab_size: int >= -1 = -1; "                         \
                   "delimiter: string = \"\\t\"; offset: int = 0",                                \
      .doc =                                                                                      \
          "Fills a HashTable from the lines of a text file: a column, the line's number (-1) or " \
          "the whole line (-2) as key and as value.",                                             \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES | RHEOS_OP_USES_FILES,                         \
      .shape = shape_file,                                                                        \
      .gradient = rheos__no_gradient,                                                             \
      .prepare = prepare_file,                                                                    \
  };
FROM_FILE(InitializeTableFromTextFile, "Ref(string)")
FROM_FILE(InitializeTableFromTextFileV2, "resource")
