#include "ops/row_parts.h"

#include <string.h>

#include "ops/array_util.h"
#include "ops/op_util.h"

// One part of a row: `bytes` at `offset`.
typedef struct piece {
  int64_t elements, offset;
  int32_t index;  // of the input or output
} piece;

typedef struct rows {
  rheos_dtype dtype;
  int64_t num_rows, row_elements;
  int32_t num_pieces;
  int32_t data_input;  // what is taken apart
  piece pieces[];
} rows;

enum { TARGET_BYTES = 65536 };

// So many rows make one unit of work.
static int64_t rows_of_unit(const rows *r) {
  int64_t bytes = r->row_elements * (int64_t)rheos_dtype_size(r->dtype);
  if (bytes <= 0) return TARGET_BYTES;
  return bytes >= TARGET_BYTES ? 1 : TARGET_BYTES / bytes;
}

static rheos_status *answer_rows(rheos__prepare *p, rows *r, rheos__run_fn run) {
  p->state = r;
  int64_t per_unit = rows_of_unit(r);
  return rheos__answer_run(p, run, (r->num_rows + per_unit - 1) / per_unit);
}

// Walks the pieces of the rows in some units; `joining` copies them into output 0, else out of the
// input `data_input`.
static rheos_status *copy_rows(const rows *r, bool joining, const void *const *inputs,
                               void *const *outputs, int64_t first_unit, int64_t last_unit) {
  int64_t per_unit = rows_of_unit(r), size = (int64_t)rheos_dtype_size(r->dtype);
  int64_t last = last_unit * per_unit < r->num_rows ? last_unit * per_unit : r->num_rows;
  for (int64_t row = first_unit * per_unit; row < last; ++row) {
    for (int32_t i = 0; i < r->num_pieces; ++i) {
      const piece *q = &r->pieces[i];
      int64_t whole = (row * r->row_elements + q->offset) * size;
      int64_t part = row * q->elements * size;
      const char *from =
          joining ? (const char *)inputs[q->index] + part : (const char *)inputs[r->data_input] + whole;
      char *to = joining ? (char *)outputs[0] + whole : (char *)outputs[q->index] + part;
      if (r->dtype != RHEOS_STRING) {
        memcpy(to, from, (size_t)(q->elements * size));
      } else {
        RHEOS_TRY(rheos__copy_elements(r->dtype, to, from, q->elements));
      }
    }
  }
  return NULL;
}

static rheos_status *run_join(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  return copy_rows(state, true, inputs, outputs, first_unit, last_unit);
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
  return copy_rows(state, false, inputs, outputs, first_unit, last_unit);
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
