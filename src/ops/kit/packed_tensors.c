// Variants that hold a few tensors.
#include "ops/kit/packed_tensors.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/status.h"

typedef struct packed_tensors {
  rheos__variant variant;
  rheos__packed_form form;
  int32_t count;
  rheos_tensor *tensors[];
} packed_tensors;

static void free_packed(rheos__variant *variant) {
  packed_tensors *packed = (packed_tensors *)variant;
  for (int32_t i = 0; i < packed->count; i++) rheos_tensor_unref(packed->tensors[i]);
  rheos__free(packed);
}

static const rheos__variant_kind packed_kind = {.name = "Tensors", .free = free_packed};

rheos_status *rheos__packed_tensors_take(rheos__packed_form form, rheos_tensor **tensors,
                                         int32_t count, rheos__variant **out_variant) {
  assert(count == 1 || form == RHEOS__PACKED_RAGGED);
  packed_tensors *packed = rheos__alloc(sizeof *packed + (size_t)count * sizeof *packed->tensors);
  *out_variant = NULL;
  if (packed == NULL) {
    for (int32_t i = 0; i < count; i++) rheos_tensor_unref(tensors[i]);
    return rheos__out_of_memory();
  }
  atomic_init(&packed->variant.references, 1);
  packed->variant.kind = &packed_kind;
  packed->form = form;
  packed->count = count;
  for (int32_t i = 0; i < count; i++) packed->tensors[i] = tensors[i];
  *out_variant = &packed->variant;
  return NULL;
}

bool rheos__packed_form_of(const rheos__variant *variant, rheos__packed_form *out_form) {
  if (variant == NULL || variant->kind != &packed_kind) return false;
  *out_form = ((const packed_tensors *)variant)->form;
  return true;
}

rheos_status *rheos__packed_tensors_of(const rheos_tensor *variants, int64_t index, const char *op,
                                       rheos_tensor *const **out_tensors, int32_t *out_count) {
  rheos__variant *variant = ((rheos__variant *const *)variants->data)[index];
  if (variant == NULL || variant->kind != &packed_kind) {
    return RHEOS_INVALID("%s: the variant at %lld holds %s, no tensors", op, (long long)index,
                         variant == NULL ? "nothing" : variant->kind->name);
  }
  packed_tensors *packed = (packed_tensors *)variant;
  *out_tensors = packed->tensors;
  *out_count = packed->count;
  return NULL;
}
