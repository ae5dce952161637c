// Elements put together, and rows of elements taken apart: batch, unbatch; also fused with map.
#include "ops/data/dataset.h"
#include "ops/data/element.h"
#include "ops/data/mapped.h"

typedef struct batch_data {
  int64_t size;
  bool drop_remainder;
  int64_t num_calls;  // of the function, with each element, at a time; 0: none
} batch_data;

typedef struct batch {
  rheos__iterator base;
  rheos_shape *rows;  // of the batch before, by component; at first what the dataset says
  bool was_full;      // that batch
} batch;

// Of what calls a function: its results are a stage's, and become rows here.
typedef struct mapped_batch {
  batch base;
  rheos__stage *stage;
  int64_t has_ended;
} mapped_batch;

static rheos_status *read_batch(rheos__dataset *d, int32_t size_arg, int32_t drop_arg) {
  batch_data *data = d->data;
  RHEOS_TRY(rheos__dataset_int(d, size_arg, "batch_size", &data->size));
  if (data->size <= 0) return RHEOS_INVALID("Batch size must be greater than zero.");
  return drop_arg >= 0 ? rheos__dataset_bool(d, drop_arg, "drop_remainder", &data->drop_remainder)
                       : NULL;
}

static rheos_status *init_batch(rheos__dataset *d) { return read_batch(d, 1, -1); }
static rheos_status *init_batch_2(rheos__dataset *d) { return read_batch(d, 1, 2); }

static rheos_status *init_map_and_batch(rheos__dataset *d) {
  batch_data *data = d->data;
  RHEOS_TRY(rheos__dataset_int(d, d->num_args - 2, "num_parallel_calls", &data->num_calls));
  if (data->num_calls < 1 && data->num_calls != -1) {
    return RHEOS_INVALID("num_parallel_calls must be greater than zero.");
  }
  RHEOS_TRY(read_batch(d, d->num_args - 3, d->num_args - 1));
  const rheos__dataset *input = d->inputs[0];
  RHEOS_TRY(rheos__dataset_takes(d, 0, input->types, input->num_components));
  return rheos__dataset_gives(d, 0, d->types, d->num_components);
}

// One row of the batch.
static rheos_status *pull(rheos__iterator *iterator, rheos__step *step, rheos_tensor **row,
                          bool *out_end) {
  const rheos__dataset *d = iterator->dataset;
  if (((const batch_data *)d->data)->num_calls == 0) {
    return rheos__iterator_next(iterator->input, step, row, out_end);
  }
  mapped_batch *it = (mapped_batch *)iterator;
  *out_end = it->has_ended;
  if (*out_end) return NULL;
  rheos_status *status = rheos__stage_next(it->stage, step, row, out_end);
  status = rheos__mapped_end(d, status, out_end);
  it->has_ended = status == NULL && *out_end;
  return status;
}

// Of a row that failed: the batch fails with the first such row, and the rest of the batch goes
// with it.
static rheos_status *skip_rest(rheos__iterator *iterator, rheos__step *step, rheos_status *first,
                               rheos_tensor **row, int64_t rows) {
  const rheos__dataset *d = iterator->dataset;
  for (bool end = false; !end && rows > 0 && !rheos__step_should_stop(step); --rows) {
    rheos_status_free(pull(iterator, step, row, &end));
    rheos__element_clear(row, d->num_components);
  }
  return first;
}

// What is known of the rows of batches of this shape.
static rheos_shape row_of(const rheos_shape *batch) {
  rheos_shape row = {.rank = batch->rank - 1};
  if (batch->rank < 1) return RHEOS_UNKNOWN_SHAPE;
  memcpy(row.dims, batch->dims + 1, (size_t)row.rank * sizeof *row.dims);
  return row;
}

// Rows are made where they belong, by inputs that do so.
static void give_places(const rheos__iterator *iterator, rheos__stack *stacks, rheos_tensor **row) {
  const rheos__dataset *d = iterator->dataset;
  if (((const batch_data *)d->data)->num_calls != 0) return;
  if (!iterator->input->dataset->kind->takes_places) return;
  for (int32_t i = 0; i < d->num_components; ++i) row[i] = rheos__stack_place(&stacks[i]);
}

static rheos_status *add_row(const rheos__dataset *d, rheos__stack *stacks, rheos_tensor **row) {
  const int64_t size = ((const batch_data *)d->data)->size;
  for (int32_t i = 0; i < d->num_components; ++i) {
    if (rheos__stack_adopt(&stacks[i], &row[i], size)) continue;
    RHEOS_TRY(rheos__stack_add(&stacks[i], row[i], size, i));
  }
  return NULL;
}

// Rows that the input has in memory are copied from there, without references.
static rheos_status *add_held(const rheos__iterator *iterator, rheos__stack *stacks,
                              int64_t *count) {
  const rheos__dataset *d = iterator->dataset;
  const batch_data *data = d->data;
  rheos_tensor *const *row = NULL;
  if (data->num_calls != 0) return NULL;
  const int64_t held = rheos__iterator_held(iterator->input, data->size - *count, &row);
  rheos_status *status = NULL;
  int64_t used = 0;
  for (; status == NULL && used < held; ++used, row += d->num_components) {
    for (int32_t i = 0; status == NULL && i < d->num_components; ++i) {
      status = rheos__stack_add(&stacks[i], row[i], data->size, i);
    }
  }
  rheos__iterator_pass(iterator->input, used);
  *count += used;
  return status;
}

static rheos_status *fill_batch(rheos__iterator *iterator, rheos__step *step, rheos_tensor **row,
                                rheos__stack *stacks, int64_t *out_count) {
  const rheos__dataset *d = iterator->dataset;
  const batch_data *data = d->data;
  int64_t asked_at = 0;  // whether the step should stop
  while (*out_count < data->size) {
    bool end = false;
    rheos_status *status = add_held(iterator, stacks, out_count);
    if (status != NULL) return skip_rest(iterator, step, status, row, data->size - *out_count);
    if (*out_count == data->size) return NULL;
    give_places(iterator, stacks, row);
    status = pull(iterator, step, row, &end);
    // An element that could not be made is none, where nothing is mapped: the next batch begins
    // behind it.
    const bool is_missing = status != NULL && data->num_calls == 0;
    if (status == NULL && !end) status = add_row(d, stacks, row);
    rheos__element_clear(row, d->num_components);
    if (is_missing || (status == NULL && end)) return status;
    ++*out_count;
    if (status != NULL) return skip_rest(iterator, step, status, row, data->size - *out_count);
    if (*out_count - asked_at < 64) continue;
    asked_at = *out_count;
    if (rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
  }
  return NULL;
}

static rheos_status *expect_rows(const batch *it, rheos__stack *stacks) {
  const rheos__dataset *d = it->base.dataset;
  const batch_data *data = d->data;
  for (int32_t i = 0; i < d->num_components; ++i) {
    RHEOS_TRY(rheos__stack_expect(&stacks[i], d->types[i], &it->rows[i], data->size, it->was_full));
  }
  return NULL;
}

// The batch, unless there is none.
static rheos_status *take_rows(batch *it, rheos__stack *stacks, int64_t count,
                               rheos_tensor **element, bool *out_end) {
  const rheos__dataset *d = it->base.dataset;
  const batch_data *data = d->data;
  it->was_full = count == data->size;
  *out_end = count == 0 || (!it->was_full && data->drop_remainder);
  for (int32_t i = 0; i < d->num_components && !*out_end; ++i) {
    it->rows[i] = stacks[i].row;
    RHEOS_TRY(rheos__stack_take(&stacks[i], &element[i]));
  }
  return NULL;
}

static rheos_status *next_batch(rheos__iterator *iterator, rheos__step *step,
                                rheos_tensor **element, bool *out_end) {
  batch *it = (batch *)iterator;
  const int32_t n = iterator->dataset->num_components;
  rheos__stack *stacks = rheos__alloc_array((size_t)n, sizeof *stacks);
  rheos_tensor **row = rheos__alloc_array((size_t)n, sizeof *row);
  int64_t count = 0;
  rheos_status *status = stacks == NULL || row == NULL ? rheos__out_of_memory() : NULL;
  if (status == NULL) status = expect_rows(it, stacks);
  if (status == NULL) status = fill_batch(iterator, step, row, stacks, &count);
  if (status == NULL) status = take_rows(it, stacks, count, element, out_end);
  for (int32_t i = 0; stacks != NULL && i < n; ++i) rheos__stack_deinit(&stacks[i]);
  if (status != NULL) rheos__element_clear(element, n);
  rheos__free(stacks);
  rheos__free(row);
  return status;
}

static rheos_status *start_batch(rheos__iterator *iterator, rheos__step *step) {
  (void)step;
  batch *it = (batch *)iterator;
  const rheos__dataset *d = iterator->dataset;
  it->rows = rheos__alloc_array((size_t)d->num_components, sizeof *it->rows);
  if (it->rows == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < d->num_components; ++i) it->rows[i] = row_of(&d->shapes[i]);
  const rheos__dataset_kind *input = d->inputs[0]->kind;
  const int64_t size = ((const batch_data *)d->data)->size;
  if (input->will_batch != NULL) input->will_batch(iterator->input, size);
  return NULL;
}

static void finish_batch(rheos__iterator *iterator) { rheos__free(((batch *)iterator)->rows); }

// Nothing: a batch is made in one go.
static rheos_status *state_batch(rheos__iterator *iterator, rheos__saved_state *state,
                                 rheos__step *step) {
  (void)iterator, (void)state, (void)step;
  return NULL;
}

static int64_t cardinality_batch(const rheos__dataset *d) {
  const batch_data *data = d->data;
  const int64_t count = rheos__dataset_cardinality(d->inputs[0]);
  if (count < 0) return count;
  return count / data->size + (!data->drop_remainder && count % data->size != 0);
}

static rheos_status *start_mapped(rheos__iterator *iterator, rheos__step *step) {
  const batch_data *data = iterator->dataset->data;
  RHEOS_TRY(start_batch(iterator, step));
  const bool is_open = data->num_calls < 0 || data->size > INT64_MAX / 2 / data->num_calls;
  // Whole batches, so that the calls go on while the consumer has one.
  const int64_t batches = is_open ? -1 : (data->size + data->num_calls - 1) / data->size;
  rheos__stage **stage = &((mapped_batch *)iterator)->stage;
  RHEOS_TRY(rheos__mapped_stage(iterator, data->num_calls, is_open ? -1 : batches * data->size,
                                false, step, stage));
  rheos__stage_will_batch(*stage, data->size);
  return NULL;
}

static void finish_mapped(rheos__iterator *iterator) {
  rheos__stage_leave(((mapped_batch *)iterator)->stage, iterator);
  finish_batch(iterator);
}

static rheos_status *pause_mapped(rheos__iterator *iterator, rheos__step *step) {
  return rheos__stage_pause(((mapped_batch *)iterator)->stage, step);
}

static void count_mapped(rheos__iterator *iterator, rheos__stage_counts *out_counts) {
  rheos__stage_count(((mapped_batch *)iterator)->stage, out_counts);
}

static rheos_status *state_mapped(rheos__iterator *iterator, rheos__saved_state *state,
                                  rheos__step *step) {
  (void)step;
  RHEOS_TRY(rheos__state_ints(state, &((mapped_batch *)iterator)->has_ended, 1));
  return rheos__stage_transfer(((mapped_batch *)iterator)->stage, state);
}

// Rows one after the other.
static rheos_status *at_rows(rheos__dataset *d, int64_t first, int64_t count, rheos__step *step,
                             rheos_tensor **row, rheos__stack *stacks) {
  for (int64_t i = 0; i < count; ++i) {
    rheos_status *status = rheos__dataset_at(d->inputs[0], first + i, step, row);
    if (status == NULL) status = add_row(d, stacks, row);
    rheos__element_clear(row, d->num_components);
    if (status != NULL) return status;
  }
  return NULL;
}

static rheos_status *at_batch(rheos__dataset *d, int64_t index, rheos__step *step,
                              rheos_tensor **element) {
  const int64_t size = ((const batch_data *)d->data)->size, first = index * size;
  const int64_t left = rheos__dataset_cardinality(d->inputs[0]) - first;
  const int32_t n = d->num_components;
  rheos__stack *stacks = rheos__alloc_array((size_t)n, sizeof *stacks);
  rheos_tensor **row = rheos__alloc_array((size_t)n, sizeof *row);
  rheos_status *status = stacks == NULL || row == NULL ? rheos__out_of_memory() : NULL;
  if (status == NULL) status = at_rows(d, first, left < size ? left : size, step, row, stacks);
  for (int32_t i = 0; status == NULL && i < n; ++i) {
    status = rheos__stack_take(&stacks[i], &element[i]);
  }
  for (int32_t i = 0; stacks != NULL && i < n; ++i) rheos__stack_deinit(&stacks[i]);
  if (status != NULL) rheos__element_clear(element, n);
  rheos__free(stacks);
  rheos__free(row);
  return status;
}

#define BATCH_KIND(variable, text, init_fn)                                      \
  static const rheos__dataset_kind variable = {.name = text,                     \
                                               .data_bytes = sizeof(batch_data), \
                                               .iterator_bytes = sizeof(batch),  \
                                               .opens_input = true,              \
                                               .like_input = true,               \
                                               .init = init_fn,                  \
                                               .start = start_batch,             \
                                               .finish = finish_batch,           \
                                               .next = next_batch,               \
                                               .state = state_batch,             \
                                               .cardinality = cardinality_batch, \
                                               .at = at_batch}
BATCH_KIND(batch_kind, "Batch", init_batch);
BATCH_KIND(batch_2_kind, "Batch", init_batch_2);

// ---- Batches that are made ahead

typedef struct parallel_batch_data {
  batch_data batch;
  int64_t num_calls;      // batches that are kept
  rheos__dataset *inner;  // which makes the batches
} parallel_batch_data;

typedef struct parallel_batch {
  rheos__iterator base;  // whose input goes over the inner dataset
  rheos__stage *stage;
} parallel_batch;

// The inner dataset's input is the outer one's, which lives longer.
static rheos_status *init_parallel_batch(rheos__dataset *d) {
  parallel_batch_data *data = d->data;
  rheos__dataset *inner = NULL;
  RHEOS_TRY(read_batch(d, 1, 3));
  RHEOS_TRY(rheos__dataset_int(d, 2, "num_parallel_calls", &data->num_calls));
  if (data->num_calls < 1 && data->num_calls != -1) {
    return RHEOS_INVALID("num_parallel_calls must be greater than zero.");
  }
  RHEOS_TRY(rheos__dataset_new_of_kind(&batch_2_kind, d->num_components, &inner));
  data->inner = inner;
  *(batch_data *)inner->data = data->batch;
  inner->inputs = rheos__alloc_array(1, sizeof *inner->inputs);
  if (inner->inputs == NULL) return rheos__out_of_memory();
  inner->inputs[0] = d->inputs[0];
  inner->num_inputs = 1;
  inner->types = d->types;
  inner->shapes = d->shapes;
  inner->is_live = d->inputs[0]->is_live;
  inner->has_state = d->inputs[0]->has_state;
  return NULL;
}

static void deinit_parallel_batch(rheos__dataset *d) {
  rheos__dataset *inner = ((parallel_batch_data *)d->data)->inner;
  if (inner != NULL) rheos__dataset_unref(inner);
}

static rheos_status *start_parallel_batch(rheos__iterator *iterator, rheos__step *step) {
  const parallel_batch_data *data = iterator->dataset->data;
  const rheos__stage_options options = {.buffer = data->num_calls};
  RHEOS_TRY(rheos__iterator_new(data->inner, step, &iterator->input));
  return rheos__stage_new(iterator, &options, step, &((parallel_batch *)iterator)->stage);
}

static void finish_parallel_batch(rheos__iterator *iterator) {
  rheos__stage_leave(((parallel_batch *)iterator)->stage, iterator);
}

static rheos_status *next_parallel_batch(rheos__iterator *iterator, rheos__step *step,
                                         rheos_tensor **element, bool *out_end) {
  return rheos__stage_next(((parallel_batch *)iterator)->stage, step, element, out_end);
}

static rheos_status *pause_parallel_batch(rheos__iterator *iterator, rheos__step *step) {
  return rheos__stage_pause(((parallel_batch *)iterator)->stage, step);
}

static void count_parallel_batch(rheos__iterator *iterator, rheos__stage_counts *out_counts) {
  rheos__stage_count(((parallel_batch *)iterator)->stage, out_counts);
}

static rheos_status *state_parallel_batch(rheos__iterator *iterator, rheos__saved_state *state,
                                          rheos__step *step) {
  RHEOS_TRY(rheos__iterator_transfer(iterator->input, state, step));
  return rheos__stage_transfer(((parallel_batch *)iterator)->stage, state);
}

static const rheos__dataset_kind parallel_batch_kind = {.name = "ParallelBatch",
                                                        .data_bytes = sizeof(parallel_batch_data),
                                                        .iterator_bytes = sizeof(parallel_batch),
                                                        .like_input = true,
                                                        .init = init_parallel_batch,
                                                        .deinit = deinit_parallel_batch,
                                                        .start = start_parallel_batch,
                                                        .finish = finish_parallel_batch,
                                                        .next = next_parallel_batch,
                                                        .pause = pause_parallel_batch,
                                                        .count = count_parallel_batch,
                                                        .state = state_parallel_batch,
                                                        .cardinality = cardinality_batch,
                                                        .at = at_batch};

static const char *const mapped_options[] = {"preserve_cardinality", NULL};
static const rheos__dataset_kind map_and_batch_kind = {.name = "MapAndBatch",
                                                       .data_bytes = sizeof(batch_data),
                                                       .iterator_bytes = sizeof(mapped_batch),
                                                       .opens_input = true,
                                                       .options = mapped_options,
                                                       .init = init_map_and_batch,
                                                       .start = start_mapped,
                                                       .finish = finish_mapped,
                                                       .next = next_batch,
                                                       .pause = pause_mapped,
                                                       .count = count_mapped,
                                                       .state = state_mapped,
                                                       .cardinality = cardinality_batch};

RHEOS_DATASET_OP(BatchDataset, batch_kind, "input_dataset: variant, batch_size: int64",
                 RHEOS_DATASET_TYPES "; metadata: string = \"\"",
                 "Every `batch_size` elements put together along a new first dimension.")
RHEOS_DATASET_OP(BatchDatasetV2, batch_2_kind,
                 "input_dataset: variant, batch_size: int64, drop_remainder: bool",
                 "; parallel_copy: bool = false" RHEOS_DATASET_TYPES "; metadata: string = \"\"",
                 "Every `batch_size` elements put together along a new first dimension.")
RHEOS_DATASET_OP(ParallelBatchDataset, parallel_batch_kind,
                 "input_dataset: variant, batch_size: int64, num_parallel_calls: int64, "
                 "drop_remainder: bool",
                 "; parallel_copy: bool = false" RHEOS_DATASET_TYPES
                 "; deterministic: string = \"default\"; metadata: string = \"\"",
                 "BatchDatasetV2 whose next `num_parallel_calls` batches are made ahead, in order.")
#define MAP_AND_BATCH(op)                                                                     \
  RHEOS_DATASET_OP(op, map_and_batch_kind,                                                    \
                   "input_dataset: variant, other_arguments: Targuments, batch_size: int64, " \
                   "num_parallel_calls: int64, drop_remainder: bool",                         \
                   "; f: func; Targuments: list(type) >= 0" RHEOS_DATASET_TYPES               \
                   "; preserve_cardinality: bool = false; metadata: string = \"\"",           \
                   "What `f` gives for each element, every `batch_size` of them put together.")
MAP_AND_BATCH(MapAndBatchDataset)
MAP_AND_BATCH(ExperimentalMapAndBatchDataset)

// ---- Unbatch

typedef struct unbatch {
  rheos__iterator base;
  rheos_tensor **batch;  // NULL elements: the next one is to be taken
  int64_t row;
} unbatch;

static rheos_status *start_unbatch(rheos__iterator *iterator, rheos__step *step) {
  (void)step;
  unbatch *it = (unbatch *)iterator;
  it->batch = rheos__alloc_array((size_t)iterator->dataset->num_components, sizeof *it->batch);
  return it->batch != NULL ? NULL : rheos__out_of_memory();
}

static void finish_unbatch(rheos__iterator *iterator) {
  unbatch *it = (unbatch *)iterator;
  if (it->batch != NULL) rheos__element_clear(it->batch, iterator->dataset->num_components);
  rheos__free(it->batch);
}

static rheos_status *check_rows(const unbatch *it) {
  for (int32_t i = 0; i < it->base.dataset->num_components; ++i) {
    const rheos_shape *shape = &it->batch[i]->shape;
    if (shape->rank == 0) return RHEOS_INVALID("Cannot unbatch an element with scalar components.");
    if (shape->dims[0] == it->batch[0]->shape.dims[0]) continue;
    return RHEOS_INVALID(
        "Input element must have the same batch size in each component. Component 0 had size %lld "
        "but component %d had size, %lld.",
        (long long)it->batch[0]->shape.dims[0], (int)i, (long long)shape->dims[0]);
  }
  return NULL;
}

static rheos_status *next_unbatch(rheos__iterator *iterator, rheos__step *step,
                                  rheos_tensor **element, bool *out_end) {
  unbatch *it = (unbatch *)iterator;
  const int32_t count = iterator->dataset->num_components;
  while (it->batch[0] == NULL || it->row >= it->batch[0]->shape.dims[0]) {
    rheos__element_clear(it->batch, count);
    RHEOS_TRY(rheos__iterator_next(iterator->input, step, it->batch, out_end));
    if (*out_end) return NULL;
    it->row = 0;
    rheos_status *status = check_rows(it);
    if (status == NULL) continue;
    rheos__element_clear(it->batch, count);
    return status;
  }
  *out_end = false;
  const int64_t row = it->row++;
  for (int32_t i = 0; i < count; ++i) {
    rheos_status *status = rheos__tensor_row(it->batch[i], row, &element[i]);
    if (status == NULL) continue;
    rheos__element_clear(element, i);
    return status;
  }
  return NULL;
}

static rheos_status *state_unbatch(rheos__iterator *iterator, rheos__saved_state *state,
                                   rheos__step *step) {
  (void)step;
  unbatch *it = (unbatch *)iterator;
  const int32_t count = iterator->dataset->num_components;
  RHEOS_TRY(rheos__state_ints(state, &it->row, 1));
  RHEOS_TRY(rheos__state_tensors(state, it->batch, count));
  rheos_status *status = NULL;
  bool whole = it->batch[0] != NULL && it->row >= 0;
  for (int32_t i = 0; i < count; ++i) whole = whole && it->batch[i] != NULL;
  if (whole) status = check_rows(it);
  if (!whole || status != NULL) rheos__element_clear(it->batch, count);
  return status;
}

// A batch may have any shape of its own, so only dtypes are those of the input.
static const rheos__dataset_kind unbatch_kind = {.name = "Unbatch",
                                                 .iterator_bytes = sizeof(unbatch),
                                                 .opens_input = true,
                                                 .like_input = true,
                                                 .start = start_unbatch,
                                                 .finish = finish_unbatch,
                                                 .next = next_unbatch,
                                                 .state = state_unbatch,
                                                 .cardinality = rheos__cardinality_endless};
#define UNBATCH(op)                                            \
  RHEOS_DATASET_OP(op, unbatch_kind, "input_dataset: variant", \
                   RHEOS_DATASET_TYPES "; metadata: string = \"\"", "The rows of each element.")
UNBATCH(UnbatchDataset)
UNBATCH(ExperimentalUnbatchDataset)
