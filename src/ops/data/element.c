#include "ops/data/element.h"

#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

// A tensor that values may be written to: the one at hand, or a new one in its place.
static rheos_status *tensor_for(rheos_dtype dtype, const rheos_shape *shape,
                                rheos_tensor **tensor) {
  rheos_tensor *at_hand = *tensor;
  if (at_hand != NULL) {
    if (at_hand->dtype == dtype && rheos_shape_equal(&at_hand->shape, shape) &&
        rheos__tensor_is_spare(at_hand)) {
      return NULL;
    }
    rheos_tensor_unref(at_hand);
  }
  return rheos__tensor_new(dtype, shape, tensor);
}

rheos_status *rheos__tensor_row(const rheos_tensor *from, int64_t row, rheos_tensor **tensor) {
  rheos_shape shape = {.rank = from->shape.rank - 1};
  for (int32_t d = 0; d < shape.rank; ++d) shape.dims[d] = from->shape.dims[d + 1];
  RHEOS_TRY(tensor_for(from->dtype, &shape, tensor));
  rheos_tensor *out = *tensor;
  const size_t row_bytes = (size_t)out->num_elements * rheos__dtype_size(out->dtype);
  rheos_status *status = rheos__copy_elements(
      out->dtype, out->data, (const char *)from->data + (size_t)row * row_bytes, out->num_elements);
  if (status == NULL) return NULL;
  rheos_tensor_unref(out);
  *tensor = NULL;
  return status;
}

rheos_status *rheos__tensor_of_int(rheos_dtype dtype, int64_t value, rheos_tensor **tensor) {
  RHEOS_TRY(tensor_for(dtype, &RHEOS_SCALAR, tensor));
  void *data = (*tensor)->data;
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
    rheos_tensor_unref(stack->place);
    stack->place = NULL;
    rheos_tensor_unref(stack->tensor);
  }
  stack->tensor = grown;
  stack->capacity = capacity;
  return NULL;
}

static bool holds_bytes(rheos_dtype dtype) {
  return dtype != RHEOS_STRING && dtype != RHEOS_VARIANT && dtype != RHEOS_RESOURCE;
}

static rheos_status *start(rheos__stack *stack, rheos_dtype dtype, const rheos_shape *row,
                           size_t row_bytes, int64_t most, bool is_sure) {
  stack->row = *row;
  const int64_t fit = FIRST_BYTES / (int64_t)(row_bytes + 1) + 1;
  return grow(stack, dtype, is_sure || most < fit ? most : fit);
}

static rheos_status *make_room(rheos__stack *stack, int64_t most) {
  if (stack->count < stack->capacity) return NULL;
  const int64_t twice = stack->capacity > most / 2 ? most : 2 * stack->capacity;
  return grow(stack, stack->tensor->dtype, twice);
}

rheos_status *rheos__stack_expect(rheos__stack *stack, rheos_dtype dtype, const rheos_shape *row,
                                  int64_t most, bool is_sure) {
  int64_t num_elements;
  size_t row_bytes;
  if (!holds_bytes(dtype) || row->rank >= RHEOS_MAX_RANK) return NULL;
  rheos_status *status = rheos__shape_size(dtype, row, &num_elements, &row_bytes);
  if (status == NULL) return start(stack, dtype, row, row_bytes, most, is_sure);
  rheos_status_free(status);  // not known, or too large: the first row tells
  return NULL;
}

// Rows of no bytes have no places: these could not be told apart.
static size_t row_bytes_of(const rheos__stack *stack) {
  return stack->capacity > 0 ? stack->tensor->size_bytes / (size_t)stack->capacity : 0;
}

rheos_tensor *rheos__stack_place(rheos__stack *stack) {
  if (stack->tensor == NULL || stack->count >= stack->capacity) return NULL;
  if (!holds_bytes(stack->tensor->dtype) || stack->tensor->size_bytes == 0) return NULL;
  const size_t offset = (size_t)stack->count * row_bytes_of(stack);
  rheos_tensor *place = stack->place;
  stack->place = NULL;
  if (place != NULL) {
    place->data = (char *)stack->tensor->data + offset;
    return place;
  }
  rheos_status_free(rheos__tensor_place(stack->tensor, &stack->row, offset, &place));
  return place;
}

// The rows of a block that somebody else made, which begin here.
static bool adopt_block(rheos__stack *stack, rheos_tensor *block, const rheos_tensor *row,
                        int64_t most) {
  if (stack->count > 0 || row->data != block->data || block->shape.dims[0] != most) return false;
  if (block->size_bytes != (size_t)most * row->size_bytes) return false;
  rheos__stack_deinit(stack);
  stack->tensor = rheos_tensor_ref(block);
  stack->row = row->shape;
  stack->capacity = most;
  return true;
}

bool rheos__stack_adopt(rheos__stack *stack, rheos_tensor **row, int64_t most) {
  rheos_tensor *made = *row, *block = rheos__tensor_block(made);
  if (block == NULL) return false;
  if (block != stack->tensor && !adopt_block(stack, block, made, most)) return false;
  const char *next = (char *)stack->tensor->data + (size_t)stack->count * made->size_bytes;
  if (made->data != next || stack->count >= stack->capacity) return false;
  ++stack->count;
  if (stack->place == NULL && rheos__tensor_is_spare(made)) {
    stack->place = made;
    *row = NULL;
  }
  return true;
}

rheos_status *rheos__stack_add(rheos__stack *stack, const rheos_tensor *row, int64_t most,
                               int32_t component) {
  const bool fits = stack->tensor != NULL && rheos_shape_equal(&stack->row, &row->shape) &&
                    stack->tensor->dtype == row->dtype;
  if (!fits && stack->count == 0) {  // what was expected, if anything, did not come
    rheos__stack_deinit(stack);
    RHEOS_TRY(start(stack, row->dtype, &row->shape, row->size_bytes, most, false));
  } else if (!fits) {
    rheos__shape_text first, other;
    return RHEOS_INVALID(
        "Cannot batch tensors with different shapes in component %d. First element had shape %s "
        "and element %lld had shape %s.",
        (int)component, rheos__shape_text_of(&stack->row, &first), (long long)stack->count,
        rheos__shape_text_of(&row->shape, &other));
  }
  RHEOS_TRY(make_room(stack, most));
  char *to = (char *)stack->tensor->data + (size_t)stack->count * row->size_bytes;
  ++stack->count;
  if (!holds_bytes(row->dtype)) {
    return rheos__copy_elements(row->dtype, to, row->data, row->num_elements);
  }
  memcpy(to, row->data, row->size_bytes);
  return NULL;
}

rheos_status *rheos__stack_take(rheos__stack *stack, rheos_tensor **out_tensor) {
  rheos_status *status = NULL;
  *out_tensor = NULL;
  rheos_tensor_unref(stack->place);
  stack->place = NULL;
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
