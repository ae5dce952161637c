// Elements of tensors of variants: values of a kind that only the ops for that kind know. The
// objects of a step that resource handles stand for (tensor arrays, stacks) are such values too.
#ifndef RHEOS_SRC_TENSOR_VARIANT_H
#define RHEOS_SRC_TENSOR_VARIANT_H

#include "tensor/tensor.h"

typedef struct rheos__variant rheos__variant;

typedef struct rheos__variant_kind {
  const char *name;  // for messages, as "Optional"
  void (*free)(rheos__variant *variant);
  // The sum of two values and the zeros like one, new, that gradients are made of; NULL: there are
  // none. `depth` is that of tensors of variants inside values.
  rheos_status *(*add)(rheos__variant *a, rheos__variant *b, int32_t depth,
                       rheos__variant **out_sum);
  rheos_status *(*zeros_like)(rheos__variant *variant, int32_t depth, rheos__variant **out_zeros);
} rheos__variant_kind;

// The first member of every kind's own struct. Counted, and what others can see of it never changes
// once a tensor of variants holds it; an object behind a handle changes under a lock of its own. An
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

// A handle of that shape, a tensor of resources whose first element is the object and the others
// NULL. The object's reference is taken also on failure.
rheos_status *rheos__handle_tensor_take(rheos__variant *object, const rheos_shape *shape,
                                        rheos_tensor **out_tensor);

// What the scalar tensor holds, borrowed; RHEOS_INVALID_ARGUMENT naming `op` unless it is of that
// kind.
rheos_status *rheos__variant_of(const rheos_tensor *tensor, const rheos__variant_kind *kind,
                                const char *op, rheos__variant **out_variant);

// The object that the handle stands for, borrowed, in the same way. NULL, as the handle of a
// variable comes: refused as another kind.
rheos_status *rheos__handle_object(const rheos_tensor *handle, const rheos__variant_kind *kind,
                                   const char *op, rheos__variant **out_object);

// Sums of the elements of two tensors of variants, and zeros like those of one. Where one of two
// elements is NULL the sum is the other. `depth` counts the tensors around, 0 at first.
rheos_status *rheos__variants_add(const rheos_tensor *a, const rheos_tensor *b, int32_t depth,
                                  rheos_tensor **out_sums);
rheos_status *rheos__variants_zeros_like(const rheos_tensor *tensor, int32_t depth,
                                         rheos_tensor **out_zeros);

#endif  // RHEOS_SRC_TENSOR_VARIANT_H
