// Lists of tensors: variants with a length, an element dtype, and what is known of the elements'
// shapes.
//
// A list never changes for who holds it: every operation gives a new one. What it costs is
// constant: lists that come of one another share their items, which are those of the latest one,
// and each earlier list notes the one change that the next one made. The latest list is read and
// changed in constant time, whoever holds the earlier ones; those are read through the changes, or
// from a copy of their own where these are many, and changed by a copy (Baker's persistent arrays,
// without going back).
#ifndef RHEOS_SRC_OPS_FLOW_TENSOR_LIST_H
#define RHEOS_SRC_OPS_FLOW_TENSOR_LIST_H

#include "tensor/variant.h"

typedef struct rheos__list rheos__list;

typedef struct rheos__list_spec {
  rheos_dtype dtype;   // of all elements
  rheos_shape shape;   // of each element, as far as it is known
  int64_t max_length;  // that pushing refuses to pass; -1: none
} rheos__list_spec;

extern const rheos__variant_kind rheos__list_kind;

// A list of `length` elements that hold nothing yet. Until it is put into a tensor its maker may
// fill it by rheos__list_fill_take().
rheos_status *rheos__list_new(const rheos__list_spec *spec, int64_t length, rheos__list **out_list);
void rheos__list_fill_take(rheos__list *list, int64_t index, rheos_tensor *item);
void rheos__list_unref(rheos__list *list);  // NULL: nothing
// A scalar variant of the list, whose reference is taken also on failure.
rheos_status *rheos__list_tensor_take(rheos__list *list, rheos_tensor **out_tensor);

// The list in a scalar variant, or the one that is element `index` of a tensor of variants,
// borrowed.
rheos_status *rheos__list_of(const rheos_tensor *tensor, const char *op, rheos__list **out_list);
rheos_status *rheos__list_at(const rheos_tensor *tensor, int64_t index, const char *op,
                             rheos__list **out_list);

const rheos__list_spec *rheos__list_spec_of(const rheos__list *list);
int64_t rheos__list_length(const rheos__list *list);
// Element `index`, which is there, with a reference; NULL where it holds nothing.
rheos_tensor *rheos__list_item(rheos__list *list, int64_t index);
// All elements, in the same way, into `items`, which has room for them.
void rheos__list_items(rheos__list *list, rheos_tensor **items);

// New lists. Items are references that are taken also on failure; NULL holds nothing.
rheos_status *rheos__list_push_take(rheos__list *list, rheos_tensor *item, rheos__list **out_list);
// The list has an element; `out_item` is what it holds, NULL for nothing.
rheos_status *rheos__list_pop(rheos__list *list, rheos__list **out_list, rheos_tensor **out_item);
// A list that is shorter than `index` gets longer.
rheos_status *rheos__list_set_take(rheos__list *list, int64_t index, rheos_tensor *item,
                                   rheos__list **out_list);
rheos_status *rheos__list_resize(rheos__list *list, int64_t length, rheos__list **out_list);
// With the same elements, items of its own, and another spec.
rheos_status *rheos__list_copy(rheos__list *list, const rheos__list_spec *spec, int64_t length,
                               rheos__list **out_list);

// The list's part in sums and zeros of variants (tensor/variant.h).
rheos_status *rheos__list_add(rheos__variant *a, rheos__variant *b, int32_t depth,
                              rheos__variant **out_sum);
rheos_status *rheos__list_zeros_like(rheos__variant *variant, int32_t depth,
                                     rheos__variant **out_zeros);

#endif  // RHEOS_SRC_OPS_FLOW_TENSOR_LIST_H
