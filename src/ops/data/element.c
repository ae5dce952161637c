#include "ops/data/element.h"

#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

rheos_status *rheos__tensor_row(const rheos_tensor *tensor, int64_t row,
                                rheos_tensor **out_tensor) {
  rheos_shape shape = {.rank = tensor->shape.rank - 1};
  for (int32_t d = 0; d < shape.rank; ++d) shape.dims[d] = tensor->shape.dims[d + 1];
  rheos_tensor *out = NULL;
  *out_tensor = NULL;
  RHEOS_TRY(rheos__tensor_new(tensor->dtype, &shape, &out));
  const size_t row_bytes = (size_t)out->num_elements * rheos__dtype_size(out->dtype);
  rheos_status *status =
      rheos__copy_elements(out->dtype, out->data,
                           (const char *)tensor->data + (size_t)row * row_bytes, out->num_elements);
  if (status == NULL) {
    *out_tensor = out;
  } else {
    rheos_tensor_unref(out);
  }
  return status;
}

rheos_status *rheos__tensor_of_int(rheos_dtype dtype, int64_t value, rheos_tensor **out_tensor) {
  RHEOS_TRY(rheos__tensor_new(dtype, &RHEOS_SCALAR, out_tensor));
  void *data = (*out_tensor)->data;
  switch (dtype) {
    case RHEOS_FLOAT: *(float *)data = (float)value; break;
    case RHEOS_DOUBLE: *(double *)data = (double)value; break;
    case RHEOS_HALF: *(uint16_t *)data = rheos__float_to_half((float)value); break;
    case RHEOS_BFLOAT16: *(uint16_t *)data = rheos__float_to_bfloat16((float)value); break;
    default: memcpy(data, &value, rheos__dtype_size(dtype)); break;  // little endian
  }
  return NULL;
}

// ---- Stacks

enum { FIRST_BYTES = 1 << 20 };

static rheos_status *grow(rheos__stack *stack, rheos_dtype dtype, int64_t capacity) {
  rheos_shape shape = {.rank = stack->row.rank + 1};
  if (shape.rank > RHEOS_MAX_RANK) {
    return RHEOS_INVALID("a batch of tensors of rank %d would have more than %d dimensions",
                         (int)stack->row.rank, RHEOS_MAX_RANK);
  }
  shape.dims[0] = capacity;
  for (int32_t d = 0; d < stack->row.rank; ++d) shape.dims[d + 1] = stack->row.dims[d];
  rheos_tensor *grown = NULL;
  RHEOS_TRY(rheos__tensor_new(dtype, &shape, &grown));
  if (stack->tensor != NULL) {
    const int64_t rows = stack->count < capacity ? stack->count : capacity;
    const int64_t per_row = stack->capacity > 0 ? stack->tensor->num_elements / stack->capacity : 0;
    rheos_status *status =
        rheos__copy_elements(dtype, grown->data, stack->tensor->data, rows * per_row);
    if (status != NULL) {
      rheos_tensor_unref(grown);
      return status;
    }
    rheos_tensor_unref(stack->tensor);
  }
  stack->tensor = grown;
  stack->capacity = capacity;
  return NULL;
}

static rheos_status *make_room(rheos__stack *stack, const rheos_tensor *row, int64_t most) {
  if (stack->tensor == NULL) {
    stack->row = row->shape;
    const int64_t fit = FIRST_BYTES / (int64_t)(row->size_bytes + 1) + 1;
    return grow(stack, row->dtype, most < fit ? most : fit);
  }
  if (stack->count < stack->capacity) return NULL;
  const int64_t twice = stack->capacity > most / 2 ? most : 2 * stack->capacity;
  return grow(stack, row->dtype, twice);
}

rheos_status *rheos__stack_add(rheos__stack *stack, const rheos_tensor *row, int64_t most,
                               int32_t component) {
  if (stack->tensor != NULL && !rheos_shape_equal(&stack->row, &row->shape)) {
    rheos__shape_text first, other;
    return RHEOS_INVALID(
        "Cannot batch tensors with different shapes in component %d. First element had shape %s "
        "and element %lld had shape %s.",
        (int)component, rheos__shape_text_of(&stack->row, &first), (long long)stack->count,
        rheos__shape_text_of(&row->shape, &other));
  }
  RHEOS_TRY(make_room(stack, row, most));
  char *to = (char *)stack->tensor->data + (size_t)stack->count * row->size_bytes;
  ++stack->count;
  if (row->dtype == RHEOS_STRING || row->dtype == RHEOS_VARIANT || row->dtype == RHEOS_RESOURCE) {
    return rheos__copy_elements(row->dtype, to, row->data, row->num_elements);
  }
  memcpy(to, row->data, row->size_bytes);
  return NULL;
}

rheos_status *rheos__stack_take(rheos__stack *stack, rheos_tensor **out_tensor) {
  rheos_status *status = NULL;
  *out_tensor = NULL;
  if (stack->count < stack->capacity) status = grow(stack, stack->tensor->dtype, stack->count);
  if (status == NULL) {
    *out_tensor = stack->tensor;
    stack->tensor = NULL;
  }
  rheos__stack_deinit(stack);
  return status;
}

// ---- Seeds

rheos_status *rheos__random_seeds(int64_t *seeds) {
  if (seeds[0] != 0 || seeds[1] != 0) return NULL;
  if (getrandom(seeds, 2 * sizeof *seeds, 0) == (ssize_t)(2 * sizeof *seeds)) return NULL;
  return rheos_status_new(RHEOS_UNAVAILABLE, "the system gives no random bytes for a seed");
}

rheos_status *rheos__dataset_seeds(const rheos__dataset *dataset, int32_t arg, int64_t *out_seeds) {
  RHEOS_TRY(rheos__dataset_int(dataset, arg, "seed", &out_seeds[0]));
  RHEOS_TRY(rheos__dataset_int(dataset, arg + 1, "seed2", &out_seeds[1]));
  return rheos__random_seeds(out_seeds);
}
