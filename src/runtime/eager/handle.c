// Tensors that stand for cells of variables and the like outside of a step.
#include "runtime/eager/region.h"

#include "tensor/variant.h"

typedef struct cell_handle {
  rheos__variant base;
  rheos__resource *cell;
} cell_handle;

static void free_handle(rheos__variant *variant) {
  rheos__resource_unref(((cell_handle *)variant)->cell);
  rheos__free(variant);
}

static const rheos__variant_kind cell_handle_kind = {.name = "resource", .free = free_handle};

rheos_status *rheos__cell_handle_take(rheos__resource *cell, rheos_tensor **out_handle) {
  cell_handle *handle = rheos__alloc_zeroed(sizeof *handle);
  if (handle == NULL) {
    rheos__resource_unref(cell);
    return rheos__out_of_memory();
  }
  handle->base.kind = &cell_handle_kind;
  atomic_init(&handle->base.references, 1);
  handle->cell = cell;
  return rheos__handle_tensor_take(&handle->base, &RHEOS_SCALAR, out_handle);
}

rheos__resource *rheos__cell_of(const rheos_tensor *handle) {
  if (handle->dtype != RHEOS_RESOURCE || handle->num_elements == 0) return NULL;
  const rheos__variant *held = *(rheos__variant *const *)handle->data;
  return held != NULL && held->kind == &cell_handle_kind ? ((const cell_handle *)held)->cell : NULL;
}

rheos_status *rheos__own_tensor_take(rheos_tensor *tensor, rheos_tensor **out_tensor) {
  if (atomic_load_explicit(&tensor->references, memory_order_acquire) == 1) {
    *out_tensor = tensor;
    return NULL;
  }
  rheos_status *status = rheos__tensor_seen_as(tensor, tensor->dtype, tensor->shape, out_tensor);
  rheos_tensor_unref(tensor);
  return status;
}
