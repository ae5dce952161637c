// Datasets that have no others as inputs: tensors, slices of tensors, numbers.
#include "ops/data/dataset.h"
#include "ops/data/element.h"
#include "ops/kit/philox.h"

typedef struct counting {
  rheos__iterator base;
  int64_t next;
} counting;

static rheos_status *state_counting(rheos__iterator *iterator, rheos__saved_state *state,
                                    rheos__step *step) {
  (void)step;
  return rheos__state_ints(state, &((counting *)iterator)->next, 1);
}

// ---- TensorDataset

static rheos_status *init_tensors(rheos__dataset *d) {
  for (int32_t i = 0; i < d->num_components; ++i) {
    if (d->args[i] == NULL) return RHEOS_INVALID("component %d is no tensor", (int)i);
  }
  return NULL;
}

static rheos_status *next_tensors(rheos__iterator *iterator, rheos__step *step,
                                  rheos_tensor **element, bool *out_end) {
  (void)step;
  counting *it = (counting *)iterator;
  const rheos__dataset *d = iterator->dataset;
  *out_end = it->next > 0;
  for (int32_t i = 0; !*out_end && i < d->num_components; ++i) {
    element[i] = rheos_tensor_ref(d->args[i]);
  }
  it->next = 1;
  return NULL;
}

static rheos_status *at_tensors(rheos__dataset *d, int64_t index, rheos__step *step,
                                rheos_tensor **element) {
  (void)index, (void)step;
  for (int32_t i = 0; i < d->num_components; ++i) element[i] = rheos_tensor_ref(d->args[i]);
  return NULL;
}

static int64_t cardinality_one(const rheos__dataset *d) {
  (void)d;
  return 1;
}

static const rheos__dataset_kind tensors_kind = {.name = "Tensor",
                                                 .iterator_bytes = sizeof(counting),
                                                 .init = init_tensors,
                                                 .next = next_tensors,
                                                 .state = state_counting,
                                                 .cardinality = cardinality_one,
                                                 .at = at_tensors};
RHEOS_DATASET_OP(TensorDataset, tensors_kind, "components: Toutput_types",
                 "; Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: "
                 "string = \"\"",
                 "One element: `components`.")

// ---- ListDataset

static rheos_status *init_list(rheos__dataset *d) {
  const int32_t n = d->num_components;
  if (d->num_args % n != 0) {
    return RHEOS_INVALID("%d tensors make no elements of %d components", (int)d->num_args, (int)n);
  }
  for (int32_t i = 0; i < d->num_args; ++i) {
    if (d->args[i] == NULL || d->args[i]->dtype != d->types[i % n]) {
      return RHEOS_INVALID("tensor %d is not of the dtype of its component", (int)i);
    }
  }
  return NULL;
}

static int64_t cardinality_list(const rheos__dataset *d) { return d->num_args / d->num_components; }

static rheos_status *at_list(rheos__dataset *d, int64_t index, rheos__step *step,
                             rheos_tensor **element) {
  (void)step;
  rheos_tensor **row = d->args + index * d->num_components;
  for (int32_t i = 0; i < d->num_components; ++i) element[i] = rheos_tensor_ref(row[i]);
  return NULL;
}

static rheos_status *next_listed(rheos__iterator *iterator, rheos__step *step,
                                 rheos_tensor **element, bool *out_end) {
  counting *it = (counting *)iterator;
  const rheos__dataset *d = iterator->dataset;
  *out_end = it->next < 0 || it->next >= cardinality_list(d);
  return *out_end ? NULL : at_list(iterator->dataset, it->next++, step, element);
}

static const rheos__dataset_kind list_kind = {.name = "List",
                                              .iterator_bytes = sizeof(counting),
                                              .init = init_list,
                                              .next = next_listed,
                                              .state = state_counting,
                                              .cardinality = cardinality_list,
                                              .at = at_list};
RHEOS_DATASET_OP(ListDataset, list_kind, "tensors: Tinput_types",
                 "; Tinput_types: list(type) >= 1" RHEOS_DATASET_TYPES "; metadata: string = \"\"",
                 "Elements of `tensors`, as many of them each as there are components.")

// ---- TensorSliceDataset

static rheos_status *init_slices(rheos__dataset *d) {
  RHEOS_TRY(init_tensors(d));
  for (int32_t i = 0; i < d->num_components; ++i) {
    const rheos_shape *shape = &d->args[i]->shape;
    if (shape->rank < 1) {
      return RHEOS_INVALID("All components must be at least 1-dimensional");
    }
    if (shape->dims[0] != d->args[0]->shape.dims[0]) {
      return RHEOS_INVALID("All components must have the same size in the 0th dimension");
    }
  }
  return NULL;
}

static int64_t cardinality_slices(const rheos__dataset *d) { return d->args[0]->shape.dims[0]; }

static rheos_status *at_slices(rheos__dataset *d, int64_t index, rheos__step *step,
                               rheos_tensor **element) {
  (void)step;
  for (int32_t i = 0; i < d->num_components; ++i) {
    rheos_status *status = rheos__tensor_row(d->args[i], index, &element[i]);
    if (status == NULL) continue;
    rheos__element_clear(element, d->num_components);
    return status;
  }
  return NULL;
}

static rheos_status *next_slices(rheos__iterator *iterator, rheos__step *step,
                                 rheos_tensor **element, bool *out_end) {
  counting *it = (counting *)iterator;
  const rheos__dataset *d = iterator->dataset;
  *out_end = it->next >= cardinality_slices(d);
  if (*out_end) return NULL;
  return at_slices(iterator->dataset, it->next++, step, element);
}

static const rheos__dataset_kind slices_kind = {.name = "TensorSlice",
                                                .iterator_bytes = sizeof(counting),
                                                .takes_places = true,
                                                .init = init_slices,
                                                .next = next_slices,
                                                .state = state_counting,
                                                .cardinality = cardinality_slices,
                                                .at = at_slices};
RHEOS_DATASET_OP(TensorSliceDataset, slices_kind, "components: Toutput_types",
                 "; Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1; is_files: "
                 "bool = false; metadata: string = \"\"; replicate_on_split: bool = false",
                 "The rows of `components`, one element each.")

// ---- SparseTensorSliceDataset

typedef struct sparse_data {
  rheos_dtype types[3];
  rheos_shape shapes[3];
} sparse_data;

static rheos_status *init_sparse(rheos__dataset *d) {
  sparse_data *data = d->data;
  const rheos_tensor *indices = d->args[0], *values = d->args[1], *shape = d->args[2];
  if (indices->shape.rank != 2) {
    return RHEOS_INVALID("Input indices must be a matrix. Got: a tensor of rank %d",
                         (int)indices->shape.rank);
  }
  if (values->shape.rank != 1) return RHEOS_INVALID("Input values must be a vector.");
  if (shape->shape.rank != 1) return RHEOS_INVALID("Input shape must be a vector.");
  const int64_t rank = shape->num_elements, count = values->num_elements;
  if (indices->shape.dims[0] != count || indices->shape.dims[1] != rank) {
    return RHEOS_INVALID("Number of values, indices and dimensions must match");
  }
  if (rank < 1) return RHEOS_INVALID("a sparse tensor must have a dimension to be sliced");
  const int64_t *at = indices->data, *dims = shape->data;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < rank; ++k) {
      if (at[i * rank + k] < 0 || at[i * rank + k] >= dims[k]) {
        return RHEOS_INVALID("indices[%lld] lies outside the dense shape", (long long)i);
      }
    }
    if (i > 0 && at[i * rank] < at[(i - 1) * rank]) {
      return rheos_status_new(
          RHEOS_UNIMPLEMENTED,
          "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered "
          "input is not currently supported.");
    }
  }
  data->types[0] = data->types[2] = RHEOS_INT64;
  data->types[1] = values->dtype;
  data->shapes[0] = RHEOS_SHAPE(-1, rank - 1);
  data->shapes[1] = RHEOS_SHAPE(-1);
  data->shapes[2] = RHEOS_SHAPE(rank - 1);
  d->types = data->types;
  d->shapes = data->shapes;
  d->num_components = 3;
  return NULL;
}

static int64_t cardinality_sparse(const rheos__dataset *d) {
  return ((const int64_t *)d->args[2]->data)[0];
}

typedef struct sparse_iterator {
  rheos__iterator base;
  int64_t at[2];  // the next slice, the first value that is not before it
} sparse_iterator;

static rheos_status *slice_sparse(const rheos__dataset *d, int64_t first, int64_t last,
                                  rheos_tensor **element) {
  const int64_t rank = d->args[2]->num_elements, count = last - first;
  const rheos_tensor *values = d->args[1];
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(count, rank - 1), &element[0]));
  RHEOS_TRY(rheos__tensor_new(values->dtype, &RHEOS_SHAPE(count), &element[1]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(rank - 1), &element[2]));
  const int64_t *from = d->args[0]->data, *dims = d->args[2]->data;
  int64_t *to = element[0]->data;
  for (int64_t i = first; i < last; ++i) {
    for (int64_t k = 1; k < rank; ++k) *to++ = from[i * rank + k];
  }
  for (int64_t k = 1; k < rank; ++k) ((int64_t *)element[2]->data)[k - 1] = dims[k];
  const size_t size = rheos__dtype_size(values->dtype);
  return rheos__copy_elements(values->dtype, element[1]->data,
                              (const char *)values->data + (size_t)first * size, count);
}

static rheos_status *next_sparse(rheos__iterator *iterator, rheos__step *step,
                                 rheos_tensor **element, bool *out_end) {
  (void)step;
  sparse_iterator *it = (sparse_iterator *)iterator;
  const rheos__dataset *d = iterator->dataset;
  *out_end = it->at[0] >= cardinality_sparse(d);
  if (*out_end) return NULL;
  const int64_t *indices = d->args[0]->data;
  const int64_t rank = d->args[2]->num_elements, count = d->args[1]->num_elements;
  int64_t last = it->at[1];
  while (last < count && indices[last * rank] == it->at[0]) ++last;
  rheos_status *status = slice_sparse(d, it->at[1], last, element);
  if (status != NULL) rheos__element_clear(element, 3);
  ++it->at[0];
  it->at[1] = last;
  return status;
}

static rheos_status *state_sparse(rheos__iterator *iterator, rheos__saved_state *state,
                                  rheos__step *step) {
  (void)step;
  sparse_iterator *it = (sparse_iterator *)iterator;
  RHEOS_TRY(rheos__state_ints(state, it->at, 2));
  const int64_t count = iterator->dataset->args[1]->num_elements;
  if (it->at[0] >= 0 && it->at[1] >= 0 && it->at[1] <= count) return NULL;
  return RHEOS_INVALID("the state of the iterator is that of another pipeline");
}

static const rheos__dataset_kind sparse_kind = {.name = "SparseTensorSlice",
                                                .data_bytes = sizeof(sparse_data),
                                                .iterator_bytes = sizeof(sparse_iterator),
                                                .init = init_sparse,
                                                .next = next_sparse,
                                                .state = state_sparse,
                                                .cardinality = cardinality_sparse};
RHEOS_DATASET_OP(SparseTensorSliceDataset, sparse_kind,
                 "indices: int64, values: Tvalues, dense_shape: int64", "; Tvalues: type",
                 "The slices of a sparse tensor along its first dimension.")

// ---- RangeDataset

typedef struct range {
  int64_t start, stop, step, count;
} range;

static rheos_status *init_range(rheos__dataset *d) {
  range *r = d->data;
  RHEOS_TRY(rheos__dataset_int(d, 0, "start", &r->start));
  RHEOS_TRY(rheos__dataset_int(d, 1, "stop", &r->stop));
  RHEOS_TRY(rheos__dataset_int(d, 2, "step", &r->step));
  if (r->step == 0) return RHEOS_INVALID("step must be a non-zero integer.");
  if (d->num_components != 1 ||
      (!rheos_dtype_is_integer(d->types[0]) && !rheos_dtype_is_floating(d->types[0]))) {
    return RHEOS_INVALID("elements of a range must be numbers");
  }
  const bool up = r->step > 0;
  if (up ? r->start >= r->stop : r->start <= r->stop) return NULL;
  const uint64_t span =
      up ? (uint64_t)r->stop - (uint64_t)r->start : (uint64_t)r->start - (uint64_t)r->stop;
  const uint64_t stride = up ? (uint64_t)r->step : -(uint64_t)r->step;
  const uint64_t count = span / stride + (span % stride != 0);
  r->count = count < INT64_MAX ? (int64_t)count : INT64_MAX;
  return NULL;
}

static int64_t cardinality_range(const rheos__dataset *d) {
  const range *r = d->data;
  const bool is_open = r->step > 0 && r->stop == INT64_MAX;  // TensorFlow's range without an end
  return is_open ? RHEOS__CARDINALITY_INFINITE : r->count;
}

static rheos_status *at_range(rheos__dataset *d, int64_t index, rheos__step *step,
                              rheos_tensor **element) {
  (void)step;
  const range *r = d->data;
  const uint64_t value = (uint64_t)r->start + (uint64_t)index * (uint64_t)r->step;
  return rheos__tensor_of_int(d->types[0], (int64_t)value, &element[0]);
}

static rheos_status *next_range(rheos__iterator *iterator, rheos__step *step,
                                rheos_tensor **element, bool *out_end) {
  counting *it = (counting *)iterator;
  const range *r = iterator->dataset->data;
  *out_end = it->next >= r->count || it->next < 0;
  if (*out_end) return NULL;
  return at_range(iterator->dataset, it->next++, step, element);
}

static const rheos__dataset_kind range_kind = {.name = "Range",
                                               .data_bytes = sizeof(range),
                                               .iterator_bytes = sizeof(counting),
                                               .takes_places = true,
                                               .init = init_range,
                                               .next = next_range,
                                               .state = state_counting,
                                               .cardinality = cardinality_range,
                                               .at = at_range};
RHEOS_DATASET_OP(RangeDataset, range_kind, "start: int64, stop: int64, step: int64",
                 RHEOS_DATASET_TYPES "; metadata: string = \"\"; replicate_on_split: bool = false",
                 "Numbers from `start` by `step` up to `stop`.")

// ---- RandomDataset

typedef struct random_data {
  int64_t seeds[2];
  _Atomic int64_t num_started;
} random_data;

typedef struct random_iterator {
  rheos__iterator base;
  rheos__philox_singles numbers;
  int64_t seeds[2], count;
} random_iterator;

static rheos__philox_singles numbers_of(const int64_t *seeds) {
  return rheos__philox_singles_of(rheos__philox_of((uint64_t)seeds[0], (uint64_t)seeds[1]));
}

static const char *const random_options[] = {"rerandomize_each_iteration", NULL};

// Where each iterator is to have numbers of its own, its seeds are the next two of those that the
// dataset's seeds give.
static rheos_status *start_random(rheos__iterator *iterator, rheos__step *step) {
  (void)step;
  random_iterator *it = (random_iterator *)iterator;
  random_data *data = iterator->dataset->data;
  memcpy(it->seeds, data->seeds, sizeof it->seeds);
  if (rheos__dataset_options(iterator->dataset)[0] != 0) {
    rheos__philox_singles seeds = numbers_of(data->seeds);
    rheos__philox_singles_skip(&seeds, 2 * atomic_fetch_add(&data->num_started, 1));
    for (int i = 0; i < 2; ++i) it->seeds[i] = rheos__philox_next(&seeds);
  }
  it->numbers = numbers_of(it->seeds);
  return NULL;
}

static rheos_status *next_random(rheos__iterator *iterator, rheos__step *step,
                                 rheos_tensor **element, bool *out_end) {
  (void)step;
  random_iterator *it = (random_iterator *)iterator;
  *out_end = false;
  ++it->count;
  return rheos__tensor_of_int(RHEOS_INT64, rheos__philox_next(&it->numbers), &element[0]);
}

static rheos_status *state_random(rheos__iterator *iterator, rheos__saved_state *state,
                                  rheos__step *step) {
  (void)step;
  random_iterator *it = (random_iterator *)iterator;
  RHEOS_TRY(rheos__state_ints(state, &it->count, 1));
  RHEOS_TRY(rheos__state_ints(state, it->seeds, 2));
  if (!state->is_restoring) return NULL;
  if (it->count < 0) return RHEOS_INVALID("the state of the iterator is that of another pipeline");
  it->numbers = numbers_of(it->seeds);
  rheos__philox_singles_skip(&it->numbers, it->count);
  return NULL;
}

static rheos_status *init_random(rheos__dataset *d) {
  return rheos__dataset_seeds(d, 0, ((random_data *)d->data)->seeds);
}

static int64_t cardinality_infinite(const rheos__dataset *d) {
  (void)d;
  return RHEOS__CARDINALITY_INFINITE;
}

static const rheos__dataset_kind random_kind = {.name = "Random",
                                                .data_bytes = sizeof(random_data),
                                                .iterator_bytes = sizeof(random_iterator),
                                                .options = random_options,
                                                .init = init_random,
                                                .start = start_random,
                                                .next = next_random,
                                                .state = state_random,
                                                .cardinality = cardinality_infinite};
#define RANDOM(op, more_inputs, more_attrs)                                    \
  RHEOS_DATASET_OP(op, random_kind, "seed: int64, seed2: int64" more_inputs,   \
                   more_attrs RHEOS_DATASET_TYPES "; metadata: string = \"\"", \
                   "Pseudorandom integers from 0 to 2^32 - 1, without an end.")
RANDOM(ExperimentalRandomDataset, "", "")
RANDOM(RandomDataset, "", "")
RANDOM(RandomDatasetV2, ", seed_generator: resource", "; rerandomize_each_iteration: bool = false")
