#include "ops/kit/row_parts.h"

#include <assert.h>
#include <string.h>

#include "base/numbers.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

// One part of a row: `bytes` at `offset`.
typedef struct piece {
  int64_t elements, offset;
  int32_t index;  // of the input or output
} piece;

typedef struct rows {
  rheos_dtype dtype;
  int64_t num_rows, row_elements;
  int64_t unit_rows;                   // units are so many rows,
  int64_t row_slices, slice_elements;  // or, where one is long, slices of one
  int32_t num_pieces;
  int32_t data_input;  // what is taken apart
  piece pieces[];
} rows;

enum { TARGET_BYTES = 65536 };

static int64_t parts(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

static rheos_status *answer_rows(rheos__prepare *p, rows *r, rheos__run_fn run) {
  const int64_t size = rheos__max((int64_t)rheos_dtype_size(r->dtype), 1);
  p->state = r;
  r->unit_rows = rheos__max(TARGET_BYTES / size / rheos__max(r->row_elements, 1), 1);
  r->slice_elements = rheos__max(rheos__min(r->row_elements, TARGET_BYTES / size), 1);
  r->row_slices = rheos__max(parts(r->row_elements, r->slice_elements), 1);
  assert(r->row_slices == 1 || r->unit_rows == 1);  // whole rows, or slices of one
  return rheos__answer_run(p, run, parts(r->num_rows, r->unit_rows) * r->row_slices);
}

// What elements are moved between.
typedef struct ends {
  bool joining;  // into output 0, else out of the input `data_input`
  const void *const *inputs;
  void *const *outputs;
} ends;

// The elements [first, last) of a row, piece by piece.
static rheos_status *copy_part(const rows *r, const ends *e, int64_t row, int64_t first,
                               int64_t last) {
  const int64_t size = (int64_t)rheos_dtype_size(r->dtype);
  for (int32_t i = 0; i < r->num_pieces; ++i) {
    const piece *q = &r->pieces[i];
    const int64_t from = rheos__max(first, q->offset),
                  to = rheos__min(last, q->offset + q->elements);
    if (from >= to) continue;
    const int64_t whole = (row * r->row_elements + from) * size;
    const int64_t part = (row * q->elements + from - q->offset) * size;
    const char *source = e->joining ? (const char *)e->inputs[q->index] + part
                                    : (const char *)e->inputs[r->data_input] + whole;
    char *result = e->joining ? (char *)e->outputs[0] + whole : (char *)e->outputs[q->index] + part;
    if (r->dtype != RHEOS_STRING) {
      memcpy(result, source, (size_t)((to - from) * size));
    } else {
      RHEOS_TRY(rheos__copy_elements(r->dtype, result, source, to - from));
    }
  }
  return NULL;
}

static rheos_status *copy_rows(const rows *r, const ends *e, int64_t first_unit,
                               int64_t last_unit) {
  if (r->row_slices == 1) {
    const int64_t last = rheos__min(last_unit * r->unit_rows, r->num_rows);
    for (int64_t row = first_unit * r->unit_rows; row < last; ++row) {
      RHEOS_TRY(copy_part(r, e, row, 0, r->row_elements));
    }
    return NULL;
  }
  for (int64_t unit = first_unit; unit < last_unit;) {
    const int64_t row = unit / r->row_slices, slice = unit % r->row_slices;
    const int64_t end = rheos__min(r->row_slices, slice + last_unit - unit);
    RHEOS_TRY(copy_part(r, e, row, slice * r->slice_elements,
                        rheos__min(end * r->slice_elements, r->row_elements)));
    unit += end - slice;
  }
  return NULL;
}

static rheos_status *run_join(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  return copy_rows(state, &(ends){true, inputs, outputs}, first_unit, last_unit);
}

static rows *rows_new(rheos__prepare *p, int32_t capacity) {
  return rheos__arena_alloc_zeroed(p->arena, sizeof(rows) + (size_t)capacity * sizeof(piece));
}

// Adds a piece behind the others; empty ones are left out.
static void rows_add(rows *r, int32_t index, int64_t elements) {
  if (elements > 0) r->pieces[r->num_pieces++] = (piece){elements, r->row_elements, index};
  r->row_elements += elements;
}

rheos_status *rheos__prepare_join(rheos__prepare *p, int32_t first, int32_t count, int32_t axis) {
  rows *r = rows_new(p, count);
  if (r == NULL) return rheos__out_of_memory();
  r->dtype = p->output_dtypes[0];
  r->num_rows = rheos__shape_product(&p->output_shapes[0], 0, axis);
  for (int32_t i = first; i < first + count; ++i) {
    const rheos_shape *shape = &p->input_shapes[i];
    rows_add(r, i, rheos__shape_product(shape, axis, shape->rank));
  }
  return answer_rows(p, r, run_join);
}

static rheos_status *run_take_apart(const void *state, const void *const *inputs,
                                    void *const *outputs, void *scratch, int64_t first_unit,
                                    int64_t last_unit) {
  (void)scratch;
  return copy_rows(state, &(ends){false, inputs, outputs}, first_unit, last_unit);
}

rheos_status *rheos__prepare_take_apart(rheos__prepare *p, int32_t input, int32_t axis) {
  const rheos_shape *in = &p->input_shapes[input];
  rows *r = rows_new(p, p->num_outputs);
  if (r == NULL) return rheos__out_of_memory();
  r->data_input = input;
  r->dtype = p->output_dtypes[0];
  r->num_rows = rheos_shape_num_elements(in) == 0 ? 0 : rheos__shape_product(in, 0, axis);
  for (int32_t i = 0; i < p->num_outputs; ++i) {
    rows_add(r, i, rheos__shape_product(&p->output_shapes[i], axis, p->output_shapes[i].rank));
  }
  if (r->num_rows > 0 && r->row_elements != rheos__shape_product(in, axis, in->rank)) {
    return RHEOS_INVALID("the parts do not add up to the input");
  }
  return answer_rows(p, r, run_take_apart);
}
