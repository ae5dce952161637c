// Sums of two lists and zeros like one: what gradients of lists are made of.
#include "ops/flow/tensor_list_util.h"

rheos_status *rheos__items_add(rheos_tensor *a, rheos_tensor *b, int32_t depth,
                               rheos_tensor **out_sum) {
  if (a == NULL || b == NULL) {
    *out_sum = rheos_tensor_ref(a != NULL ? a : b);
    return NULL;
  }
  if (a->dtype == RHEOS_VARIANT) return rheos__variants_add(a, b, depth, out_sum);
  if (!rheos_shape_equal(&a->shape, &b->shape)) {
    rheos__shape_text a_text, b_text;
    return RHEOS_INVALID("Cannot add tensors with different shapes. Shapes are %s and %s",
                         rheos__shape_text_of(&a->shape, &a_text),
                         rheos__shape_text_of(&b->shape, &b_text));
  }
  const rheos__add_fn add = rheos__add_of(a->dtype);
  if (add == NULL) {
    return RHEOS_INVALID("lists of %s cannot be added", rheos_dtype_name(a->dtype));
  }
  rheos_tensor *addend = NULL;
  RHEOS_TRY(rheos__tensor_in(b, NULL, &addend));
  rheos_status *status = rheos__tensor_copy_to(a, NULL, out_sum);
  if (status == NULL) add((*out_sum)->data, addend->data, addend->num_elements);
  rheos_tensor_unref(addend);
  return status;
}

rheos_status *rheos__item_zeros_like(rheos_tensor *item, int32_t depth, rheos_tensor **out_zeros) {
  *out_zeros = NULL;
  if (item == NULL) return NULL;
  if (item->dtype == RHEOS_VARIANT) return rheos__variants_zeros_like(item, depth, out_zeros);
  return rheos__zeros_of(item->dtype, &item->shape, out_zeros);
}

static rheos_status *check_alike(const rheos__list *a, const rheos__list *b,
                                 rheos_shape *out_shape) {
  RHEOS_TRY(rheos__list_check_dtype(a, rheos__list_spec_of(b)->dtype));
  if (rheos__list_length(a) != rheos__list_length(b)) {
    return RHEOS_INVALID(
        "Trying to add two lists of tensors with different lengths. One is %lld and the other is "
        "%lld",
        (long long)rheos__list_length(a), (long long)rheos__list_length(b));
  }
  rheos_status *status = rheos__list_merge_shapes(&rheos__list_spec_of(a)->shape,
                                                  &rheos__list_spec_of(b)->shape, out_shape);
  if (status == NULL) return NULL;
  rheos_status *told =
      RHEOS_INVALID("Trying to add two lists of tensors with incompatible element shapes. %s",
                    rheos_status_message(status));
  rheos_status_free(status);
  return told;
}

static rheos_status *finish_take(rheos_status *status, rheos__list *list, rheos__variant **out) {
  if (status == NULL) {
    *out = (rheos__variant *)list;
  } else {
    rheos__list_unref(list);
  }
  return status;
}

static rheos_status *fill_with_sums(rheos__list *a, rheos__list *b, int32_t depth,
                                    rheos__list *sums) {
  for (int64_t i = 0; i < rheos__list_length(a); i++) {
    rheos_tensor *x = rheos__list_item(a, i), *y = rheos__list_item(b, i), *sum = NULL;
    rheos_status *status = rheos__items_add(x, y, depth, &sum);
    rheos_tensor_unref(x);
    rheos_tensor_unref(y);
    rheos__list_fill_take(sums, i, sum);
    if (status != NULL) return status;
  }
  return NULL;
}

rheos_status *rheos__list_add(rheos__variant *a, rheos__variant *b, int32_t depth,
                              rheos__variant **out_sum) {
  rheos__list *first = (rheos__list *)a, *second = (rheos__list *)b, *sums = NULL;
  rheos__list_spec spec = *rheos__list_spec_of(first);
  RHEOS_TRY(check_alike(first, second, &spec.shape));
  RHEOS_TRY(rheos__list_new(&spec, rheos__list_length(first), &sums));
  return finish_take(fill_with_sums(first, second, depth, sums), sums, out_sum);
}

static rheos_status *fill_with_zeros(rheos__list *list, int32_t depth, rheos__list *zeros) {
  for (int64_t i = 0; i < rheos__list_length(list); i++) {
    rheos_tensor *item = rheos__list_item(list, i), *zero = NULL;
    rheos_status *status = rheos__item_zeros_like(item, depth, &zero);
    rheos_tensor_unref(item);
    rheos__list_fill_take(zeros, i, zero);
    if (status != NULL) return status;
  }
  return NULL;
}

rheos_status *rheos__list_zeros_like(rheos__variant *variant, int32_t depth,
                                     rheos__variant **out_zeros) {
  rheos__list *list = (rheos__list *)variant, *zeros = NULL;
  RHEOS_TRY(rheos__list_new(rheos__list_spec_of(list), rheos__list_length(list), &zeros));
  return finish_take(fill_with_zeros(list, depth, zeros), zeros, out_zeros);
}
