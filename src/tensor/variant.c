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

rheos_status *rheos__variant_tensor_take(rheos__variant *variant, rheos_tensor **out_tensor) {
  rheos_status *status = rheos_tensor_new(RHEOS_VARIANT, RHEOS_SCALAR, out_tensor);
  if (status != NULL) {
    rheos__variant_unref(variant);
    return status;
  }
  *(rheos__variant **)(*out_tensor)->data = variant;
  return NULL;
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
