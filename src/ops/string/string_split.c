// Strings taken apart: the parts come as the indices, values and shape of a sparse matrix.
#include <string.h>

#include "ops/kit/polling.h"
#include "ops/kit/string_util.h"

enum { PARTS_BETWEEN_POLLS = 1 << 14 };

static rheos_status *shape_split(rheos__infer *c) {
  rheos_shape unused;
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &unused));
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &unused));
  c->output_shapes[0] = RHEOS_SHAPE(-1, 2);
  c->output_shapes[1] = RHEOS_SHAPE(-1);
  c->output_shapes[2] = RHEOS_SHAPE(2);
  return NULL;
}

// The parts found so far, as places in the strings they are parts of.
typedef struct part {
  int64_t row, column;
  rheos_string text;
} part;

typedef struct parts {
  part *items;
  size_t capacity, count;
  int64_t row, columns, most_columns;
  int64_t since_poll;
  bool failed, stopped;
} parts;

static void add_part(parts *p, const char *data, const char *end) {
  if (p->stopped || p->failed || !RHEOS_RESERVE(p->items, p->capacity, p->count + 1)) {
    p->failed = !p->stopped;
    return;
  }
  p->stopped = rheos__stops_after(&p->since_poll, 1, PARTS_BETWEEN_POLLS);
  const rheos_string text = rheos__borrow_string(data, (size_t)(end - data));
  p->items[p->count++] = (part){p->row, p->columns++, text};
  if (p->columns > p->most_columns) p->most_columns = p->columns;
}

static rheos_status *give_parts(const parts *p, int64_t num_rows, rheos_tensor **outputs) {
  if (p->stopped) return rheos__stopped();
  if (p->failed) return rheos__out_of_memory();
  const int64_t count = (int64_t)p->count;
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(count, 2), &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &RHEOS_SHAPE(count), &outputs[1]));
  const int64_t dims[] = {num_rows, p->most_columns};
  RHEOS_TRY(rheos_tensor_from_values(RHEOS_INT64, RHEOS_SHAPE(2), dims, &outputs[2]));
  int64_t *indices = outputs[0]->data, since = 0;
  for (int64_t i = 0; i < count; i++) {
    if (rheos__stops_after(&since, 1, PARTS_BETWEEN_POLLS)) return rheos__stopped();
    const part *item = &p->items[i];
    indices[2 * i] = item->row;
    indices[2 * i + 1] = item->column;
    RHEOS_TRY(rheos_tensor_set_string(outputs[1], i, item->text.data, item->text.size_bytes));
  }
  return NULL;
}

typedef struct split_state split_state;
struct split_state {
  void (*split)(const split_state *state, const rheos_string *in, const rheos_string *separator,
                parts *p);
  const char *separator_name;
  bool skip_empty;
  int64_t max_split;
};

static rheos_status *compute_split(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step;
  const split_state *state = argument;
  const rheos_string *separator, *strings = inputs[0]->data;
  RHEOS_TRY(rheos__string_scalar(inputs[1], state->separator_name, &separator));
  parts p = {0};
  for (p.row = 0; p.row < inputs[0]->num_elements && !p.failed && !p.stopped; p.row++) {
    p.columns = 0;
    state->split(state, &strings[p.row], separator, &p);
  }
  rheos_status *status = give_parts(&p, inputs[0]->num_elements, outputs);
  rheos__free(p.items);
  return status;
}

// ---- StringSplit: at each byte that the delimiter holds; without one, every byte is a part

static void split_at_any(const split_state *state, const rheos_string *in,
                         const rheos_string *delimiter, parts *p) {
  if (in->size_bytes == 0) return;  // no parts, not even an empty one
  const char *start = in->data, *end = in->data + in->size_bytes;
  if (delimiter->size_bytes == 0) {
    for (; start < end; start++) add_part(p, start, start + 1);
    return;
  }
  for (const char *at = start; at <= end; at++) {
    if (at < end && memchr(delimiter->data, *at, delimiter->size_bytes) == NULL) continue;
    if (at > start || !state->skip_empty) add_part(p, start, at);
    start = at + 1;
  }
}

static rheos_status *prepare_split(rheos__prepare *p) {
  split_state *state = RHEOS_NEW_STATE(p, split_state);
  if (state == NULL) return rheos__out_of_memory();
  state->split = split_at_any;
  state->separator_name = "delimiter";
  state->skip_empty = rheos__attr_bool(p->attrs, "skip_empty");
  p->compute = compute_split;
  return NULL;
}

// ---- StringSplitV2: as Python's str.split

// After the last cut that is allowed, the rest is a part even if it is empty.
static void split_at_spaces(const split_state *state, const char *at, const char *end, parts *p) {
  while (at < end && rheos__is_space(*at)) at++;
  for (int64_t splits = 1; at < end; splits++) {
    const char *start = at;
    while (at < end && !rheos__is_space(*at)) at++;
    add_part(p, start, at);
    while (at < end && rheos__is_space(*at)) at++;
    if (splits == state->max_split) {
      add_part(p, at, end);
      return;
    }
  }
}

static void split_at_text(const split_state *state, const rheos_string *in,
                          const rheos_string *separator, parts *p) {
  const char *start = in->size_bytes > 0 ? in->data : "", *end = start + in->size_bytes;
  if (state->max_split == 0) {
    add_part(p, start, end);
    return;
  }
  if (separator->size_bytes == 0) {
    split_at_spaces(state, start, end, p);
    return;
  }
  for (int64_t splits = 0; state->max_split < 0 || splits < state->max_split; splits++) {
    const char *at = memmem(start, (size_t)(end - start), separator->data, separator->size_bytes);
    if (at == NULL) break;
    add_part(p, start, at);
    start = at + separator->size_bytes;
  }
  add_part(p, start, end);
}

static rheos_status *prepare_split_v2(rheos__prepare *p) {
  split_state *state = RHEOS_NEW_STATE(p, split_state);
  if (state == NULL) return rheos__out_of_memory();
  state->split = split_at_text;
  state->separator_name = "sep";
  state->max_split = rheos__attr_int(p->attrs, "maxsplit");
  p->compute = compute_split;
  return NULL;
}

// ---- Definitions

const rheos__op_def rheos__op_StringSplit = {
    .name = "StringSplit",
    .signature =
        "input: string, delimiter: string -> indices: int64, values: string, shape: int64; "
        "skip_empty: bool = true",
    .doc = "The parts of each string between bytes that are in `delimiter`, as a sparse matrix.",
    .shape = shape_split,
    .gradient = rheos__no_gradient,
    .prepare = prepare_split,
};

const rheos__op_def rheos__op_StringSplitV2 = {
    .name = "StringSplitV2",
    .signature =
        "input: string, sep: string -> indices: int64, values: string, shape: int64; "
        "maxsplit: int = -1",
    .doc =
        "The parts of each string between `sep` (white space if it is empty), as a sparse matrix; "
        "at "
        "most `maxsplit` cuts.",
    .shape = shape_split,
    .gradient = rheos__no_gradient,
    .prepare = prepare_split_v2,
};
