// Elements of tensors of variants: values of a kind that only the ops for that kind know.
#ifndef RHEOS_SRC_TENSOR_VARIANT_H
#define RHEOS_SRC_TENSOR_VARIANT_H

#include "tensor/tensor.h"

typedef struct rheos__variant rheos__variant;

typedef struct rheos__variant_kind {
  const char *name;  // for messages, as "Optional"
  void (*free)(rheos__variant *variant);
} rheos__variant_kind;

// The first member of every kind's own struct. Counted, and never changed once a tensor holds it. An
// element of a tensor is a pointer to one, or NULL where nothing was put.
struct rheos__variant {
  _Atomic int32_t references;
  const rheos__variant_kind *kind;
  rheos__variant *next;  // while it waits to be freed
};

rheos__variant *rheos__variant_ref(rheos__variant *variant);  // NULL: NULL
void rheos__variant_unref(rheos__variant *variant);           // NULL: nothing

// A scalar tensor that holds the variant, whose reference is taken also on failure.
rheos_status *rheos__variant_tensor_take(rheos__variant *variant, rheos_tensor **out_tensor);

// What the scalar tensor holds, borrowed; RHEOS_INVALID_ARGUMENT naming `op` unless it is of that kind.
rheos_status *rheos__variant_of(const rheos_tensor *tensor, const rheos__variant_kind *kind,
                                const char *op, rheos__variant **out_variant);

#endif  // RHEOS_SRC_TENSOR_VARIANT_H
