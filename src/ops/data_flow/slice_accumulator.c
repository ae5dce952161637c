// Conditional accumulators of slices of a gradient: rows with their indices, in ascending order. As
// TensorFlow's, rows are merged by comparing the first of each list, so what comes unordered or
// twice stays so.
#include <string.h>

#include "ops/data_flow/accumulator.h"
#include "ops/data_flow/queue_util.h"
#include "ops/kit/op_util.h"

typedef struct slices {
  const rheos_tensor *indices, *values, *shape;
  bool has_shape;
} slices;

// ---- Whether slices fit

static rheos_status *check_form(const slices *s) {
  rheos__shape_text text;
  if (s->indices->shape.rank != 1) {
    return RHEOS_INVALID("Input indices should be vector but received shape: %s",
                         rheos__shape_text_of(&s->indices->shape, &text));
  }
  if (s->values->shape.rank < 1) return RHEOS_INVALID("Values cannot be 0-dimensional.");
  if (s->values->shape.dims[0] != s->indices->num_elements) {
    return RHEOS_INVALID("Expected %lld non-empty input values, got %lld",
                         (long long)s->indices->num_elements, (long long)s->values->shape.dims[0]);
  }
  return NULL;
}

static rheos_status *check_told_shape(const rheos__accumulator *a, const slices *s) {
  const int32_t rank = a->shape.rank;
  if (!s->has_shape) return NULL;
  if (rank > s->shape->num_elements) {
    return RHEOS_INVALID("Shape mismatch: expected shape rank at least %d, got %lld", (int)rank,
                         (long long)s->shape->num_elements);
  }
  for (int32_t d = 0; d < rank; ++d) {
    const int64_t dim = rheos__tensor_int_at(s->shape, d);
    if (a->shape.dims[d] < 0 || a->shape.dims[d] == dim) continue;
    return RHEOS_INVALID("Shape mismatch: expected shape dim %d to be %lld, got %lld", (int)d,
                         (long long)a->shape.dims[d], (long long)dim);
  }
  return NULL;
}

static rheos_status *check_limits(const rheos__accumulator *a, const slices *s) {
  if (a->shape.rank < 1 || a->shape.dims[0] < 0) return NULL;
  const int64_t *indices = s->indices->data;
  for (int64_t i = 0; i < s->indices->num_elements; ++i) {
    if (indices[i] < a->shape.dims[0]) continue;
    return RHEOS_INVALID(
        "Shape mismatch: index of slice %lld exceeded limits of shape; index is %lld exceeded %lld",
        (long long)i, (long long)indices[i], (long long)a->shape.dims[0]);
  }
  return NULL;
}

// The rows as those before, or as the accumulator's shape says.
static rheos_status *check_rows(const rheos__accumulator *a, const slices *s) {
  const bool has_rows = a->count > 0;
  const rheos_shape *expected = has_rows ? &a->sum->shape : &a->shape;
  const rheos_shape *shape = &s->values->shape;
  if (has_rows ? expected->rank != shape->rank : expected->rank > shape->rank) {
    return RHEOS_INVALID("Shape mismatch: expected values rank %s%d, got %d",
                         has_rows ? "" : "at least ", (int)expected->rank, (int)shape->rank);
  }
  for (int32_t d = 1; d < expected->rank; ++d) {
    if (expected->dims[d] < 0 || expected->dims[d] == shape->dims[d]) continue;
    return RHEOS_INVALID("Shape mismatch: expected values dim %d to be %lld, got %lld", (int)d,
                         (long long)expected->dims[d], (long long)shape->dims[d]);
  }
  return NULL;
}

// ---- Adding

typedef struct merged {
  rheos_tensor *rows;
  int64_t *indices, *counts, size;
} merged;

static void merged_deinit(merged *m) {
  rheos_tensor_unref(m->rows);
  rheos__free(m->indices);
  rheos__free(m->counts);
}

// How many rows the two lists make.
static int64_t merged_size(const rheos__accumulator *a, int64_t held, const slices *s) {
  const int64_t *more = s->indices->data;
  const int64_t count = s->indices->num_elements;
  int64_t i = 0, k = 0, size = 0;
  for (; i < held && k < count; ++size) {
    const int64_t x = a->indices[i], y = more[k];
    i += x <= y;
    k += y <= x;
  }
  return size + (held - i) + (count - k);
}

static rheos_status *merged_init(merged *m, rheos_dtype dtype, int64_t size,
                                 const rheos_shape *rows) {
  rheos_shape shape = *rows;
  shape.dims[0] = m->size = size;
  m->indices = rheos__alloc_array((size_t)size + 1, sizeof *m->indices);
  m->counts = rheos__alloc_array((size_t)size + 1, sizeof *m->counts);
  if (m->indices == NULL || m->counts == NULL) return rheos__out_of_memory();
  return rheos__tensor_new(dtype, &shape, &m->rows);
}

static void merge(const rheos__accumulator *a, int64_t held, const slices *s, merged *m) {
  const int64_t *more = s->indices->data;
  const int64_t count = s->indices->num_elements;
  const int64_t width = m->size > 0 ? m->rows->num_elements / m->size : 0;
  const size_t bytes = (size_t)width * rheos__dtype_size(a->dtype);
  const char *held_rows = a->sum != NULL ? a->sum->data : NULL, *new_rows = s->values->data;
  char *to = m->rows->data;
  int64_t i = 0, k = 0;
  for (int64_t row = 0; row < m->size; ++row, to += bytes) {
    const bool takes_held = i < held && (k == count || a->indices[i] <= more[k]);
    const bool takes_new = k < count && (i == held || more[k] <= a->indices[i]);
    m->indices[row] = takes_held ? a->indices[i] : more[k];
    m->counts[row] = (takes_held ? a->row_counts[i] : 0) + (takes_new ? 1 : 0);
    if (takes_held && bytes > 0) memcpy(to, held_rows + (size_t)i * bytes, bytes);
    if (takes_new && takes_held) {
      rheos__add_elements(a->dtype, to, new_rows + (size_t)k * bytes, width);
    } else if (takes_new && bytes > 0) {
      memcpy(to, new_rows + (size_t)k * bytes, bytes);
    }
    i += takes_held;
    k += takes_new;
  }
}

static rheos_status *add_slices(rheos__accumulator *a, const slices *s) {
  RHEOS_TRY(check_form(s));
  RHEOS_TRY(check_told_shape(a, s));
  RHEOS_TRY(check_limits(a, s));
  RHEOS_TRY(check_rows(a, s));
  const int64_t held = a->count > 0 ? a->sum->shape.dims[0] : 0;
  merged m = {0};
  rheos_status *status = merged_init(&m, a->dtype, merged_size(a, held, s), &s->values->shape);
  if (status != NULL) {
    merged_deinit(&m);
    return status;
  }
  merge(a, held, s, &m);
  merged before = {a->sum, a->indices, a->row_counts, 0};
  merged_deinit(&before);
  a->sum = m.rows;
  a->indices = m.indices;
  a->row_counts = m.counts;
  ++a->count;
  return NULL;
}

typedef struct apply_state {
  rheos__accumulator *accumulator;
  bool has_shape;
} apply_state;

static rheos_status *compute_apply(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step, (void)outputs;
  const apply_state *state = argument;
  rheos__accumulator *a = state->accumulator;
  const slices s = {inputs[2], inputs[3], inputs[4], state->has_shape};
  pthread_mutex_lock(&a->waitable.mutex);
  bool drops = false;
  rheos_status *status = rheos__accumulator_drops(a, inputs[1], &drops);
  if (status == NULL && !drops) status = add_slices(a, &s);
  rheos__waitable_serve(&a->waitable);
  pthread_mutex_unlock(&a->waitable.mutex);
  return status;
}

static rheos_status *prepare_apply(rheos__prepare *p) {
  apply_state *state = RHEOS_NEW_STATE(p, apply_state);
  if (state == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__accumulator_of(p, &rheos__slice_accumulator_kind, &state->accumulator));
  state->has_shape = rheos__attr_bool(p->attrs, "has_known_shape");
  p->compute = p->op->compute;
  return NULL;
}

// ---- Taking: each row is the mean of the gradients that had it

static void divide_rows(const rheos__accumulator *a, int64_t size) {
  const int64_t width = size > 0 ? a->sum->num_elements / size : 0;
  const size_t bytes = (size_t)width * rheos__dtype_size(a->dtype);
  for (int64_t i = 0; i < size; ++i) {
    rheos__divide_elements(a->dtype, (char *)a->sum->data + (size_t)i * bytes, a->row_counts[i],
                           width);
  }
}

static rheos_status *give_slices(rheos__accumulator *a, rheos_tensor **outputs) {
  const rheos_shape *rows = &a->sum->shape;
  const int64_t size = rows->dims[0];
  int64_t shape[RHEOS_MAX_RANK];
  for (int32_t d = 0; d < rows->rank; ++d) shape[d] = rows->dims[d];
  shape[0] = a->shape.rank > 0 ? a->shape.dims[0] : -1;
  RHEOS_TRY(rheos_tensor_from_values(RHEOS_INT64, RHEOS_SHAPE(size), a->indices, &outputs[0]));
  rheos_status *status =
      rheos_tensor_from_values(RHEOS_INT64, RHEOS_SHAPE(rows->rank), shape, &outputs[2]);
  if (status != NULL) return status;
  if (!a->is_sum) divide_rows(a, size);
  outputs[1] = a->sum;
  a->sum = NULL;
  return NULL;
}

static rheos_status *compute_take(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  return rheos__accumulator_take(state, step, inputs[1], give_slices, outputs);
}

static rheos_status *shape_apply(rheos__infer *c) {
  rheos_shape scalar;
  return rheos__infer_rank(c, 1, 0, &scalar);
}

static rheos_status *shape_take(rheos__infer *c) {
  rheos_shape scalar;
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &scalar));
  for (int32_t i = 0; i < 3; ++i) c->output_shapes[i] = RHEOS_UNKNOWN_SHAPE;
  return NULL;
}

const rheos__op_def rheos__op_SparseConditionalAccumulator = {
    .name = "SparseConditionalAccumulator",
    .signature = "-> handle: Ref(string); " RHEOS__ACCUMULATED
                 "; shape: shape; container: string = \"\"; shared_name: string = \"\"; "
                 "reduction_type: {\"MEAN\", \"SUM\"} = \"MEAN\"",
    .doc = "Adds up slices of gradients, until enough are there to take their mean.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_handle,
    .gradient = rheos__no_gradient,
    .prepare = rheos__prepare_accumulator,
    .family = &rheos__slice_accumulator_kind,
};

const rheos__op_def rheos__op_SparseAccumulatorApplyGradient = {
    .name = "SparseAccumulatorApplyGradient",
    .signature =
        "handle: Ref(string), local_step: int64, gradient_indices: int64, "
        "gradient_values: dtype, gradient_shape: int64 ->; " RHEOS__ACCUMULATED
        "; has_known_shape: bool",
    .doc = "Adds slices of a gradient, unless it is of an older step than the accumulator's.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,
    .shape = shape_apply,
    .gradient = rheos__no_gradient,
    .prepare = prepare_apply,
    .compute = compute_apply,
};

const rheos__op_def rheos__op_SparseAccumulatorTakeGradient = {
    .name = "SparseAccumulatorTakeGradient",
    .signature =
        "handle: Ref(string), num_required: int32 -> indices: int64, values: dtype, "
        "shape: int64; " RHEOS__ACCUMULATED,
    .doc = "Takes the mean of each slice when there are `num_required` gradients.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES | RHEOS_OP_WAITS,
    .shape = shape_take,
    .gradient = rheos__no_gradient,
    .prepare = rheos__prepare_on_accumulator,
    .compute = compute_take,
    .family = &rheos__slice_accumulator_kind,
};
