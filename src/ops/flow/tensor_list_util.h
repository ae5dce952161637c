// What the kernels of lists share: element shapes as tensors, elements that hold nothing, checks.
#ifndef RHEOS_SRC_OPS_FLOW_TENSOR_LIST_UTIL_H
#define RHEOS_SRC_OPS_FLOW_TENSOR_LIST_UTIL_H

#include "graph/build.h"
#include "ops/flow/tensor_list.h"
#include "ops/kit/array_util.h"

// The kernel of an op whose `family` is this: it finds rheos__operands in its state.
typedef struct rheos__list_family {
  rheos__compute_fn compute;
} rheos__list_family;
rheos_status *rheos__prepare_list(rheos__prepare *p);

// A tensor that tells a shape, dimensions of -1 not known, or a scalar -1 for nothing.
rheos_status *rheos__shape_from_tensor(const rheos_tensor *tensor, rheos_shape *out_shape);

// The scalar int32 or int64 that input `input` of the op must be.
rheos_status *rheos__list_int(const rheos_tensor *tensor, const char *what, int64_t *out_value);

// Fails unless the list has elements of that dtype.
rheos_status *rheos__list_check_dtype(const rheos__list *list, rheos_dtype dtype);

// What is known of the shape of elements: what `tensor` tells and what the list does.
rheos_status *rheos__list_element_shape(const rheos__list *list, const rheos_tensor *tensor,
                                        rheos_shape *out_shape);

// rheos__shape_merge() with what TensorFlow's kernels say where the two contradict.
rheos_status *rheos__list_merge_shapes(const rheos_shape *a, const rheos_shape *b,
                                       rheos_shape *out_shape);
// The shape merged with those of all of the items that hold something.
rheos_status *rheos__list_merge_items(rheos_tensor *const *items, int64_t count,
                                      rheos_shape *in_out_shape);

// Zeros, or empty strings.
rheos_status *rheos__zeros_of(rheos_dtype dtype, const rheos_shape *shape,
                              rheos_tensor **out_tensor);

// The sum of two items and zeros like one, `depth` deep in variants; NULL, nothing, adds nothing.
rheos_status *rheos__items_add(rheos_tensor *a, rheos_tensor *b, int32_t depth,
                               rheos_tensor **out_sum);
rheos_status *rheos__item_zeros_like(rheos_tensor *item, int32_t depth, rheos_tensor **out_zeros);

// Row `index` of `tensor`, of `rows` rows from row `first` on, as a tensor of that shape.
rheos_status *rheos__rows_of(const rheos_tensor *tensor, int64_t first, const rheos_shape *shape,
                             rheos_tensor **out_rows);

// The dimensions from 1 on.
rheos_shape rheos__shape_of_row(const rheos_shape *shape);
// With one more in front; a status where the rank is too large.
rheos_status *rheos__shape_in_front(int64_t dim, const rheos_shape *shape, rheos_shape *out_shape);

// In shape functions: what the list in input 0 and `told` say of its elements, and the same with
// what input `input` tells.
rheos_status *rheos__infer_listed(const rheos__infer *c, const rheos_shape *told,
                                  rheos_shape *out_shape);
rheos_status *rheos__infer_element(rheos__infer *c, int32_t input, rheos_shape *out_shape);
// Makes the list a scalar, of elements whose shape input `input` tells.
rheos_status *rheos__infer_list_of(rheos__infer *c, int32_t input);

// ---- Nodes of gradients

static inline rheos_attr rheos__list_dtype_attr(rheos_dtype dtype) {
  return (rheos_attr){"element_dtype", {.kind = RHEOS_ATTR_TYPE, .type = dtype}};
}
// The dtype of elements of the lists of the node being differentiated.
static inline rheos_dtype rheos__list_grad_dtype(const rheos__grad *g) {
  return rheos__attr_type(g->attrs, "element_dtype");
}
// Output 0 of a node of lists with that dtype of elements.
rheos_output rheos__list_node(rheos_scope *s, const char *type, const rheos_output *inputs,
                              size_t num_inputs, rheos_dtype dtype);
rheos_output rheos__list_element_shape_node(rheos_scope *s, rheos_output list);

#endif  // RHEOS_SRC_OPS_FLOW_TENSOR_LIST_UTIL_H
