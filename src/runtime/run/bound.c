// Bound buffers. Who may write where is settled once, when they are bound.
#include "runtime/run/bound.h"

#include "base/alloc.h"

enum { ALIGNMENT = 64 };  // what kernels get elsewhere

static bool overlap(const rheos_tensor *a, const rheos_tensor *b) {
  const uintptr_t from_a = (uintptr_t)a->data, from_b = (uintptr_t)b->data;
  return from_a < from_b + b->size_bytes && from_b < from_a + a->size_bytes;
}

static bool same_bytes(const rheos_tensor *a, const rheos_tensor *b) {
  return a->data == b->data && a->size_bytes == b->size_bytes;
}

// A result may be one of the values, to be used for the next run; then it is written at the end.
static rheos_status *check_result(const rheos__bound *bound, int32_t index, bool *out_is_direct) {
  const rheos_tensor *result = bound->results[index];
  *out_is_direct = (uintptr_t)result->data % ALIGNMENT == 0 && result->dtype != RHEOS_STRING &&
                   result->dtype != RHEOS_VARIANT;
  for (int32_t i = 0; i < bound->num_results; i++) {
    if (i != index && overlap(result, bound->results[i])) {
      return RHEOS_INVALID("the tensors bound to fetches %d and %d share bytes",
                           (int)(i < index ? i : index), (int)(i < index ? index : i));
    }
  }
  for (int32_t i = 0; i < bound->num_values; i++) {
    if (!overlap(result, bound->values[i])) continue;
    if (!same_bytes(result, bound->values[i])) {
      return RHEOS_INVALID("the tensors bound to feed %d and fetch %d share some of their bytes",
                           (int)i, (int)index);
    }
    *out_is_direct = false;
  }
  return NULL;
}

static rheos_status *take_tensors(rheos_tensor *const *from, int32_t count, const char *what,
                                  rheos_tensor **to) {
  for (int32_t i = 0; i < count; i++) {
    if (from[i] == NULL) return RHEOS_INVALID("the tensor bound to %s %d is NULL", what, (int)i);
    const rheos_tensor *here = from[i];
    RHEOS_TRY(rheos__tensor_to_host(&here));
    to[i] = rheos_tensor_ref((rheos_tensor *)(uintptr_t)here);
  }
  return NULL;
}

// Counted by others than the caller and this binding: a variable may have its value there.
static rheos_status *check_owners(const rheos__bound *bound) {
  for (int32_t i = 0; i < bound->num_results; i++) {
    int32_t own = 2;
    for (int32_t k = 0; k < bound->num_values; k++) own += bound->values[k] == bound->results[i];
    if (atomic_load(&bound->results[i]->references) > own) {
      return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                              "the tensor bound to fetch %d is in use elsewhere", (int)i);
    }
  }
  return NULL;
}

rheos_status *rheos__bound_new(rheos_tensor *const *values, int32_t num_values,
                               rheos_tensor *const *results, int32_t num_results,
                               rheos__bound **out_bound) {
  *out_bound = NULL;
  rheos__bound *bound = rheos__alloc_zeroed(sizeof *bound);
  if (bound == NULL) return rheos__out_of_memory();
  bound->num_values = num_values;
  bound->num_results = num_results;
  bound->values = rheos__alloc_array((size_t)num_values, sizeof *bound->values);
  bound->results = rheos__alloc_array((size_t)num_results, sizeof *bound->results);
  bound->is_direct = rheos__alloc_array((size_t)num_results, sizeof *bound->is_direct);
  rheos_status *status = NULL;
  if (bound->values == NULL || bound->results == NULL || bound->is_direct == NULL) {
    bound->num_values = bound->num_results = 0;
    status = rheos__out_of_memory();
  }
  if (status == NULL) status = take_tensors(values, num_values, "feed", bound->values);
  if (status == NULL) status = take_tensors(results, num_results, "fetch", bound->results);
  if (status == NULL) status = check_owners(bound);
  for (int32_t i = 0; status == NULL && i < num_results; i++) {
    status = check_result(bound, i, &bound->is_direct[i]);
  }
  if (status != NULL) {
    rheos__bound_free(bound);
    return status;
  }
  *out_bound = bound;
  return NULL;
}

void rheos__bound_free(rheos__bound *bound) {
  if (bound == NULL) return;
  for (int32_t i = 0; i < bound->num_values; i++) rheos_tensor_unref(bound->values[i]);
  for (int32_t i = 0; i < bound->num_results; i++) rheos_tensor_unref(bound->results[i]);
  rheos__free(bound->values);
  rheos__free(bound->results);
  rheos__free(bound->is_direct);
  rheos__free(bound);
}

bool rheos__bound_takes(const rheos__bound *bound, int32_t result, rheos_dtype dtype,
                        const rheos_shape *shape) {
  const rheos_tensor *tensor = bound->results[result];
  return bound->is_direct[result] && tensor->dtype == dtype &&
         rheos_shape_equal(&tensor->shape, shape);
}

rheos_status *rheos__bound_store(const rheos__bound *bound, int32_t result, rheos_dtype dtype,
                                 const rheos_shape *shape, const void *data) {
  rheos_tensor *tensor = bound->results[result];
  if (tensor->dtype != dtype || !rheos_shape_equal(&tensor->shape, shape)) {
    rheos__shape_text have, want;
    return RHEOS_INVALID("the value is %s%s, but the tensor bound to fetch %d is %s%s",
                         rheos_dtype_name(dtype), rheos__shape_text_of(shape, &have), (int)result,
                         rheos_dtype_name(tensor->dtype),
                         rheos__shape_text_of(&tensor->shape, &want));
  }
  if (data == tensor->data) return NULL;
  return rheos__copy_elements(dtype, tensor->data, data, tensor->num_elements);
}
