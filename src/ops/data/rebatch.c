// Batches made of other batches, and of tensors of unlike shapes: rebatch, dense_to_sparse_batch.
#include "ops/data/dataset.h"
#include "ops/data/element.h"
#include "ops/kit/packed_tensors.h"

static int64_t cardinality_unknown(const rheos__dataset *d) {
  (void)d;
  return RHEOS__CARDINALITY_UNKNOWN;
}

// ---- An element of the input, of which rows are taken

typedef struct rows {
  rheos__iterator base;
  rheos_tensor **from;  // NULL elements: there is none
  int64_t next;         // a row of it; of replicas, a slice of it
  int64_t round;        // how many batches there have been, modulo the number of sizes
} rows;

static rheos_status *start_rows(rheos__iterator *iterator, rheos__step *step) {
  (void)step;
  rows *it = (rows *)iterator;
  it->from = rheos__alloc_array((size_t)iterator->dataset->num_components, sizeof *it->from);
  return it->from != NULL ? NULL : rheos__out_of_memory();
}

static void finish_rows(rheos__iterator *iterator) {
  rows *it = (rows *)iterator;
  if (it->from != NULL) rheos__element_clear(it->from, iterator->dataset->num_components);
  rheos__free(it->from);
}

static rheos_status *check_rows(const rows *it, bool same_count) {
  for (int32_t i = 0; i < it->base.dataset->num_components; ++i) {
    const rheos_shape *shape = &it->from[i]->shape;
    if (shape->rank == 0) {
      return RHEOS_INVALID(
          "Cannot rebatch dataset: component %d is a scalar, which has no first dimension. Perhaps "
          "the input dataset is not batched?",
          (int)i);
    }
    if (!same_count || shape->dims[0] == it->from[0]->shape.dims[0]) continue;
    return RHEOS_INVALID(
        "Cannot rebatch dataset: component 0 has %lld rows, but component %d has %lld.",
        (long long)it->from[0]->shape.dims[0], (int)i, (long long)shape->dims[0]);
  }
  return NULL;
}

// The input's next element in place of the one that is used up.
static rheos_status *pull_rows(rows *it, bool same_count, rheos__step *step, bool *out_end) {
  const int32_t n = it->base.dataset->num_components;
  rheos__element_clear(it->from, n);
  it->next = 0;
  RHEOS_TRY(rheos__iterator_next(it->base.input, step, it->from, out_end));
  if (*out_end) return NULL;
  rheos_status *status = check_rows(it, same_count);
  if (status != NULL) rheos__element_clear(it->from, n);
  return status;
}

static rheos_status *state_rows(rheos__iterator *iterator, rheos__saved_state *state, int64_t most,
                                bool same_count) {
  rows *it = (rows *)iterator;
  const int32_t n = iterator->dataset->num_components;
  RHEOS_TRY(rheos__state_ints(state, &it->next, 1));
  RHEOS_TRY(rheos__state_ints(state, &it->round, 1));
  RHEOS_TRY(rheos__state_tensors(state, it->from, n));
  if (!state->is_restoring) return NULL;
  bool some = false, all = true;
  for (int32_t i = 0; i < n; ++i) {
    some = some || it->from[i] != NULL;
    all = all && it->from[i] != NULL && it->from[i]->dtype == iterator->dataset->types[i];
  }
  bool fits = it->next >= 0 && it->round >= 0 && it->round < most && (all || !some);
  rheos_status *status = fits && all ? check_rows(it, same_count) : NULL;
  if (fits && status == NULL) return NULL;
  rheos__element_clear(it->from, n);
  it->next = it->round = 0;
  return status != NULL ? status
                        : RHEOS_INVALID("the state of the iterator is that of another pipeline");
}

// Rows [first, last) of a tensor.
static rheos_status *slice_of(const rheos_tensor *tensor, int64_t first, int64_t last,
                              rheos_tensor **out_tensor) {
  rheos_shape shape = tensor->shape;
  const int64_t count = shape.dims[0];
  shape.dims[0] = last - first;
  RHEOS_TRY(rheos__tensor_new(tensor->dtype, &shape, out_tensor));
  const int64_t per_row = count > 0 ? tensor->num_elements / count : 0;
  const size_t offset = (size_t)(first * per_row) * rheos__dtype_size(tensor->dtype);
  return rheos__copy_elements(tensor->dtype, (*out_tensor)->data,
                              (const char *)tensor->data + offset, (last - first) * per_row);
}

// ---- Each batch divided among replicas

static rheos_status *init_replicas(rheos__dataset *d) {
  int64_t *count = d->data;
  RHEOS_TRY(rheos__dataset_int(d, 1, "num_replicas", count));
  return *count > 0 ? NULL : RHEOS_INVALID("num_replicas must be greater than zero.");
}

// Of each component on its own: they may have different numbers of rows.
static rheos_status *next_replica(rheos__iterator *iterator, rheos__step *step,
                                  rheos_tensor **element, bool *out_end) {
  rows *it = (rows *)iterator;
  const int64_t count = *(const int64_t *)iterator->dataset->data;
  *out_end = false;
  if (it->from[0] == NULL || it->next >= count) {
    RHEOS_TRY(pull_rows(it, false, step, out_end));
    if (*out_end) return NULL;
  }
  const int64_t slice = it->next++;
  for (int32_t i = 0; i < iterator->dataset->num_components; ++i) {
    const int64_t all = it->from[i]->shape.dims[0];
    const int64_t each = all / count + (all % count != 0);
    const int64_t first = each == 0 || slice <= all / each ? slice * each : all;
    const int64_t last = all - first > each ? first + each : all;
    rheos_status *status = slice_of(it->from[i], first, last, &element[i]);
    if (status == NULL) continue;
    rheos__element_clear(element, i + 1);
    return status;
  }
  return NULL;
}

static rheos_status *state_replicas(rheos__iterator *iterator, rheos__saved_state *state,
                                    rheos__step *step) {
  (void)step;
  return state_rows(iterator, state, 1, false);
}

static const rheos__dataset_kind replicas_kind = {.name = "Rebatch",
                                                  .data_bytes = sizeof(int64_t),
                                                  .iterator_bytes = sizeof(rows),
                                                  .opens_input = true,
                                                  .like_input = true,
                                                  .init = init_replicas,
                                                  .start = start_rows,
                                                  .finish = finish_rows,
                                                  .next = next_replica,
                                                  .state = state_replicas,
                                                  .cardinality = cardinality_unknown};
#define REPLICAS(op)                                                                 \
  RHEOS_DATASET_OP(op, replicas_kind, "input_dataset: variant, num_replicas: int64", \
                   RHEOS_DATASET_TYPES "; use_fallback: bool = true",                \
                   "Each batch as `num_replicas` smaller ones.")
REPLICAS(ExperimentalRebatchDataset)
REPLICAS(RebatchDataset)

// ---- Batches of other sizes

typedef struct sizes_data {
  const int64_t *sizes;  // of the input
  int64_t count;
  bool drop_remainder;
} sizes_data;

static rheos_status *init_sizes(rheos__dataset *d) {
  sizes_data *data = d->data;
  const rheos_tensor *sizes = d->args[1];
  if (sizes == NULL || sizes->shape.rank > 1 || sizes->num_elements == 0) {
    return RHEOS_INVALID("`batch_sizes` must be a scalar or a vector with an element.");
  }
  data->sizes = sizes->data;
  data->count = sizes->num_elements;
  int64_t sum = 0;
  for (int64_t i = 0; i < data->count; ++i) {
    if (data->sizes[i] < 0) return RHEOS_INVALID("`batch_sizes` must not be negative.");
    sum |= data->sizes[i];
  }
  if (sum == 0) return RHEOS_INVALID("one of `batch_sizes` must be greater than zero.");
  return rheos__dataset_bool(d, 2, "drop_remainder", &data->drop_remainder);
}

static rheos_status *add_row(const rows *it, rheos__stack *stacks, int64_t most) {
  for (int32_t i = 0; i < it->base.dataset->num_components; ++i) {
    rheos_tensor *row = NULL;
    RHEOS_TRY(rheos__tensor_row(it->from[i], it->next, &row));
    rheos_status *status = rheos__stack_add(&stacks[i], row, most, i);
    rheos_tensor_unref(row);
    if (status != NULL) return status;
  }
  return NULL;
}

static bool is_used_up(const rows *it) {
  return it->from[0] == NULL || it->next >= it->from[0]->shape.dims[0];
}

static rheos_status *gather_rows(rows *it, rheos__step *step, int64_t wanted, rheos__stack *stacks,
                                 int64_t *out_count) {
  for (*out_count = 0; *out_count < wanted;) {
    if (is_used_up(it)) {
      bool end = false;
      RHEOS_TRY(pull_rows(it, true, step, &end));
      if (end) return NULL;
      if (rheos__step_should_stop(step)) {
        return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
      }
      continue;
    }
    RHEOS_TRY(add_row(it, stacks, wanted));
    ++it->next;
    ++*out_count;
  }
  return NULL;
}

// A batch of no rows has the shape of the rows at hand, be they used up.
static rheos_status *empty_batch(rows *it, rheos__step *step, rheos_tensor **element,
                                 bool *out_end) {
  if (it->from[0] == NULL) RHEOS_TRY(pull_rows(it, true, step, out_end));
  if (*out_end) return NULL;
  for (int32_t i = 0; i < it->base.dataset->num_components; ++i) {
    RHEOS_TRY(slice_of(it->from[i], 0, 0, &element[i]));
  }
  return NULL;
}

static rheos_status *full_batch(rows *it, rheos__step *step, int64_t wanted, rheos_tensor **element,
                                bool *out_end) {
  const int32_t n = it->base.dataset->num_components;
  const sizes_data *data = it->base.dataset->data;
  rheos__stack *stacks = rheos__alloc_array((size_t)n, sizeof *stacks);
  if (stacks == NULL) return rheos__out_of_memory();
  int64_t count = 0;
  rheos_status *status = gather_rows(it, step, wanted, stacks, &count);
  *out_end = status == NULL && (count == 0 || (count < wanted && data->drop_remainder));
  for (int32_t i = 0; i < n; ++i) {
    if (status == NULL && !*out_end) {
      status = rheos__stack_take(&stacks[i], &element[i]);
    } else {
      rheos__stack_deinit(&stacks[i]);
    }
  }
  rheos__free(stacks);
  return status;
}

static rheos_status *next_sized(rheos__iterator *iterator, rheos__step *step,
                                rheos_tensor **element, bool *out_end) {
  rows *it = (rows *)iterator;
  const sizes_data *data = iterator->dataset->data;
  const int64_t wanted = data->sizes[it->round];
  *out_end = false;
  rheos_status *status = wanted > 0 ? full_batch(it, step, wanted, element, out_end)
                                    : empty_batch(it, step, element, out_end);
  if (status != NULL) {
    rheos__element_clear(element, iterator->dataset->num_components);
  } else if (!*out_end) {
    it->round = (it->round + 1) % data->count;
  }
  return status;
}

static rheos_status *state_sized(rheos__iterator *iterator, rheos__saved_state *state,
                                 rheos__step *step) {
  (void)step;
  return state_rows(iterator, state, ((const sizes_data *)iterator->dataset->data)->count, true);
}

static const rheos__dataset_kind sizes_kind = {.name = "Rebatch",
                                               .data_bytes = sizeof(sizes_data),
                                               .iterator_bytes = sizeof(rows),
                                               .opens_input = true,
                                               .like_input = true,
                                               .init = init_sizes,
                                               .start = start_rows,
                                               .finish = finish_rows,
                                               .next = next_sized,
                                               .state = state_sized,
                                               .cardinality = cardinality_unknown};
RHEOS_DATASET_OP(RebatchDatasetV2, sizes_kind,
                 "input_dataset: variant, batch_sizes: int64, drop_remainder: bool",
                 RHEOS_DATASET_TYPES, "The rows of batches in batches of `batch_sizes`, in turn.")

// ---- Dense tensors as the rows of a sparse one

typedef struct sparse_data {
  int64_t size;
  rheos_shape row;  // -1: as large as the rows are
} sparse_data;

static rheos_status *init_sparse(rheos__dataset *d) {
  sparse_data *data = d->data;
  RHEOS_TRY(rheos__dataset_int(d, 1, "batch_size", &data->size));
  if (data->size <= 0) return RHEOS_INVALID("Batch size must be greater than zero.");
  const rheos_tensor *row = d->args[2];
  if (row == NULL || row->shape.rank != 1) return RHEOS_INVALID("row_shape must be a vector");
  if (row->num_elements >= RHEOS_MAX_RANK) {
    return RHEOS_INVALID("row_shape has too many dimensions (%lld)", (long long)row->num_elements);
  }
  data->row.rank = (int32_t)row->num_elements;
  for (int32_t i = 0; i < data->row.rank; ++i) {
    data->row.dims[i] = ((const int64_t *)row->data)[i];
    if (data->row.dims[i] < -1) {
      return RHEOS_INVALID("Dimension %d of row_shape must be >= -1", (int)i);
    }
  }
  if (d->inputs[0]->num_components != 1) {
    return RHEOS_INVALID("DenseToSparseBatchDataset only supports inputs with a single component.");
  }
  if (d->num_components == 1 && d->types[0] == RHEOS_VARIANT) return NULL;
  return RHEOS_INVALID("the elements of a sparse batch are variants");
}

// Grows the shape of rows to this one, or refuses it.
static rheos_status *fit_row(const sparse_data *data, const rheos_tensor *row, rheos_shape *shape) {
  bool fits = row->shape.rank == data->row.rank;
  for (int32_t i = 0; fits && i < data->row.rank; ++i) {
    const int64_t dim = row->shape.dims[i];
    if (data->row.dims[i] >= 0) fits = dim <= data->row.dims[i];
    if (data->row.dims[i] < 0 && dim > shape->dims[i]) shape->dims[i] = dim;
  }
  if (fits) return NULL;
  const bool too_large = row->shape.rank == data->row.rank;
  rheos__shape_text a, b;
  return rheos_status_new(too_large ? RHEOS_DATA_LOSS : RHEOS_INVALID_ARGUMENT,
                          "Input element had shape (%s) that is incompatible with the row shape "
                          "(%s).",
                          rheos__shape_text_of(&row->shape, &a),
                          rheos__shape_text_of(&data->row, &b));
}

typedef struct batch {
  rheos_tensor **rows;
  size_t capacity;
  int64_t count, num_values;
  rheos_shape row;
} batch;

static rheos_status *fill_sparse(rheos__iterator *iterator, rheos__step *step, batch *b) {
  const sparse_data *data = iterator->dataset->data;
  b->row = data->row;
  for (int32_t i = 0; i < b->row.rank; ++i) {
    if (b->row.dims[i] < 0) b->row.dims[i] = 0;
  }
  while (b->count < data->size) {
    bool end = false;
    if (!RHEOS_RESERVE(b->rows, b->capacity, (size_t)b->count + 1)) return rheos__out_of_memory();
    rheos_tensor **row = &b->rows[b->count];
    *row = NULL;
    RHEOS_TRY(rheos__iterator_next(iterator->input, step, row, &end));
    if (end) return NULL;
    ++b->count;
    b->num_values += (*row)->num_elements;
    RHEOS_TRY(fit_row(data, *row, &b->row));
    if ((b->count & 63) == 0 && rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
  }
  return NULL;
}

// The place of the next value in the row.
static void advance(int64_t *place, const rheos_shape *shape) {
  for (int32_t d = shape->rank - 1; d >= 0; --d) {
    if (++place[d] < shape->dims[d]) return;
    place[d] = 0;
  }
}

static int64_t *put_places(int64_t *to, int64_t number, const rheos_tensor *row) {
  int64_t place[RHEOS_MAX_RANK] = {0};
  for (int64_t i = 0; i < row->num_elements; ++i) {
    *to++ = number;
    for (int32_t d = 0; d < row->shape.rank; ++d) *to++ = place[d];
    advance(place, &row->shape);
  }
  return to;
}

static rheos_status *fill_parts(const batch *b, rheos_dtype dtype, rheos_tensor **parts) {
  const int32_t rank = b->row.rank + 1;
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(b->num_values, rank), &parts[0]));
  RHEOS_TRY(rheos__tensor_new(dtype, &RHEOS_SHAPE(b->num_values), &parts[1]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(rank), &parts[2]));
  int64_t *places = parts[0]->data, *dims = parts[2]->data;
  char *values = parts[1]->data;
  dims[0] = b->count;
  for (int32_t d = 1; d < rank; ++d) dims[d] = b->row.dims[d - 1];
  for (int64_t i = 0; i < b->count; ++i) {
    const rheos_tensor *row = b->rows[i];
    places = put_places(places, i, row);
    RHEOS_TRY(rheos__copy_elements(dtype, values, row->data, row->num_elements));
    values += (size_t)row->num_elements * rheos__dtype_size(dtype);
  }
  return NULL;
}

static rheos_status *make_sparse(const batch *b, rheos_dtype dtype, rheos_tensor **out_tensor) {
  rheos_tensor *parts[3] = {NULL, NULL, NULL};
  rheos_status *status = fill_parts(b, dtype, parts);
  if (status == NULL) status = rheos__tensor_new(RHEOS_VARIANT, &RHEOS_SHAPE(3), out_tensor);
  for (int i = 0; i < 3; ++i) {
    if (status == NULL) {
      status = rheos__packed_tensors_take(RHEOS__PACKED_TENSOR, &parts[i], 1,
                                          (rheos__variant **)(*out_tensor)->data + i);
    } else {
      rheos_tensor_unref(parts[i]);
    }
  }
  if (status != NULL) {
    rheos_tensor_unref(*out_tensor);
    *out_tensor = NULL;
  }
  return status;
}

static rheos_status *next_sparse(rheos__iterator *iterator, rheos__step *step,
                                 rheos_tensor **element, bool *out_end) {
  batch b = {0};
  rheos_status *status = fill_sparse(iterator, step, &b);
  *out_end = status == NULL && b.count == 0;
  if (status == NULL && !*out_end) {
    status = make_sparse(&b, iterator->dataset->inputs[0]->types[0], &element[0]);
  }
  for (int64_t i = 0; i < b.count; ++i) rheos_tensor_unref(b.rows[i]);
  rheos__free(b.rows);
  return status;
}

static int64_t cardinality_sparse(const rheos__dataset *d) {
  const sparse_data *data = d->data;
  const int64_t count = rheos__dataset_cardinality(d->inputs[0]);
  return count < 0 ? count : count / data->size + (count % data->size != 0);
}

static const rheos__dataset_kind sparse_kind = {.name = "DenseToSparseBatch",
                                                .data_bytes = sizeof(sparse_data),
                                                .opens_input = true,
                                                .init = init_sparse,
                                                .next = next_sparse,
                                                .cardinality = cardinality_sparse};
#define SPARSE(op)                                                                                 \
  RHEOS_DATASET_OP(op, sparse_kind, "input_dataset: variant, batch_size: int64, row_shape: int64", \
                   RHEOS_DATASET_TYPES, "Every `batch_size` dense tensors as a sparse one.")
SPARSE(DenseToSparseBatchDataset)
SPARSE(ExperimentalDenseToSparseBatchDataset)
