// Variants are counted: a copy of a tensor of variants holds the same ones.
#include "tensor/variant.h"

#include <assert.h>

rheos__variant *rheos__variant_ref(rheos__variant *variant) {
  if (variant != NULL) atomic_fetch_add_explicit(&variant->references, 1, memory_order_relaxed);
  return variant;
}

void rheos__variant_unref(rheos__variant *variant) {
  static _Thread_local rheos__variant *waiting;
  static _Thread_local bool is_freeing;
  if (variant == NULL) return;
  if (atomic_fetch_sub_explicit(&variant->references, 1, memory_order_acq_rel) != 1) return;
  variant->next = waiting;
  waiting = variant;
  if (is_freeing) return;  // within the `free` of what held it: nesting has no bound, the stack has
  is_freeing = true;
  while (waiting != NULL) {
    rheos__variant *first = waiting;
    waiting = first->next;
    assert(atomic_load_explicit(&first->references, memory_order_relaxed) == 0);
    first->kind->free(first);
  }
  is_freeing = false;
}

static rheos_status *tensor_take(rheos_dtype dtype, const rheos_shape *shape,
                                 rheos__variant *variant, rheos_tensor **out_tensor) {
  rheos_status *status = rheos__tensor_new(dtype, shape, out_tensor);
  if (status != NULL) {
    rheos__variant_unref(variant);
    return status;
  }
  assert((*out_tensor)->num_elements > 0);
  *(rheos__variant **)(*out_tensor)->data = variant;
  return NULL;
}

rheos_status *rheos__variant_tensor_take(rheos__variant *variant, rheos_tensor **out_tensor) {
  return tensor_take(RHEOS_VARIANT, &RHEOS_SCALAR, variant, out_tensor);
}

rheos_status *rheos__handle_tensor_take(rheos__variant *object, const rheos_shape *shape,
                                        rheos_tensor **out_tensor) {
  return tensor_take(RHEOS_RESOURCE, shape, object, out_tensor);
}

rheos_status *rheos__variant_of(const rheos_tensor *tensor, const rheos__variant_kind *kind,
                                const char *op, rheos__variant **out_variant) {
  const bool is_scalar = tensor->dtype == RHEOS_VARIANT && tensor->shape.rank == 0;
  rheos__variant *held = is_scalar ? *(rheos__variant **)tensor->data : NULL;
  if (held == NULL || held->kind != kind) {
    return RHEOS_INVALID("the input of %s must be a scalar variant that holds a value of kind %s",
                         op, kind->name);
  }
  *out_variant = held;
  return NULL;
}

rheos_status *rheos__handle_object(const rheos_tensor *handle, const rheos__variant_kind *kind,
                                   const char *op, rheos__variant **out_object) {
  const bool has_element =
      handle != NULL && handle->dtype == RHEOS_RESOURCE && handle->num_elements > 0;
  rheos__variant *held = has_element ? *(rheos__variant **)handle->data : NULL;
  if (held == NULL || held->kind != kind) {
    return RHEOS_INVALID("the handle that %s takes must be one of a %s", op, kind->name);
  }
  *out_object = held;
  return NULL;
}

// ---- Sums and zeros

enum { MAX_DEPTH = 100 };

static rheos_status *check_depth(int32_t depth) {
  if (depth < MAX_DEPTH) return NULL;
  return RHEOS_INVALID("values of variants are nested more than %d deep", (int)MAX_DEPTH);
}

static rheos_status *add(rheos__variant *a, rheos__variant *b, int32_t depth,
                         rheos__variant **out_sum) {
  if (a == NULL || b == NULL) {
    *out_sum = rheos__variant_ref(a != NULL ? a : b);
    return NULL;
  }
  if (a->kind == b->kind && a->kind->add != NULL) return a->kind->add(a, b, depth, out_sum);
  return RHEOS_INVALID("a %s and a %s cannot be added", a->kind->name, b->kind->name);
}

static rheos_status *add_elements(const rheos_tensor *a, const rheos_tensor *b, int32_t depth,
                                  rheos__variant **sums) {
  rheos__variant *const *from_a = a->data, *const *from_b = b->data;
  for (int64_t i = 0; i < a->num_elements; i++) {
    RHEOS_TRY(add(from_a[i], from_b[i], depth, &sums[i]));
  }
  return NULL;
}

static rheos_status *zeros_elements(const rheos_tensor *tensor, int32_t depth,
                                    rheos__variant **zeros) {
  rheos__variant *const *from = tensor->data;
  for (int64_t i = 0; i < tensor->num_elements; i++) {
    if (from[i] == NULL) continue;
    if (from[i]->kind->zeros_like == NULL) {
      return RHEOS_INVALID("there are no zeros like a %s", from[i]->kind->name);
    }
    RHEOS_TRY(from[i]->kind->zeros_like(from[i], depth, &zeros[i]));
  }
  return NULL;
}

static rheos_status *finish_take(rheos_status *status, rheos_tensor *tensor,
                                 rheos_tensor **out_tensor) {
  if (status == NULL) {
    *out_tensor = tensor;
  } else {
    rheos_tensor_unref(tensor);
  }
  return status;
}

rheos_status *rheos__variants_add(const rheos_tensor *a, const rheos_tensor *b, int32_t depth,
                                  rheos_tensor **out_sums) {
  assert(a->dtype == RHEOS_VARIANT && b->dtype == RHEOS_VARIANT);
  RHEOS_TRY(check_depth(depth));
  if (!rheos_shape_equal(&a->shape, &b->shape)) {
    rheos__shape_text a_text, b_text;
    return RHEOS_INVALID("tensors of variants of shapes %s and %s cannot be added",
                         rheos__shape_text_of(&a->shape, &a_text),
                         rheos__shape_text_of(&b->shape, &b_text));
  }
  rheos_tensor *sums = NULL;
  RHEOS_TRY(rheos__tensor_new(RHEOS_VARIANT, &a->shape, &sums));
  return finish_take(add_elements(a, b, depth + 1, sums->data), sums, out_sums);
}

rheos_status *rheos__variants_zeros_like(const rheos_tensor *tensor, int32_t depth,
                                         rheos_tensor **out_zeros) {
  assert(tensor->dtype == RHEOS_VARIANT);
  RHEOS_TRY(check_depth(depth));
  rheos_tensor *zeros = NULL;
  RHEOS_TRY(rheos__tensor_new(RHEOS_VARIANT, &tensor->shape, &zeros));
  return finish_take(zeros_elements(tensor, depth + 1, zeros->data), zeros, out_zeros);
}
