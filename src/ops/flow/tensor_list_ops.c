// Lists of tensors, element by element: making, pushing, popping, getting and setting.
#include "graph/build.h"
#include "ops/flow/tensor_list_util.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

// ---- EmptyTensorList, TensorListReserve

static rheos_status *compute_empty(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  rheos__list_spec spec = {.dtype = rheos__attr_type(o->attrs, "element_dtype")};
  RHEOS_TRY(rheos__shape_from_tensor(inputs[0], &spec.shape));
  RHEOS_TRY(rheos__list_int(inputs[1], "max_num_elements", &spec.max_length));
  if (spec.max_length < 0) spec.max_length = -1;
  rheos__list *list = NULL;
  RHEOS_TRY(rheos__list_new(&spec, 0, &list));
  return rheos__list_tensor_take(list, &outputs[0]);
}

static rheos_status *shape_reserved(rheos__infer *c) { return rheos__infer_list_of(c, 0); }

static const rheos__list_family empty = {compute_empty};

const rheos__op_def rheos__op_EmptyTensorList = {
    .name = "EmptyTensorList",
    .signature =
        "element_shape: shape_type, max_num_elements: int32 -> handle: variant; "
        "element_dtype: type; shape_type: {int32, int64}",
    .doc = "A list without elements, which `max_num_elements` may bound (-1: nothing does).",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY | RHEOS_OP_MAKES_LIST,
    .shape = shape_reserved,
    .gradient = rheos__no_gradient,
    .prepare = rheos__prepare_list,
    .family = &empty,
};

static rheos_status *compute_reserve(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  rheos__list_spec spec = {.dtype = rheos__attr_type(o->attrs, "element_dtype"), .max_length = -1};
  int64_t length = 0;
  RHEOS_TRY(rheos__shape_from_tensor(inputs[0], &spec.shape));
  RHEOS_TRY(rheos__list_int(inputs[1], "num_elements", &length));
  if (length < 0) {
    return RHEOS_INVALID("The num_elements to reserve must be a non negative number, but got %lld",
                         (long long)length);
  }
  rheos__list *list = NULL;
  RHEOS_TRY(rheos__list_new(&spec, length, &list));
  return rheos__list_tensor_take(list, &outputs[0]);
}

static const rheos__list_family reserve = {compute_reserve};

const rheos__op_def rheos__op_TensorListReserve = {
    .name = "TensorListReserve",
    .signature =
        "element_shape: shape_type, num_elements: int32 -> handle: variant; element_dtype: type; "
        "shape_type: {int32, int64}",
    .doc = "A list of `num_elements` elements that hold nothing yet.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY | RHEOS_OP_MAKES_LIST,
    .shape = shape_reserved,
    .gradient = rheos__no_gradient,
    .prepare = rheos__prepare_list,
    .family = &reserve,
};

// ---- TensorListPushBack, TensorListPushBackBatch, TensorListPopBack

static rheos_status *check_push(const rheos__list *list, rheos_dtype dtype,
                                const rheos_shape *shape) {
  const rheos__list_spec *spec = rheos__list_spec_of(list);
  RHEOS_TRY(rheos__list_check_dtype(list, dtype));
  if (!rheos_shape_compatible(&spec->shape, shape)) {
    rheos__shape_text got, want;
    return RHEOS_INVALID(
        "Tried to append a tensor with incompatible shape to a list. Op element shape: %s list "
        "shape: %s",
        rheos__shape_text_of(shape, &got), rheos__shape_text_of(&spec->shape, &want));
  }
  const int64_t length = rheos__list_length(list);
  if (spec->max_length >= 0 && length >= spec->max_length) {
    return RHEOS_INVALID(
        "Tried to push item into a full list list size: %lld max_num_elements: %lld",
        (long long)length, (long long)spec->max_length);
  }
  return NULL;
}

static rheos_status *compute_push(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  rheos__list *list = NULL, *longer = NULL;
  RHEOS_TRY(rheos__list_of(inputs[0], "TensorListPushBack", &list));
  RHEOS_TRY(check_push(list, rheos__attr_type(o->attrs, "element_dtype"), &inputs[1]->shape));
  rheos_tensor *item = NULL;
  RHEOS_TRY(rheos__tensor_keep(inputs[1], &item));
  RHEOS_TRY(rheos__list_push_take(list, item, &longer));
  return rheos__list_tensor_take(longer, &outputs[0]);
}

// d list, d tensor: the list of gradients without its last, and the last.
static void gradient_push(rheos__grad *g) {
  const rheos_output inputs[] = {rheos__grad_dense(g, 0),
                                 rheos__shape_of(g->scope, g->inputs[1], RHEOS_INT32)};
  const rheos_attr attr = rheos__list_dtype_attr(rheos__list_grad_dtype(g));
  const rheos_operation pop = rheos__op_n(g->scope, "TensorListPopBack", NULL, inputs, 2, &attr, 1);
  rheos__grad_set(g, 0, rheos_operation_output(pop, 0));
  rheos__grad_set(g, 1, rheos_operation_output(pop, 1));
}

static const rheos__list_family push = {compute_push};

const rheos__op_def rheos__op_TensorListPushBack = {
    .name = "TensorListPushBack",
    .signature =
        "input_handle: variant, tensor: element_dtype -> output_handle: variant; "
        "element_dtype: type",
    .doc = "The list with `tensor` behind its elements.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY | RHEOS_OP_CHANGES_LIST,
    .shape = rheos__shape_scalar,
    .gradient = gradient_push,
    .prepare = rheos__prepare_list,
    .family = &push,
};

static rheos_status *push_each(const rheos__operands *o, rheos_tensor *const *inputs,
                               const rheos_shape *shape, rheos_tensor *lists) {
  const rheos_dtype dtype = rheos__attr_type(o->attrs, "element_dtype");
  const size_t element_bytes =
      (size_t)rheos_shape_num_elements(shape) * rheos_dtype_size(inputs[1]->dtype);
  rheos__variant **out = lists->data;
  for (int64_t i = 0; i < lists->num_elements; i++) {
    rheos__list *list = NULL, *longer = NULL;
    RHEOS_TRY(rheos__list_at(inputs[0], i, "TensorListPushBackBatch", &list));
    RHEOS_TRY(check_push(list, dtype, shape));
    rheos_tensor view, *item = NULL;
    rheos__tensor_init_view(&view, dtype, shape,
                            (char *)inputs[1]->data + (size_t)i * element_bytes);
    view.memory = inputs[1]->memory;
    RHEOS_TRY(rheos_tensor_copy(&view, &item));
    RHEOS_TRY(rheos__list_push_take(list, item, &longer));
    out[i] = (rheos__variant *)longer;
  }
  return NULL;
}

static rheos_status *compute_push_batch(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                        rheos_tensor **outputs) {
  (void)step;
  const rheos_shape *lists = &inputs[0]->shape, *values = &inputs[1]->shape;
  rheos_shape shape = {.rank = 0};
  bool fits = values->rank >= lists->rank;
  for (int32_t i = 0; fits && i < lists->rank; i++) fits = lists->dims[i] == values->dims[i];
  if (!fits) {
    rheos__shape_text got, want;
    return RHEOS_INVALID(
        "Tried to push a tensor of shape %s to lists of shape %s, which is no prefix of it",
        rheos__shape_text_of(values, &got), rheos__shape_text_of(lists, &want));
  }
  RHEOS_TRY(rheos__shape_append_range(&shape, values, lists->rank, values->rank));
  RHEOS_TRY(rheos__tensor_new(RHEOS_VARIANT, lists, &outputs[0]));
  return push_each(state, inputs, &shape, outputs[0]);
}

// A vector of lists; input 1 has a row for each.
static rheos_status *shape_push_batch(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &c->output_shapes[0]));
  RHEOS_TRY(rheos__infer_rank_at_least(c, 1, 1));
  return rheos__infer_same_rows(c, 0, 1);
}

static const rheos__list_family push_batch = {compute_push_batch};

const rheos__op_def rheos__op_TensorListPushBackBatch = {
    .name = "TensorListPushBackBatch",
    .signature =
        "input_handles: variant, tensor: element_dtype -> output_handles: variant; "
        "element_dtype: type",
    .doc = "Each of the lists with its part of `tensor` behind its elements.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY,
    .shape = shape_push_batch,
    .prepare = rheos__prepare_list,
    .family = &push_batch,
};

// What an element that holds nothing is read as: zeros of the shape that all that is known gives.
static rheos_status *zeros_for(rheos__list *list, const rheos_shape *told,
                               rheos_tensor **out_item) {
  rheos_shape shape = *told;
  if (!rheos_shape_is_known(&shape)) {
    const int64_t length = rheos__list_length(list);
    rheos_tensor **items = rheos__alloc_array((size_t)length, sizeof(rheos_tensor *));
    if (items == NULL) return rheos__out_of_memory();
    rheos__list_items(list, items);
    rheos_status *status = rheos__list_merge_items(items, length, &shape);
    for (int64_t i = 0; i < length; i++) rheos_tensor_unref(items[i]);
    rheos__free(items);
    if (status != NULL) return status;
  }
  if (!rheos_shape_is_known(&shape)) {
    rheos__shape_text text;
    return RHEOS_INVALID(
        "Trying to read an uninitialized tensor but element_shape is not fully defined: %s",
        rheos__shape_text_of(&shape, &text));
  }
  return rheos__zeros_of(rheos__list_spec_of(list)->dtype, &shape, out_item);
}

// What is read of an element: the item, or zeros for nothing. The item, which may be NULL, is
// taken.
static rheos_status *read_item_take(rheos__list *list, rheos_tensor *item,
                                    const rheos_tensor *shape_input, rheos_tensor **out_item) {
  rheos_shape shape;
  rheos_status *status = rheos__list_element_shape(list, shape_input, &shape);
  if (status == NULL && item == NULL) return zeros_for(list, &shape, out_item);
  if (status == NULL && !rheos_shape_compatible(&shape, &item->shape)) {
    rheos__shape_text got, want;
    status = RHEOS_INVALID("an element of the list has shape %s, not %s as element_shape says",
                           rheos__shape_text_of(&item->shape, &got),
                           rheos__shape_text_of(&shape, &want));
  }
  if (status != NULL) {
    rheos_tensor_unref(item);
    return status;
  }
  *out_item = item;
  return NULL;
}

static rheos_status *compute_pop(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  rheos__list *list = NULL, *shorter = NULL;
  RHEOS_TRY(rheos__list_of(inputs[0], "TensorListPopBack", &list));
  RHEOS_TRY(rheos__list_check_dtype(list, rheos__attr_type(o->attrs, "element_dtype")));
  const int64_t length = rheos__list_length(list);
  if (length == 0) return RHEOS_INVALID("Trying to pop from an empty list.");
  rheos_tensor *last = rheos__list_item(list, length - 1);
  RHEOS_TRY(read_item_take(list, last, inputs[1], &outputs[1]));
  rheos_tensor *item = NULL;
  RHEOS_TRY(rheos__list_pop(list, &shorter, &item));
  rheos_tensor_unref(item);
  return rheos__list_tensor_take(shorter, &outputs[0]);
}

static rheos_status *shape_pop(rheos__infer *c) {
  c->output_shapes[0] = RHEOS_SCALAR;
  return rheos__infer_element(c, 1, &c->output_shapes[1]);
}

// d list: the gradients of what is left with that of the element behind them.
static void gradient_pop(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_dtype dtype = rheos__list_grad_dtype(g);
  rheos_output list = g->out_grads[0].values;
  if (!rheos__is_some(list)) {
    const rheos_output inputs[] = {rheos__list_element_shape_node(s, g->outputs[0]),
                                   rheos__const_scalar(s, RHEOS_INT32, -1, "max_num_elements")};
    list = rheos__list_node(s, "EmptyTensorList", inputs, 2, dtype);
  }
  rheos_output element = g->out_grads[1].values;
  if (!rheos__is_some(element)) element = rheos__zeros_like(s, g->outputs[1]);
  const rheos_output inputs[] = {list, element};
  rheos__grad_set(g, 0, rheos__list_node(s, "TensorListPushBack", inputs, 2, dtype));
}

static const rheos__list_family pop = {compute_pop};

const rheos__op_def rheos__op_TensorListPopBack = {
    .name = "TensorListPopBack",
    .signature =
        "input_handle: variant, element_shape: int32 -> output_handle: variant, "
        "tensor: element_dtype; element_dtype: type",
    .doc = "The list without its last element, and that element.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY | RHEOS_OP_CHANGES_LIST,
    .shape = shape_pop,
    .gradient = gradient_pop,
    .prepare = rheos__prepare_list,
    .family = &pop,
};

// ---- TensorListLength, TensorListElementShape, TensorListResize

static rheos_status *compute_length(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)state, (void)step;
  rheos__list *list = NULL;
  RHEOS_TRY(rheos__list_of(inputs[0], "TensorListLength", &list));
  const int64_t length = rheos__list_length(list);
  if (length > INT32_MAX) return RHEOS_INVALID("the length %lld is no int32", (long long)length);
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT32, &RHEOS_SCALAR, &outputs[0]));
  *(int32_t *)outputs[0]->data = (int32_t)length;
  return NULL;
}

const rheos__op_def rheos__op_TensorListLength = {
    .name = "TensorListLength",
    .signature = "input_handle: variant -> length: int32",
    .doc = "How many elements the list has.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .compute = compute_length,
};

static rheos_status *compute_element_shape(void *state, rheos__step *step,
                                           rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  rheos__list *list = NULL;
  RHEOS_TRY(rheos__list_of(inputs[0], "TensorListElementShape", &list));
  const rheos_shape *shape = &rheos__list_spec_of(list)->shape;
  const rheos_dtype dtype = o->output_dtypes[0];
  const rheos_shape vector = RHEOS_SHAPE(shape->rank);
  RHEOS_TRY(rheos__tensor_new(dtype, shape->rank < 0 ? &RHEOS_SCALAR : &vector, &outputs[0]));
  if (shape->rank < 0) rheos__set_int(dtype, outputs[0]->data, 0, -1);
  for (int32_t i = 0; i < shape->rank; i++) {
    rheos__set_int(dtype, outputs[0]->data, i, shape->dims[i]);
  }
  return NULL;
}

static rheos_status *shape_element_shape(rheos__infer *c) {
  rheos_shape element;
  RHEOS_TRY(rheos__infer_listed(c, &RHEOS_UNKNOWN_SHAPE, &element));
  if (element.rank >= 0) c->output_shapes[0] = RHEOS_SHAPE(element.rank);
  return NULL;
}

static const rheos__list_family element_shape = {compute_element_shape};

const rheos__op_def rheos__op_TensorListElementShape = {
    .name = "TensorListElementShape",
    .signature = "input_handle: variant -> element_shape: shape_type; shape_type: {int32, int64}",
    .doc = "What is known of the shape of the list's elements: dimensions, or the scalar -1.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY,
    .shape = shape_element_shape,
    .gradient = rheos__no_gradient,
    .prepare = rheos__prepare_list,
    .family = &element_shape,
};

static rheos_status *compute_resize(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)state, (void)step;
  rheos__list *list = NULL, *resized = NULL;
  int64_t length = 0;
  RHEOS_TRY(rheos__list_of(inputs[0], "TensorListResize", &list));
  RHEOS_TRY(rheos__list_int(inputs[1], "size", &length));
  if (length < 0) {
    return RHEOS_INVALID("TensorListSlice expects size to be non-negative. Got: %lld",
                         (long long)length);
  }
  RHEOS_TRY(rheos__list_resize(list, length, &resized));
  return rheos__list_tensor_take(resized, &outputs[0]);
}

static rheos_status *shape_resize(rheos__infer *c) {
  rheos_shape size;
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &size));
  return rheos__shape_scalar(c);
}

static void gradient_resize(rheos__grad *g) {
  const rheos_output length = rheos__op_1(g->scope, "TensorListLength", g->inputs[0]);
  rheos__grad_set(g, 0, rheos__op_2(g->scope, "TensorListResize", rheos__grad_dense(g, 0), length));
}

const rheos__op_def rheos__op_TensorListResize = {
    .name = "TensorListResize",
    .signature = "input_handle: variant, size: int32 -> output_handle: variant",
    .doc = "The list with `size` elements, of which those behind its own hold nothing.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY | RHEOS_OP_CHANGES_LIST,
    .shape = shape_resize,
    .gradient = gradient_resize,
    .compute = compute_resize,
};

// ---- TensorListGetItem, TensorListSetItem

static rheos_status *compute_get(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  rheos__list *list = NULL;
  int64_t index = 0;
  RHEOS_TRY(rheos__list_of(inputs[0], "TensorListGetItem", &list));
  RHEOS_TRY(rheos__list_check_dtype(list, rheos__attr_type(o->attrs, "element_dtype")));
  RHEOS_TRY(rheos__list_int(inputs[1], "index", &index));
  const int64_t length = rheos__list_length(list);
  if (index < 0 || index >= length) {
    return RHEOS_INVALID("Trying to access element %lld in a list with %lld elements.",
                         (long long)index, (long long)length);
  }
  return read_item_take(list, rheos__list_item(list, index), inputs[2], &outputs[0]);
}

static rheos_status *shape_get(rheos__infer *c) {
  rheos_shape unused;
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &unused));
  return rheos__infer_element(c, 2, &c->output_shapes[0]);
}

// d list: as long, with the gradient at `index` only.
static void gradient_get(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_dtype dtype = rheos__list_grad_dtype(g);
  const rheos_output length = rheos__op_1(s, "TensorListLength", g->inputs[0]);
  const rheos_output made[] = {rheos__list_element_shape_node(s, g->inputs[0]), length};
  const rheos_output inputs[] = {rheos__list_node(s, "TensorListReserve", made, 2, dtype),
                                 g->inputs[1], rheos__grad_dense(g, 0)};
  rheos__grad_set(g, 0, rheos__list_node(s, "TensorListSetItem", inputs, 3, dtype));
}

static const rheos__list_family get = {compute_get};

const rheos__op_def rheos__op_TensorListGetItem = {
    .name = "TensorListGetItem",
    .signature =
        "input_handle: variant, index: int32, element_shape: int32 -> item: element_dtype; "
        "element_dtype: type",
    .doc = "Element `index` of the list; zeros where it holds nothing.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY,
    .shape = shape_get,
    .gradient = gradient_get,
    .prepare = rheos__prepare_list,
    .family = &get,
};

static rheos_status *check_set(const rheos__operands *o, const rheos__list *list, int64_t index,
                               const rheos_shape *shape) {
  const rheos__list_spec *spec = rheos__list_spec_of(list);
  const int64_t length = rheos__list_length(list);
  RHEOS_TRY(rheos__list_check_dtype(list, rheos__attr_type(o->attrs, "element_dtype")));
  const bool may_grow = rheos__attr_bool(o->attrs, "resize_if_index_out_of_bounds");
  if (index < 0 || (index >= length && !may_grow)) {
    return RHEOS_INVALID("Trying to modify element %lld in a list with %lld elements.",
                         (long long)index, (long long)length);
  }
  if (rheos_shape_compatible(&spec->shape, shape)) return NULL;
  rheos__shape_text got, want;
  return RHEOS_INVALID(
      "Tried to set a tensor with incompatible shape at a list index. Item element shape: %s list "
      "shape: %s",
      rheos__shape_text_of(shape, &got), rheos__shape_text_of(&spec->shape, &want));
}

static rheos_status *compute_set(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  (void)step;
  rheos__list *list = NULL, *changed = NULL;
  int64_t index = 0;
  RHEOS_TRY(rheos__list_of(inputs[0], "TensorListSetItem", &list));
  RHEOS_TRY(rheos__list_int(inputs[1], "index", &index));
  RHEOS_TRY(check_set(state, list, index, &inputs[2]->shape));
  rheos_tensor *item = NULL;
  RHEOS_TRY(rheos__tensor_keep(inputs[2], &item));
  RHEOS_TRY(rheos__list_set_take(list, index, item, &changed));
  return rheos__list_tensor_take(changed, &outputs[0]);
}

static rheos_status *shape_set(rheos__infer *c) {
  rheos_shape unused;
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &unused));
  return rheos__shape_scalar(c);
}

// d list: the gradients with zeros at `index`; d item: that at `index`.
static void gradient_set(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_dtype dtype = rheos__list_grad_dtype(g);
  const rheos_output grads = rheos__grad_dense(g, 0), item = g->inputs[2];
  const rheos_output set[] = {grads, g->inputs[1], rheos__zeros_like(s, item)};
  rheos__grad_set(g, 0, rheos__list_node(s, "TensorListSetItem", set, 3, dtype));
  const rheos_output got[] = {grads, g->inputs[1], rheos__shape_of(s, item, RHEOS_INT32)};
  rheos__grad_set(g, 2, rheos__list_node(s, "TensorListGetItem", got, 3, dtype));
}

static const rheos__list_family set = {compute_set};

const rheos__op_def rheos__op_TensorListSetItem = {
    .name = "TensorListSetItem",
    .signature =
        "input_handle: variant, index: int32, item: element_dtype -> output_handle: variant; "
        "element_dtype: type; resize_if_index_out_of_bounds: bool = false",
    .doc = "The list with `item` as its element `index`.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY | RHEOS_OP_CHANGES_LIST,
    .shape = shape_set,
    .gradient = gradient_set,
    .prepare = rheos__prepare_list,
    .family = &set,
};
