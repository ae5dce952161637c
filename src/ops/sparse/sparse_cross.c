// SparseCross, SparseCrossV2, RaggedCross: for each row of a batch, every combination of one
// value of each column, as a string or as a hash. Sparse columns come first, then dense ones,
// unless an attribute says the order; the last column varies fastest.
#include <stdio.h>
#include <string.h>

#include "base/fingerprint.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/string_util.h"
#include "ops/ragged/ragged.h"

// A column: a row of it is [first, last) of the values. Of a sparse one the rows are found in the
// order of its indices, so that rows without values cost nothing.
typedef struct column {
  const rheos_tensor *values;
  const rheos_tensor *splits;  // of a ragged column, else NULL
  const int64_t *indices;      // of a sparse one (count, 2); NULL: `width` values a row
  int64_t width, first, last;
} column;

typedef struct cross {
  bool hashed;  // else joined strings
  bool ragged;  // the rows of the result are told by splits, else by indices
  int64_t rows, num_columns;
  column *columns;
  const rheos_string *separator;
  uint64_t key, num_buckets;
} cross;

// ---- Columns

static rheos_status *check_rows(cross *c, int64_t rows) {
  if (c->rows < 0) c->rows = rows;
  if (rows >= 0 && rows == c->rows) return NULL;
  return RHEOS_INVALID("Expected batch size %lld, got %lld", (long long)c->rows, (long long)rows);
}

static rheos_status *sparse_column(cross *c, column *col, const rheos_tensor *indices,
                                   const rheos_tensor *values, const rheos_tensor *shape) {
  if (indices->shape.rank != 2 || indices->shape.dims[1] != 2) {
    rheos__shape_text text;
    return RHEOS_INVALID("Input indices should be a matrix of two columns but received shape %s",
                         rheos__shape_text_of(&indices->shape, &text));
  }
  if (values->shape.rank != 1 || values->num_elements != indices->shape.dims[0]) {
    return RHEOS_INVALID("Expected size of values to be %lld, got %lld",
                         (long long)indices->shape.dims[0], (long long)values->num_elements);
  }
  if (shape->shape.rank != 1 || shape->num_elements != 2) {
    return RHEOS_INVALID("Input shapes should have two elements, got %lld",
                         (long long)shape->num_elements);
  }
  const int64_t *places = indices->data, rows = rheos__tensor_int_at(shape, 0);
  RHEOS_TRY(check_rows(c, rows));
  for (int64_t i = 0; i < values->num_elements; i++) {
    const int64_t row = places[2 * i];
    if (row < 0 || row >= rows || (i > 0 && row < places[2 * i - 2])) {
      return RHEOS_INVALID("index %lld of row %lld is out of order or not in [0, %lld)",
                           (long long)row, (long long)i, (long long)rows);
    }
  }
  *col = (column){.values = values, .indices = places};
  return NULL;
}

static rheos_status *dense_column(cross *c, column *col, const rheos_tensor *values) {
  if (values->shape.rank != 2) {
    rheos__shape_text text;
    return RHEOS_INVALID("Dense inputs should be a matrix but received shape %s",
                         rheos__shape_text_of(&values->shape, &text));
  }
  *col = (column){.values = values, .width = values->shape.dims[1]};
  return check_rows(c, values->shape.dims[0]);
}

static rheos_status *ragged_column(cross *c, column *col, const rheos_tensor *values,
                                   const rheos_tensor *splits) {
  if (values->shape.rank != 1) {
    rheos__shape_text text;
    return RHEOS_INVALID("the values of a ragged column should be a vector, got shape %s",
                         rheos__shape_text_of(&values->shape, &text));
  }
  RHEOS_TRY(rheos__check_splits(splits, values->num_elements));
  *col = (column){.values = values, .splits = splits};
  return check_rows(c, rheos__num_rows(splits));
}

static rheos_status *read_columns(cross *c, rheos_tensor *const *inputs, int64_t num_sparse) {
  for (int64_t i = 0; i < num_sparse; i++) {
    RHEOS_TRY(sparse_column(c, &c->columns[i], inputs[i], inputs[num_sparse + i],
                            inputs[2 * num_sparse + i]));
  }
  for (int64_t i = num_sparse; i < c->num_columns; i++) {
    RHEOS_TRY(dense_column(c, &c->columns[i], inputs[2 * num_sparse + i]));
  }
  return NULL;
}

// ---- Combinations

static void enter_row(column *col, int64_t b) {
  if (col->splits != NULL) {
    col->first = rheos__tensor_int_at(col->splits, b);
    col->last = rheos__tensor_int_at(col->splits, b + 1);
    return;
  }
  if (col->indices == NULL) {
    col->first = b * col->width;
    col->last = col->first + col->width;
    return;
  }
  const int64_t count = col->values->num_elements;
  while (col->last < count && col->indices[2 * col->last] < b) col->last++;
  col->first = col->last;
  while (col->last < count && col->indices[2 * col->last] == b) col->last++;
}

// Moves all columns to row b, behind the one before, and counts its combinations.
static rheos_status *enter(const cross *c, int64_t b, int64_t *out_count) {
  *out_count = 1;
  for (int64_t k = 0; k < c->num_columns; k++) {
    enter_row(&c->columns[k], b);
    const int64_t count = c->columns[k].last - c->columns[k].first;
    if (__builtin_mul_overflow(*out_count, count, out_count)) {
      return RHEOS_INVALID("row %lld has too many combinations", (long long)b);
    }
  }
  return NULL;
}

// Back to the start; the first row that may have combinations, and the next one after row b.
static int64_t row_after(const cross *c, int64_t b) {
  const column *lead = &c->columns[0];
  if (lead->indices == NULL || c->ragged) return b + 1;
  return lead->last < lead->values->num_elements ? lead->indices[2 * lead->last] : c->rows;
}
static int64_t first_row(const cross *c) {
  for (int64_t k = 0; k < c->num_columns; k++) {
    c->columns[k].first = c->columns[k].last = 0;
    if (!c->ragged && c->columns[k].indices == NULL && c->columns[k].width == 0) return c->rows;
  }
  return row_after(c, -1);
}

// The value of column k that combination `number` of the row has.
static int64_t value_at(const column *col, int64_t *number) {
  const int64_t count = col->last - col->first, at = col->first + *number % count;
  *number /= count;
  return at;
}

static uint64_t shift_mix(uint64_t x) { return x ^ (x >> 47); }

// FarmHash's way to join two fingerprints.
static uint64_t joined_hash(uint64_t a, uint64_t b) {
  const uint64_t factor = UINT64_C(0xc6a4a7935bd1e995);
  uint64_t hash = (a ^ factor) ^ (shift_mix(b * factor) * factor);
  hash *= factor;
  hash = shift_mix(hash) * factor;
  return shift_mix(hash);
}

static uint64_t hash_at(const rheos_tensor *values, int64_t at) {
  if (values->dtype != RHEOS_STRING) return (uint64_t)((const int64_t *)values->data)[at];
  const rheos_string *s = (const rheos_string *)values->data + at;
  return rheos__fingerprint(s->data, s->size_bytes);
}

// `places` holds the place of the value of each column.
static int64_t hashed(const cross *c, const int64_t *places) {
  uint64_t hash = c->key;
  for (int64_t k = 0; k < c->num_columns; k++) {
    hash = joined_hash(hash, hash_at(c->columns[k].values, places[k]));
  }
  return (int64_t)(hash % (c->num_buckets > 0 ? c->num_buckets : (uint64_t)INT64_MAX));
}

static rheos_status *set_joined(const cross *c, const int64_t *places, rheos_tensor *out,
                                int64_t index) {
  rheos__text text = {0};
  for (int64_t k = 0; k < c->num_columns; k++) {
    const rheos_tensor *values = c->columns[k].values;
    if (k > 0) rheos__text_add(&text, c->separator->data, c->separator->size_bytes);
    if (values->dtype == RHEOS_STRING) {
      const rheos_string *s = (const rheos_string *)values->data + places[k];
      rheos__text_add(&text, s->data, s->size_bytes);
    } else {
      char number[32];
      const int length = snprintf(number, sizeof number, "%lld",
                                  (long long)((const int64_t *)values->data)[places[k]]);
      rheos__text_add(&text, number, (size_t)length);
    }
  }
  rheos_status *status = rheos__set_text(out, index, &text);
  rheos__text_deinit(&text);
  return status;
}

// rows: the indices of the values, or the splits.
static rheos_status *fill(const cross *c, rheos__step *step, int64_t *places, rheos_tensor *rows,
                          rheos_tensor *values) {
  int64_t *indices = rows->data, done = 0;
  if (c->ragged) rheos__set_int(rows->dtype, rows->data, 0, 0);
  for (int64_t b = first_row(c); b < c->rows; b = row_after(c, b)) {
    int64_t count = 0;
    RHEOS_TRY(enter(c, b, &count));
    if (rheos__step_should_stop(step)) return rheos_status_new(RHEOS_CANCELLED, "stopped");
    for (int64_t i = 0; i < count; i++, done++) {
      int64_t number = i;
      for (int64_t k = c->num_columns - 1; k >= 0; k--) {
        places[k] = value_at(&c->columns[k], &number);
      }
      if (!c->ragged) {
        indices[2 * done] = b;
        indices[2 * done + 1] = i;
      }
      if (c->hashed) {
        ((int64_t *)values->data)[done] = hashed(c, places);
      } else {
        RHEOS_TRY(set_joined(c, places, values, done));
      }
    }
    if (c->ragged) rheos__set_int(rows->dtype, rows->data, b + 1, done);
  }
  return NULL;
}

// How many combinations there are, and of how many are those of the row that has most.
static rheos_status *count_all(const cross *c, int64_t *out_total, int64_t *out_most) {
  *out_total = *out_most = 0;
  for (int64_t b = first_row(c); b < c->rows; b = row_after(c, b)) {
    int64_t count = 0;
    RHEOS_TRY(enter(c, b, &count));
    if (count > *out_most) *out_most = count;
    if (__builtin_add_overflow(*out_total, count, out_total)) {
      return RHEOS_INVALID("the batch has too many combinations");
    }
  }
  return NULL;
}

static rheos_status *fill_all(const cross *c, rheos__step *step, rheos_tensor *rows,
                              rheos_tensor *values) {
  int64_t *places = rheos__alloc_array((size_t)c->num_columns + 1, sizeof *places);
  if (places == NULL) return rheos__out_of_memory();
  rheos_status *status = fill(c, step, places, rows, values);
  rheos__free(places);
  return status;
}

static rheos_status *make(const cross *c, rheos__step *step, rheos_tensor **outputs) {
  int64_t total, most;
  RHEOS_TRY(count_all(c, &total, &most));
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(total, 2), &outputs[0]));
  RHEOS_TRY(
      rheos__tensor_new(c->hashed ? RHEOS_INT64 : RHEOS_STRING, &RHEOS_SHAPE(total), &outputs[1]));
  const int64_t shape[] = {c->rows, most};
  RHEOS_TRY(rheos_tensor_from_values(RHEOS_INT64, RHEOS_SHAPE(2), shape, &outputs[2]));
  return fill_all(c, step, outputs[0], outputs[1]);
}

static rheos_status *make_ragged(const cross *c, rheos__step *step, rheos_dtype splits_dtype,
                                 rheos_tensor **outputs) {
  int64_t total, most;
  RHEOS_TRY(count_all(c, &total, &most));
  if (splits_dtype == RHEOS_INT32 && total > INT32_MAX) {
    return RHEOS_INVALID("%lld combinations are too many for splits of int32", (long long)total);
  }
  RHEOS_TRY(
      rheos__tensor_new(c->hashed ? RHEOS_INT64 : RHEOS_STRING, &RHEOS_SHAPE(total), &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(splits_dtype, &RHEOS_SHAPE(c->rows + 1), &outputs[1]));
  return fill_all(c, step, outputs[1], outputs[0]);
}

// ---- The kernels

static char old_text[] = "_X_";
static const rheos_string old_separator = {old_text, 3};

// What follows the columns, from input `at` on, or the attributes.
static rheos_status *read_settings(const rheos__operands *o, rheos_tensor *const *inputs,
                                   int32_t at, cross *c) {
  c->separator = &old_separator;
  if (at < o->num_inputs) return rheos__string_scalar(inputs[at], "sep", &c->separator);
  c->hashed = rheos__attr_bool(o->attrs, "hashed_output");
  c->key = (uint64_t)rheos__attr_int(o->attrs, "hash_key");
  c->num_buckets = (uint64_t)rheos__attr_int(o->attrs, "num_buckets");
  return NULL;
}

static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  const rheos__operands *o = state;
  const int64_t num_sparse = rheos__attr_int(o->attrs, "N");
  const int64_t num_dense = rheos__attrs_find(o->attrs, "dense_types")->count;
  cross c = {.rows = -1, .num_columns = num_sparse + num_dense};
  RHEOS_TRY(read_settings(o, inputs, (int32_t)(3 * num_sparse + num_dense), &c));
  if (c.num_columns == 0) return RHEOS_INVALID("there are no columns to cross");
  c.columns = rheos__alloc_zeroed((size_t)c.num_columns * sizeof *c.columns);
  if (c.columns == NULL) return rheos__out_of_memory();
  rheos_status *status = read_columns(&c, inputs, num_sparse);
  if (status == NULL) status = make(&c, step, outputs);
  rheos__free(c.columns);
  return status;
}

static rheos_status *prepare(rheos__prepare *p) {
  const rheos_attr_value *out_type = rheos__attrs_find(p->attrs, "out_type");
  const bool hashed = out_type != NULL && rheos__attr_bool(p->attrs, "hashed_output");
  if (out_type != NULL && (p->output_dtypes[1] == RHEOS_INT64) != hashed) {
    return RHEOS_INVALID("out_type %s does not go with hashed_output = %s",
                         rheos_dtype_name(p->output_dtypes[1]), hashed ? "true" : "false");
  }
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = compute;
  return NULL;
}

static rheos_status *shape(rheos__infer *c) {
  const int64_t num_sparse = rheos__attr_int(c->attrs, "N");
  const rheos_attr_value *types = rheos__attrs_find(c->attrs, "sparse_types");
  if (types->count != num_sparse) {
    return RHEOS_INVALID("%lld sparse columns have %d sparse_types", (long long)num_sparse,
                         types->count);
  }
  c->output_shapes[0] = RHEOS_SHAPE(-1, 2);
  c->output_shapes[1] = RHEOS_SHAPE(-1);
  c->output_shapes[2] = RHEOS_SHAPE(2);
  return NULL;
}

#define COLUMNS \
  "indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types"
#define OUTPUTS(dtype) " -> output_indices: int64, output_values: " dtype ", output_shape: int64; "

const rheos__op_def rheos__op_SparseCross = {
    .name = "SparseCross",
    .signature = COLUMNS OUTPUTS("out_type") "N: int >= 0; hashed_output: bool; "
                 "num_buckets: int >= 0; hash_key: int; sparse_types: list({int64, string}) >= 0; "
                 "dense_types: list({int64, string}) >= 0; out_type: {int64, string}; "
                 "internal_type: {int64, string}",
    .doc = "Every combination of one value of each column, row by row, joined by _X_ or hashed.",
    .shape = shape,
    .prepare = prepare,
};

const rheos__op_def rheos__op_SparseCrossV2 = {
    .name = "SparseCrossV2",
    .signature = COLUMNS ", sep: string" OUTPUTS("string") "N: int >= 0; "
                 "sparse_types: list({int64, string}) >= 0; "
                 "dense_types: list({int64, string}) >= 0",
    .doc = "Every combination of one value of each column, row by row, joined by `sep`.",
    .shape = shape,
    .prepare = prepare,
};

// ---- RaggedCross

// The columns in the order that a letter for each tells: R, S or D.
static rheos_status *read_in_order(cross *c, const rheos__attrs *attrs,
                                   rheos_tensor *const *inputs) {
  const int64_t num_ragged = rheos__attrs_find(attrs, "ragged_values_types")->count;
  const int64_t num_sparse = rheos__attr_int(attrs, "Nsparse");
  rheos_tensor *const *ragged = inputs, *const *sparse = ragged + 2 * num_ragged;
  rheos_tensor *const *dense = sparse + 3 * num_sparse;
  const char *order = rheos__attr_string(attrs, "input_order");
  int64_t r = 0, s = 0, d = 0;
  for (int64_t k = 0; k < c->num_columns; k++) {
    column *col = &c->columns[k];
    if (order[k] == 'R') {
      RHEOS_TRY(ragged_column(c, col, ragged[r], ragged[num_ragged + r]));
      r++;
    } else if (order[k] == 'S') {
      RHEOS_TRY(
          sparse_column(c, col, sparse[s], sparse[num_sparse + s], sparse[2 * num_sparse + s]));
      s++;
    } else {
      RHEOS_TRY(dense_column(c, col, dense[d++]));
    }
  }
  if (c->rows < 0) c->rows = 0;
  return NULL;
}

static rheos_status *compute_ragged(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  const rheos__operands *o = state;
  cross c = {.rows = -1, .ragged = true, .separator = &old_separator};
  c.num_columns = (int64_t)strlen(rheos__attr_string(o->attrs, "input_order"));
  c.hashed = rheos__attr_bool(o->attrs, "hashed_output");
  c.key = (uint64_t)rheos__attr_int(o->attrs, "hash_key");
  c.num_buckets = (uint64_t)rheos__attr_int(o->attrs, "num_buckets");
  c.columns = rheos__alloc_zeroed((size_t)(c.num_columns + 1) * sizeof *c.columns);
  if (c.columns == NULL) return rheos__out_of_memory();
  rheos_status *status = read_in_order(&c, o->attrs, inputs);
  const rheos_attr_value *splits = rheos__attrs_find(o->attrs, "out_row_splits_type");
  if (status == NULL) status = make_ragged(&c, step, splits->type, outputs);
  rheos__free(c.columns);
  return status;
}

static rheos_status *check_order(const rheos__attrs *attrs) {
  int64_t counts[3] = {0};
  const char *order = rheos__attr_string(attrs, "input_order");
  for (const char *at = order; *at != 0; at++) {
    const char *found = strchr("RSD", *at);
    if (found == NULL) return RHEOS_INVALID("input_order \"%s\" has letters but R, S, D", order);
    counts[found - "RSD"]++;
  }
  const int64_t wanted[3] = {rheos__attrs_find(attrs, "ragged_values_types")->count,
                             rheos__attr_int(attrs, "Nsparse"),
                             rheos__attrs_find(attrs, "dense_types")->count};
  const int64_t others[3] = {rheos__attrs_find(attrs, "ragged_splits_types")->count,
                             rheos__attrs_find(attrs, "sparse_values_types")->count, wanted[2]};
  for (int i = 0; i < 3; i++) {
    if (counts[i] != wanted[i] || others[i] != wanted[i]) {
      return RHEOS_INVALID("input_order \"%s\" does not go with the lists of columns", order);
    }
  }
  return NULL;
}

static rheos_status *prepare_ragged(rheos__prepare *p) {
  RHEOS_TRY(check_order(p->attrs));
  if ((p->output_dtypes[0] == RHEOS_INT64) != rheos__attr_bool(p->attrs, "hashed_output")) {
    return RHEOS_INVALID("out_values_type %s does not go with hashed_output",
                         rheos_dtype_name(p->output_dtypes[0]));
  }
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = compute_ragged;
  return NULL;
}

static rheos_status *shape_ragged(rheos__infer *c) {
  RHEOS_TRY(check_order(c->attrs));
  const int32_t num_ragged = rheos__attrs_find(c->attrs, "ragged_values_types")->count;
  const int32_t num_dense = rheos__attrs_find(c->attrs, "dense_types")->count;
  int64_t splits = -1;
  for (int32_t i = 0; i < num_ragged && splits < 0; i++) {
    const rheos_shape *shape = &c->input_shapes[num_ragged + i];
    if (shape->rank == 1) splits = shape->dims[0];
  }
  for (int32_t i = c->num_inputs - num_dense; i < c->num_inputs && splits < 0; i++) {
    const rheos_shape *shape = &c->input_shapes[i];
    if (shape->rank == 2 && shape->dims[0] >= 0) splits = shape->dims[0] + 1;
  }
  c->output_shapes[0] = RHEOS_SHAPE(-1);
  c->output_shapes[1] = RHEOS_SHAPE(splits);
  return NULL;
}

const rheos__op_def rheos__op_RaggedCross = {
    .name = "RaggedCross",
    .signature =
        "ragged_values: ragged_values_types, ragged_row_splits: ragged_splits_types, "
        "sparse_indices: Nsparse * int64, sparse_values: sparse_values_types, "
        "sparse_shape: Nsparse * int64, dense_inputs: dense_types -> output_values: "
        "out_values_type, output_row_splits: out_row_splits_type; Nsparse: int >= 0; "
        "input_order: string; hashed_output: bool; num_buckets: int >= 0; hash_key: int; "
        "ragged_values_types: list({int64, string}) >= 0; "
        "ragged_splits_types: list({int32, int64}) >= 0; "
        "sparse_values_types: list({int64, string}) >= 0; "
        "dense_types: list({int64, string}) >= 0; out_values_type: {int64, string}; "
        "out_row_splits_type: {int32, int64}",
    .doc = "Every combination of one value of each column, row by row, joined by _X_ or hashed.",
    .shape = shape_ragged,
    .prepare = prepare_ragged,
};
