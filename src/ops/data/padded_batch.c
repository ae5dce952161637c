// PaddedBatchDataset: elements put together, each made as large as the largest.
#include "ops/data/dataset.h"

typedef struct padded_data {
  int64_t size;
  bool drop_remainder;
} padded_data;

static rheos_status *init_padded(rheos__dataset *d) {
  padded_data *data = d->data;
  const int32_t n = d->num_components;
  RHEOS_TRY(rheos__dataset_int(d, 1, "batch_size", &data->size));
  if (data->size <= 0) return RHEOS_INVALID("Batch size must be greater than zero.");
  if (d->num_args == 3 + 2 * n) {
    RHEOS_TRY(rheos__dataset_bool(d, 2 + 2 * n, "drop_remainder", &data->drop_remainder));
  }
  if (d->num_args < 2 + 2 * n) {
    return RHEOS_INVALID("Number of padded shapes does not match the %d components", (int)n);
  }
  for (int32_t i = 0; i < n; ++i) {
    const rheos_tensor *shape = d->args[2 + i], *value = d->args[2 + n + i];
    if (shape->shape.rank != 1) return RHEOS_INVALID("All padded shapes must be vectors");
    if (shape->num_elements >= RHEOS_MAX_RANK) {
      return RHEOS_INVALID("a batch of rank %lld has more than %d dimensions",
                           (long long)shape->num_elements, RHEOS_MAX_RANK);
    }
    if (value->shape.rank != 0) return RHEOS_INVALID("All padding values must be scalars");
    if (value->dtype != d->types[i] || value->dtype == RHEOS_RESOURCE) {
      return RHEOS_INVALID(
          "Mismatched type between padding value %d and input dataset's component "
          "%d: %s vs. %s",
          (int)i, (int)i, rheos_dtype_name(value->dtype), rheos_dtype_name(d->types[i]));
    }
  }
  return NULL;
}

// The shape of a component's batch: as asked for, or as large as the largest.
static rheos_status *shape_of_batch(const rheos__dataset *d, int32_t component,
                                    rheos_tensor *const *elements, int64_t count,
                                    rheos_shape *out_shape) {
  const rheos_tensor *wanted = d->args[2 + component];
  const int32_t rank = (int32_t)wanted->num_elements, n = d->num_components;
  *out_shape = (rheos_shape){.rank = rank + 1};
  out_shape->dims[0] = count;
  for (int32_t k = 0; k < rank; ++k) {
    const int64_t dim = rheos__tensor_int_at(wanted, k);
    if (dim < -1) return RHEOS_INVALID("Padding shapes must be non-negative, or -1");
    out_shape->dims[k + 1] = dim < 0 ? 0 : dim;
  }
  for (int64_t row = 0; row < count; ++row) {
    const rheos_shape *shape = &elements[row * n + component]->shape;
    if (shape->rank != rank) {
      return RHEOS_INVALID(
          "All elements in a batch must have the same rank as the padded shape for component %d: "
          "expected rank %d but got element with rank %d",
          (int)component, (int)rank, (int)shape->rank);
    }
    for (int32_t k = 0; k < rank; ++k) {
      int64_t *dim = &out_shape->dims[k + 1];
      if (shape->dims[k] <= *dim) continue;
      if (rheos__tensor_int_at(wanted, k) >= 0) {
        rheos__shape_text text;
        return rheos_status_new(
            RHEOS_DATA_LOSS,
            "Attempted to pad to a smaller size than the input element: component %d has shape %s",
            (int)component, rheos__shape_text_of(shape, &text));
      }
      *dim = shape->dims[k];
    }
  }
  return NULL;
}

static rheos_status *fill(rheos_tensor *tensor, const rheos_tensor *value) {
  const size_t size = rheos__dtype_size(tensor->dtype);
  char *to = tensor->data;
  for (int64_t i = 0; i < tensor->num_elements; ++i, to += size) {
    RHEOS_TRY(rheos__copy_elements(tensor->dtype, to, value->data, 1));
  }
  return NULL;
}

static rheos_status *put(const rheos_tensor *value, const rheos_tensor *element, int64_t row,
                         rheos_tensor *batch) {
  const rheos_shape *from = &element->shape, *to = &batch->shape;
  const size_t size = rheos__dtype_size(batch->dtype);
  const int32_t rank = from->rank;
  const int64_t run = rank > 0 ? from->dims[rank - 1] : 1;
  int64_t at[RHEOS_MAX_RANK] = {0};
  (void)value;
  for (int64_t done = 0; run > 0 && done < element->num_elements; done += run) {
    int64_t place = row;
    for (int32_t k = 0; k < rank; ++k) place = place * to->dims[k + 1] + at[k];
    if (batch->dtype == RHEOS_STRING) {
      for (int64_t i = 0; i < run; ++i) {
        const rheos_string *s = (const rheos_string *)element->data + done + i;
        RHEOS_TRY(rheos_tensor_set_string(batch, place + i, s->data, s->size_bytes));
      }
    } else if (batch->dtype == RHEOS_VARIANT) {
      return rheos_status_new(RHEOS_UNIMPLEMENTED, "variants cannot be padded");
    } else {
      memcpy((char *)batch->data + (size_t)place * size,
             (const char *)element->data + (size_t)done * size, (size_t)run * size);
    }
    for (int32_t k = rank - 2; k >= 0 && ++at[k] == from->dims[k]; --k) at[k] = 0;
  }
  return NULL;
}

static rheos_status *pad(const rheos__dataset *d, int32_t component, rheos_tensor *const *elements,
                         int64_t count, rheos_tensor **out_batch) {
  const rheos_tensor *value = d->args[2 + d->num_components + component];
  rheos_shape shape;
  rheos_tensor *batch = NULL;
  RHEOS_TRY(shape_of_batch(d, component, elements, count, &shape));
  RHEOS_TRY(rheos__tensor_new(d->types[component], &shape, &batch));
  rheos_status *status = fill(batch, value);
  for (int64_t row = 0; status == NULL && row < count; ++row) {
    status = put(value, elements[row * d->num_components + component], row, batch);
  }
  if (status == NULL) {
    *out_batch = batch;
  } else {
    rheos_tensor_unref(batch);
  }
  return status;
}

static rheos_status *collect(rheos__iterator *iterator, rheos__step *step, rheos_tensor ***elements,
                             int64_t *out_count) {
  const rheos__dataset *d = iterator->dataset;
  const int64_t size = ((const padded_data *)d->data)->size;
  const size_t n = (size_t)d->num_components;
  size_t capacity = 0;
  while (*out_count < size) {
    bool end = false;
    const size_t used = (size_t)*out_count * n;
    if (!rheos__reserve((void **)elements, &capacity, used + n, sizeof **elements)) {
      return rheos__out_of_memory();
    }
    for (size_t i = 0; i < n; ++i) (*elements)[used + i] = NULL;
    RHEOS_TRY(rheos__iterator_next(iterator->input, step, *elements + used, &end));
    if (end) return NULL;
    ++*out_count;
    if (rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
  }
  return NULL;
}

static rheos_status *next_padded(rheos__iterator *iterator, rheos__step *step,
                                 rheos_tensor **element, bool *out_end) {
  const rheos__dataset *d = iterator->dataset;
  const padded_data *data = d->data;
  rheos_tensor **elements = NULL;
  int64_t count = 0;
  rheos_status *status = collect(iterator, step, &elements, &count);
  *out_end = status == NULL && (count == 0 || (count < data->size && data->drop_remainder));
  for (int32_t i = 0; status == NULL && !*out_end && i < d->num_components; ++i) {
    status = pad(d, i, elements, count, &element[i]);
  }
  if (status != NULL) rheos__element_clear(element, d->num_components);
  for (int64_t i = 0; i < count * d->num_components; ++i) rheos_tensor_unref(elements[i]);
  rheos__free(elements);
  return status;
}

static int64_t cardinality_padded(const rheos__dataset *d) {
  const padded_data *data = d->data;
  const int64_t all = rheos__dataset_cardinality(d->inputs[0]);
  if (all < 0) return all;
  return all / data->size + (!data->drop_remainder && all % data->size != 0);
}

static const rheos__dataset_kind padded_kind = {.name = "PaddedBatch",
                                                .data_bytes = sizeof(padded_data),
                                                .opens_input = true,
                                                .like_input = true,
                                                .init = init_padded,
                                                .next = next_padded,
                                                .cardinality = cardinality_padded};
#define INPUTS                                                                            \
  "input_dataset: variant, batch_size: int64, padded_shapes: N * int64, padding_values: " \
  "Toutput_types"
#define ATTRS                                                                                  \
  "; Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1; N: int >= 1; metadata: " \
  "string = \"\""
#define PADDED "Every `batch_size` elements put together, padded to `padded_shapes`."
RHEOS_DATASET_OP(PaddedBatchDataset, padded_kind, INPUTS, ATTRS, PADDED)
RHEOS_DATASET_OP(PaddedBatchDatasetV2, padded_kind, INPUTS ", drop_remainder: bool",
                 "; parallel_copy: bool = false" ATTRS, PADDED)
