// Lists of tensors, many elements at once: stacked, gathered, concatenated, and made of a tensor's
// parts.
#include <string.h>

#include "graph/build.h"
#include "ops/flow/tensor_list_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"

// tf.shape(tensor)[1:], as a Slice.
static rheos_output row_shape_of(rheos_scope *s, rheos_output tensor) {
  const int32_t begin = 1, size = -1;
  const rheos_output shape = rheos__shape_of(s, tensor, RHEOS_INT32);
  rheos__node_scope name;
  rheos__push_node_scope(s, "Slice", &name);
  const rheos_output inputs[] = {shape, rheos__const_ints(s, &begin, 1, "begin"),
                                 rheos__const_ints(s, &size, 1, "size")};
  const rheos_output row =
      rheos_operation_output(rheos__op_n(s, "Slice", name.name, inputs, 3, NULL, 0), 0);
  rheos_scope_pop(s);
  return row;
}

// ---- The items of a list while a kernel looks at them

typedef struct picked {
  rheos_tensor **items;  // references; NULL elements hold nothing
  int64_t count;
} picked;

static void picked_deinit(picked *p) {
  for (int64_t i = 0; p->items != NULL && i < p->count; i++) rheos_tensor_unref(p->items[i]);
  rheos__free(p->items);
}

static rheos_status *pick_all(rheos__list *list, picked *out) {
  const int64_t count = rheos__list_length(list);
  *out = (picked){.items = rheos__alloc_array((size_t)count + 1, sizeof *out->items)};
  if (out->items == NULL) return rheos__out_of_memory();
  out->count = count;
  rheos__list_items(list, out->items);
  return NULL;
}

static rheos_status *pick_some(rheos__list *list, const rheos_tensor *indices, picked *out) {
  const int64_t length = rheos__list_length(list), count = indices->num_elements;
  *out = (picked){.items = rheos__alloc_array((size_t)count + 1, sizeof *out->items)};
  if (out->items == NULL) return rheos__out_of_memory();
  for (; out->count < count; out->count++) {
    const int64_t index = rheos__tensor_int_at(indices, out->count);
    if (index < 0 || index >= length) {
      return RHEOS_INVALID("Index %lld out of range; list only has %lld elements.",
                           (long long)index, (long long)length);
    }
    out->items[out->count] = rheos__list_item(list, index);
  }
  return NULL;
}

// ---- TensorListStack, TensorListGather

// The shape of each of the elements, which must be known in the end.
static rheos_status *stacked_shape(rheos__list *list, const rheos_tensor *told, const picked *p,
                                   rheos_shape *out_shape) {
  RHEOS_TRY(rheos__list_element_shape(list, told, out_shape));
  rheos__shape_text text;
  if (p->count == 0 && !rheos_shape_is_known(out_shape)) {
    return RHEOS_INVALID(
        "Tried to stack elements of an empty list with non-fully-defined element_shape: %s",
        rheos__shape_text_of(out_shape, &text));
  }
  RHEOS_TRY(rheos__list_merge_items(p->items, p->count, out_shape));
  if (rheos_shape_is_known(out_shape)) return NULL;
  return RHEOS_INVALID(
      "Tried to stack list which only contains uninitialized tensors and has a non-fully-defined "
      "element_shape: %s",
      rheos__shape_text_of(out_shape, &text));
}

// A tensor for the items, in the memory of one that is not in the host's, if there is one.
static rheos_status *new_for(const picked *p, rheos_dtype dtype, const rheos_shape *shape,
                             rheos_tensor **out_tensor) {
  rheos__memory *memory = NULL;
  for (int64_t i = 0; i < p->count && memory == NULL; i++) {
    if (p->items[i] != NULL) memory = p->items[i]->memory;
  }
  return rheos__tensor_new_in(memory, dtype, shape, out_tensor);
}

// What an item of `count` elements holds, zeros for nothing, to a fresh tensor from element `first`
// on.
static rheos_status *copy_item(const rheos_tensor *item, int64_t count, rheos_tensor *to,
                               int64_t first) {
  if (count == 0) return NULL;
  if (item != NULL) return rheos__tensor_copy_part(item, 0, count, to, first);
  if (to->memory == NULL) {
    const size_t size = rheos_dtype_size(to->dtype);
    memset((char *)to->data + (size_t)first * size, 0, (size_t)count * size);
    return NULL;
  }
  rheos_tensor *zeros = NULL;
  RHEOS_TRY(rheos__zeros_of(to->dtype, &RHEOS_SHAPE(count), &zeros));
  rheos_status *status = rheos__tensor_copy_part(zeros, 0, count, to, first);
  rheos_tensor_unref(zeros);
  return status;
}

static rheos_status *stack(rheos__list *list, const rheos_tensor *told, const picked *p,
                           rheos_tensor **output) {
  rheos_shape shape, whole;
  RHEOS_TRY(stacked_shape(list, told, p, &shape));
  RHEOS_TRY(rheos__shape_in_front(p->count, &shape, &whole));
  const rheos_dtype dtype = rheos__list_spec_of(list)->dtype;
  RHEOS_TRY(new_for(p, dtype, &whole, output));
  if ((*output)->num_elements == 0) return NULL;
  const int64_t count = (*output)->num_elements / p->count;
  for (int64_t i = 0; i < p->count; i++) {
    RHEOS_TRY(copy_item(p->items[i], count, *output, i * count));
  }
  return NULL;
}

static rheos_status *compute_stack(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  rheos__list *list = NULL;
  RHEOS_TRY(rheos__list_of(inputs[0], "TensorListStack", &list));
  RHEOS_TRY(rheos__list_check_dtype(list, rheos__attr_type(o->attrs, "element_dtype")));
  const int64_t wanted = rheos__attr_int(o->attrs, "num_elements");
  const int64_t length = rheos__list_length(list);
  if (wanted != -1 && wanted != length) {
    return RHEOS_INVALID(
        "Operation expected a list with %lld elements but got a list with %lld elements.",
        (long long)wanted, (long long)length);
  }
  picked p;
  rheos_status *status = pick_all(list, &p);
  if (status == NULL) status = stack(list, inputs[1], &p, &outputs[0]);
  picked_deinit(&p);
  return status;
}

static rheos_status *shape_stack(rheos__infer *c) {
  rheos_shape element;
  RHEOS_TRY(rheos__infer_element(c, 1, &element));
  const int64_t count = rheos__attr_int(c->attrs, "num_elements");
  if (count < -1) {
    return RHEOS_INVALID("num_elements must be at least -1, got %lld", (long long)count);
  }
  return rheos__shape_in_front(count, &element, &c->output_shapes[0]);
}

// d list: a list of the rows of the gradient.
static void gradient_stack(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0);
  const rheos_shape shape = rheos_output_shape(grad);
  const rheos_shape row = rheos__shape_of_row(&shape);
  int32_t dims[RHEOS_MAX_RANK];
  for (int32_t i = 0; i < row.rank; i++) dims[i] = (int32_t)row.dims[i];
  const rheos_output element = row.rank < 0
                                   ? rheos__const_scalar(s, RHEOS_INT32, -1, "element_shape")
                                   : rheos__const_ints(s, dims, row.rank, "element_shape");
  const rheos_output inputs[] = {grad, element};
  rheos__grad_set(
      g, 0, rheos__list_node(s, "TensorListFromTensor", inputs, 2, rheos__list_grad_dtype(g)));
}

static const rheos__list_family stacking = {compute_stack};

const rheos__op_def rheos__op_TensorListStack = {
    .name = "TensorListStack",
    .signature =
        "input_handle: variant, element_shape: int32 -> tensor: element_dtype; "
        "element_dtype: type; num_elements: int = -1",
    .doc = "The elements of the list, which have one shape, along a new first dimension.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY,
    .shape = shape_stack,
    .gradient = gradient_stack,
    .prepare = rheos__prepare_list,
    .family = &stacking,
};

static rheos_status *compute_gather(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  rheos__list *list = NULL;
  RHEOS_TRY(rheos__list_of(inputs[0], "TensorListGather", &list));
  RHEOS_TRY(rheos__list_check_dtype(list, rheos__attr_type(o->attrs, "element_dtype")));
  picked p;
  rheos_status *status = pick_some(list, inputs[1], &p);
  if (status == NULL) status = stack(list, inputs[2], &p, &outputs[0]);
  picked_deinit(&p);
  return status;
}

static rheos_status *shape_gather(rheos__infer *c) {
  rheos_shape element, indices;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &indices));
  RHEOS_TRY(rheos__infer_element(c, 2, &element));
  return rheos__shape_in_front(indices.dims[0], &element, &c->output_shapes[0]);
}

// d list: as long, with the rows of the gradient at the indices.
// An element that is taken more than once has the sum of what arrives.
static void gradient_gather(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_dtype dtype = rheos__list_grad_dtype(g);
  const rheos_output element = rheos__list_element_shape_node(s, g->inputs[0]);
  const rheos_output made[] = {element, rheos__op_1(s, "TensorListLength", g->inputs[0])};
  const rheos_operation unique = rheos__op_n(s, "Unique", NULL, &g->inputs[1], 1, NULL, 0);
  const rheos_output places = rheos_operation_output(unique, 0);
  const rheos_output sums =
      rheos__op_3(s, "UnsortedSegmentSum", rheos__grad_dense(g, 0),
                  rheos_operation_output(unique, 1), rheos__op_1(s, "Size", places));
  const rheos_output inputs[] = {rheos__list_node(s, "TensorListReserve", made, 2, dtype), sums,
                                 places};
  rheos__grad_set(g, 0, rheos__list_node(s, "TensorListScatterIntoExistingList", inputs, 3, dtype));
}

static const rheos__list_family gather = {compute_gather};

const rheos__op_def rheos__op_TensorListGather = {
    .name = "TensorListGather",
    .signature =
        "input_handle: variant, indices: int32, element_shape: int32 -> values: element_dtype; "
        "element_dtype: type",
    .doc = "The elements of the list at `indices`, along a new first dimension.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY,
    .shape = shape_gather,
    .gradient = gradient_gather,
    .prepare = rheos__prepare_list,
    .family = &gather,
};

// ---- TensorListFromTensor

static rheos_status *check_has_rows(const rheos_tensor *tensor) {
  if (tensor->shape.rank >= 1) return NULL;
  return RHEOS_INVALID("Tensor must be at least a vector, but saw shape: []");
}

// Fails unless elements of that shape may go into a list whose elements are as `told`.
static rheos_status *check_rows(const rheos_shape *told, const rheos_shape *row) {
  if (rheos_shape_compatible(told, row)) return NULL;
  rheos__shape_text want, got;
  return RHEOS_INVALID("Specified a list with shape %s from a tensor with shape %s",
                       rheos__shape_text_of(told, &want), rheos__shape_text_of(row, &got));
}

enum { ROWS_BETWEEN_POLLS = 1 << 13 };

// The rows of the tensor, `indices` telling where they go (NULL: one after another).
static rheos_status *fill_with_rows(const rheos_tensor *tensor, const rheos_tensor *indices,
                                    int64_t count, rheos__list *list) {
  const rheos_shape shape = rheos__shape_of_row(&tensor->shape);
  int64_t since = 0;
  for (int64_t i = 0; i < count; i++) {
    rheos_tensor *row = NULL;
    if (rheos__stops_after(&since, 1, ROWS_BETWEEN_POLLS)) return rheos__stopped();
    RHEOS_TRY(rheos__rows_of(tensor, i, &shape, &row));
    rheos__list_fill_take(list, indices != NULL ? rheos__tensor_int_at(indices, i) : i, row);
  }
  return NULL;
}

static rheos_status *finish_take(rheos_status *status, rheos__list *list, rheos_tensor **output) {
  if (status == NULL) return rheos__list_tensor_take(list, output);
  rheos__list_unref(list);
  return status;
}

static rheos_status *check_has_rank(const rheos_shape *tensor, int32_t rank, bool any) {
  if (any || tensor->rank < 0 || tensor->rank == rank) return NULL;
  return RHEOS_INVALID("Shape must be rank %d but is rank %d", rank, tensor->rank);
}

static rheos_status *compute_from_tensor(void *state, rheos__step *step,
                                         rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)state, (void)step;
  rheos__list_spec spec = {.dtype = inputs[0]->dtype, .max_length = -1};
  RHEOS_TRY(rheos__shape_from_tensor(inputs[1], &spec.shape));
  RHEOS_TRY(check_has_rows(inputs[0]));
  const rheos_shape row = rheos__shape_of_row(&inputs[0]->shape);
  RHEOS_TRY(check_rows(&spec.shape, &row));
  const int64_t count = inputs[0]->shape.dims[0];
  rheos__list *list = NULL;
  RHEOS_TRY(rheos__list_new(&spec, count, &list));
  return finish_take(fill_with_rows(inputs[0], NULL, count, list), list, &outputs[0]);
}

// The rows of input 0 have the shape that input 1 tells.
static rheos_status *shape_from_tensor(rheos__infer *c) {
  rheos_shape told;
  const rheos_shape *tensor = &c->input_shapes[0];
  RHEOS_TRY(rheos__infer_shape_value(c, 1, &told));
  if (tensor->rank > 0 || (tensor->rank == 0 && told.rank >= 0)) {
    const rheos_shape row = rheos__shape_of_row(tensor);
    RHEOS_TRY(check_has_rank(tensor, told.rank + 1, told.rank < 0));
    RHEOS_TRY(check_rows(&told, &row));
  }
  return rheos__shape_scalar(c);
}

// d tensor: the gradients stacked.
static void gradient_from_tensor(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_shape shape = rheos_output_shape(g->inputs[0]);
  const rheos_attr attrs[] = {
      rheos__list_dtype_attr(rheos__list_grad_dtype(g)),
      {"num_elements", {.kind = RHEOS_ATTR_INT, .i = shape.rank > 0 ? shape.dims[0] : -1}},
  };
  const rheos_output inputs[] = {rheos__grad_dense(g, 0), row_shape_of(s, g->inputs[0])};
  rheos__grad_set(
      g, 0,
      rheos_operation_output(rheos__op_n(s, "TensorListStack", NULL, inputs, 2, attrs, 2), 0));
}

static const rheos__list_family from_tensor = {compute_from_tensor};

const rheos__op_def rheos__op_TensorListFromTensor = {
    .name = "TensorListFromTensor",
    .signature =
        "tensor: element_dtype, element_shape: shape_type -> output_handle: variant; "
        "element_dtype: type; shape_type: {int32, int64}",
    .doc = "A list of the rows of `tensor`.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY | RHEOS_OP_MAKES_LIST,
    .shape = shape_from_tensor,
    .gradient = gradient_from_tensor,
    .prepare = rheos__prepare_list,
    .family = &from_tensor,
};

// ---- TensorListScatter, TensorListScatterV2, TensorListScatterIntoExistingList

// One more than the largest of the indices.
static rheos_status *check_scatter(const rheos_tensor *tensor, const rheos_tensor *indices,
                                   int64_t *out_end) {
  *out_end = 0;
  RHEOS_TRY(check_has_rows(tensor));
  if (indices->shape.rank != 1) {
    rheos__shape_text text;
    return RHEOS_INVALID("Expected indices to be a vector, but received shape: %s",
                         rheos__shape_text_of(&indices->shape, &text));
  }
  if (tensor->shape.dims[0] < indices->num_elements) {
    return RHEOS_INVALID(
        "Invalid number of rows in input tensor. Expected (at least): %lld Actual: %lld",
        (long long)indices->num_elements, (long long)tensor->shape.dims[0]);
  }
  for (int64_t i = 0; i < indices->num_elements; i++) {
    const int64_t index = rheos__tensor_int_at(indices, i);
    if (index < 0) {
      return RHEOS_INVALID("Indices in TensorListScatter must all be non-negative.");
    }
    if (index >= *out_end) *out_end = index + 1;
  }
  return NULL;
}

static rheos_status *shape_scatter(rheos__infer *c) { return rheos__infer_list_of(c, 2); }

static rheos_status *shape_scatter_into(rheos__infer *c) {
  rheos_shape indices;
  RHEOS_TRY(rheos__infer_rank_at_least(c, 1, 1));
  RHEOS_TRY(rheos__infer_rank(c, 2, 1, &indices));
  return rheos__shape_scalar(c);
}

static rheos_status *compute_scatter(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  rheos__list_spec spec = {.dtype = inputs[0]->dtype, .max_length = -1};
  int64_t length = -1, end = 0;
  RHEOS_TRY(rheos__shape_from_tensor(inputs[2], &spec.shape));
  if (o->num_inputs > 3) RHEOS_TRY(rheos__list_int(inputs[3], "num_elements", &length));
  if (length < -1) {
    return RHEOS_INVALID("TensorListScatter expects num_elements >= -1, found: %lld",
                         (long long)length);
  }
  RHEOS_TRY(check_scatter(inputs[0], inputs[1], &end));
  if (length == -1) length = end;
  if (end > length) {
    return RHEOS_INVALID(
        "TensorListScatter: Trying to scatter at index %lld in list with size %lld",
        (long long)end - 1, (long long)length);
  }
  const rheos_shape row = rheos__shape_of_row(&inputs[0]->shape);
  RHEOS_TRY(check_rows(&spec.shape, &row));
  rheos__list *list = NULL;
  RHEOS_TRY(rheos__list_new(&spec, length, &list));
  return finish_take(fill_with_rows(inputs[0], inputs[1], inputs[1]->num_elements, list), list,
                     &outputs[0]);
}

// d tensor: the gradients at the indices.
static void gradient_scatter(rheos__grad *g) {
  const rheos_output inputs[] = {rheos__grad_dense(g, 0), g->inputs[1],
                                 row_shape_of(g->scope, g->inputs[0])};
  rheos__grad_set(
      g, 0, rheos__list_node(g->scope, "TensorListGather", inputs, 3, rheos__list_grad_dtype(g)));
}

static const rheos__list_family scatter = {compute_scatter};

const rheos__op_def rheos__op_TensorListScatter = {
    .name = "TensorListScatter",
    .signature =
        "tensor: element_dtype, indices: int32, element_shape: shape_type -> "
        "output_handle: variant; element_dtype: type; shape_type: {int32, int64}",
    .doc = "A list with row i of `tensor` as its element `indices[i]`.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY | RHEOS_OP_MAKES_LIST,
    .shape = shape_scatter,
    .gradient = gradient_scatter,
    .prepare = rheos__prepare_list,
    .family = &scatter,
};

const rheos__op_def rheos__op_TensorListScatterV2 = {
    .name = "TensorListScatterV2",
    .signature =
        "tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32 -> "
        "output_handle: variant; element_dtype: type; shape_type: {int32, int64}",
    .doc = "A list of `num_elements` with row i of `tensor` as its element `indices[i]`.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY | RHEOS_OP_MAKES_LIST,
    .shape = shape_scatter,
    .gradient = gradient_scatter,
    .prepare = rheos__prepare_list,
    .family = &scatter,
};

static rheos_status *compute_scatter_into(void *state, rheos__step *step,
                                          rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)state, (void)step;
  rheos__list *list = NULL, *changed = NULL;
  int64_t end = 0;
  RHEOS_TRY(rheos__list_of(inputs[0], "TensorListScatterIntoExistingList", &list));
  RHEOS_TRY(rheos__list_check_dtype(list, inputs[1]->dtype));
  RHEOS_TRY(check_scatter(inputs[1], inputs[2], &end));
  const rheos_shape row = rheos__shape_of_row(&inputs[1]->shape);
  RHEOS_TRY(check_rows(&rheos__list_spec_of(list)->shape, &row));
  if (end < rheos__list_length(list)) end = rheos__list_length(list);
  RHEOS_TRY(rheos__list_copy(list, rheos__list_spec_of(list), end, &changed));
  return finish_take(fill_with_rows(inputs[1], inputs[2], inputs[2]->num_elements, changed),
                     changed, &outputs[0]);
}

// d list: the gradients with zeros at the indices; d tensor: those at the indices.
static void gradient_scatter_into(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_dtype dtype = rheos__list_grad_dtype(g);
  const rheos_output grads = rheos__grad_dense(g, 0), tensor = g->inputs[1];
  const rheos_output gathered[] = {grads, g->inputs[2], row_shape_of(s, tensor)};
  rheos__grad_set(g, 1, rheos__list_node(s, "TensorListGather", gathered, 3, dtype));
  const rheos_output cleared[] = {grads, rheos__zeros_like(s, tensor), g->inputs[2]};
  rheos__grad_set(g, 0,
                  rheos__list_node(s, "TensorListScatterIntoExistingList", cleared, 3, dtype));
}

static const rheos__list_family scatter_into = {compute_scatter_into};

const rheos__op_def rheos__op_TensorListScatterIntoExistingList = {
    .name = "TensorListScatterIntoExistingList",
    .signature =
        "input_handle: variant, tensor: element_dtype, indices: int32 -> output_handle: variant; "
        "element_dtype: type",
    .doc = "The list with row i of `tensor` as its element `indices[i]`.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY | RHEOS_OP_CHANGES_LIST,
    .shape = shape_scatter_into,
    .gradient = gradient_scatter_into,
    .prepare = rheos__prepare_list,
    .family = &scatter_into,
};

// ---- TensorListSplit

static rheos_status *check_split(const rheos_tensor *tensor, const rheos_shape *told,
                                 const rheos_tensor *lengths) {
  rheos__shape_text want, got;
  if (lengths->shape.rank != 1) {
    return RHEOS_INVALID("Expected lengths to be a vector, received shape: %s",
                         rheos__shape_text_of(&lengths->shape, &got));
  }
  RHEOS_TRY(check_has_rows(tensor));
  const rheos_shape told_row = rheos__shape_of_row(told), row = rheos__shape_of_row(&tensor->shape);
  if (told->rank == 0 || !rheos_shape_compatible(&told_row, &row)) {
    return RHEOS_INVALID("tensor shape %s is not compatible with element_shape %s",
                         rheos__shape_text_of(&tensor->shape, &got),
                         rheos__shape_text_of(told, &want));
  }
  const int64_t rows = tensor->shape.dims[0];
  int64_t used = 0;
  for (int64_t i = 0; i < lengths->num_elements; i++) {
    const int64_t length = rheos__tensor_int_at(lengths, i);
    if (length < 0) return RHEOS_INVALID("Invalid value in lengths: %lld", (long long)length);
    if (length > rows - used) {
      int64_t end;
      if (__builtin_add_overflow(used, length, &end)) end = INT64_MAX;
      return RHEOS_INVALID("Attempting to slice [%lld, %lld] from tensor with length %lld",
                           (long long)used, (long long)end, (long long)rows);
    }
    used += length;
  }
  if (used == rows) return NULL;
  return RHEOS_INVALID("Unused values in tensor. Length of tensor: %lld Values used: %lld",
                       (long long)rows, (long long)used);
}

static rheos_status *fill_with_parts(const rheos_tensor *tensor, const rheos_tensor *lengths,
                                     rheos__list *list) {
  rheos_shape shape = tensor->shape;
  int64_t first = 0;
  for (int64_t i = 0; i < lengths->num_elements; i++) {
    rheos_tensor *part = NULL;
    shape.dims[0] = rheos__tensor_int_at(lengths, i);
    RHEOS_TRY(rheos__rows_of(tensor, first, &shape, &part));
    rheos__list_fill_take(list, i, part);
    first += shape.dims[0];
  }
  return NULL;
}

static rheos_status *compute_split(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)state, (void)step;
  rheos__list_spec spec = {.dtype = inputs[0]->dtype, .max_length = -1};
  RHEOS_TRY(rheos__shape_from_tensor(inputs[1], &spec.shape));
  RHEOS_TRY(check_split(inputs[0], &spec.shape, inputs[2]));
  rheos__list *list = NULL;
  RHEOS_TRY(rheos__list_new(&spec, inputs[2]->num_elements, &list));
  return finish_take(fill_with_parts(inputs[0], inputs[2], list), list, &outputs[0]);
}

// d tensor: the gradients one behind another.
static void gradient_split(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const int32_t any = -1;
  const rheos_output dims[] = {rheos__const_ints(s, &any, 1, "concat/values_0"),
                               row_shape_of(s, g->inputs[0]),
                               rheos__const_scalar(s, RHEOS_INT32, 0, "concat/axis")};
  const rheos_output shape =
      rheos_operation_output(rheos__op_n(s, "ConcatV2", "concat", dims, 3, NULL, 0), 0);
  const rheos_output inputs[] = {rheos__grad_dense(g, 0), shape, g->inputs[2]};
  rheos__grad_set(g, 0,
                  rheos__list_node(s, "TensorListConcatV2", inputs, 3, rheos__list_grad_dtype(g)));
}

static rheos_status *shape_split(rheos__infer *c) {
  rheos_shape told, lengths;
  RHEOS_TRY(rheos__infer_shape_value(c, 1, &told));
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  RHEOS_TRY(check_has_rank(&c->input_shapes[0], told.rank, told.rank < 0));
  RHEOS_TRY(rheos__infer_rank(c, 2, 1, &lengths));
  return rheos__shape_scalar(c);
}

static const rheos__list_family split = {compute_split};

const rheos__op_def rheos__op_TensorListSplit = {
    .name = "TensorListSplit",
    .signature =
        "tensor: element_dtype, element_shape: shape_type, lengths: int64 -> "
        "output_handle: variant; element_dtype: type; shape_type: {int32, int64}",
    .doc = "A list of parts of `tensor`, of `lengths` rows.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY | RHEOS_OP_MAKES_LIST,
    .shape = shape_split,
    .gradient = gradient_split,
    .prepare = rheos__prepare_list,
    .family = &split,
};

// ---- TensorListConcat, TensorListConcatV2

// What is known of the parts while they are looked at.
typedef struct parts {
  rheos_shape row;  // without the first dimension
  int64_t rows;     // of each, if all have as many; -1: not known
  int64_t total;
  const rheos_tensor *leading_dims;  // of parts that hold nothing; may be NULL
} parts;

static rheos_status *look_at_parts(const picked *p, parts *out) {
  const int64_t told = out->rows;
  bool same = true;
  for (int64_t i = 0; i < p->count; i++) {
    if (p->items[i] == NULL) continue;
    const rheos_shape *shape = &p->items[i]->shape;
    if (shape->rank < 1) {
      return RHEOS_INVALID("Concat saw a scalar shape at index %lld but requires at least vectors.",
                           (long long)i);
    }
    if (told >= 0 && told != shape->dims[0]) {
      return RHEOS_INVALID(
          "First entry of element_shape input does not match the first dim of list element at "
          "index: %lld Expected: %lld Actual: %lld",
          (long long)i, (long long)told, (long long)shape->dims[0]);
    }
    const rheos_shape row = rheos__shape_of_row(shape), so_far = out->row;
    RHEOS_TRY(rheos__list_merge_shapes(&so_far, &row, &out->row));
    if (out->rows < 0 && same) out->rows = shape->dims[0];
    if (out->rows != shape->dims[0]) same = false;
    if (!same) out->rows = -1;
  }
  if (rheos_shape_is_known(&out->row)) return NULL;
  rheos__shape_text text;
  return RHEOS_INVALID(
      p->count == 0 ? "All except the first dimension must be fully defined when concating an "
                      "empty tensor list. element_shape: %s"
                    : "Trying to concat list with only uninitialized tensors but "
                      "element_shape_except_first_dim_ is not fully defined: %s",
      rheos__shape_text_of(&out->row, &text));
}

static rheos_status *rows_of_part(const parts *parts, const picked *p, int64_t i,
                                  int64_t *out_rows) {
  const rheos_tensor *told = parts->leading_dims;
  if (p->items[i] != NULL) {
    *out_rows = p->items[i]->shape.dims[0];
  } else if (told != NULL && i < told->num_elements) {
    *out_rows = rheos__tensor_int_at(told, i);
  } else {
    *out_rows = parts->rows;
  }
  if (*out_rows >= 0) return NULL;
  return RHEOS_INVALID(
      "List contains uninitialized tensor at index %lld but leading_dims has only %lld elements.",
      (long long)i, (long long)(told != NULL ? told->num_elements : 0));
}

static rheos_status *measure(parts *parts, const picked *p, rheos_tensor *lengths) {
  for (int64_t i = 0; i < p->count; i++) {
    int64_t rows = 0;
    RHEOS_TRY(rows_of_part(parts, p, i, &rows));
    ((int64_t *)lengths->data)[i] = rows;
    if (__builtin_add_overflow(parts->total, rows, &parts->total)) {
      return RHEOS_INVALID("the parts have more rows than can be counted");
    }
  }
  return NULL;
}

static rheos_status *copy_parts(const picked *p, const rheos_tensor *lengths, int64_t row_elements,
                                rheos_tensor *to) {
  int64_t at = 0;
  for (int64_t i = 0; i < p->count; i++) {
    const int64_t count = ((const int64_t *)lengths->data)[i] * row_elements;
    RHEOS_TRY(copy_item(p->items[i], count, to, at));
    at += count;
  }
  return NULL;
}

static rheos_status *concat(const picked *p, parts *parts, rheos_dtype dtype,
                            rheos_tensor **outputs) {
  rheos_shape shape;
  RHEOS_TRY(look_at_parts(p, parts));
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(p->count), &outputs[1]));
  RHEOS_TRY(measure(parts, p, outputs[1]));
  RHEOS_TRY(rheos__shape_in_front(parts->total, &parts->row, &shape));
  RHEOS_TRY(new_for(p, dtype, &shape, &outputs[0]));
  if (outputs[0]->num_elements == 0) return NULL;
  return copy_parts(p, outputs[1], outputs[0]->num_elements / parts->total, outputs[0]);
}

static rheos_status *shape_of_parts(const rheos__operands *o, rheos__list *list,
                                    rheos_tensor *const *inputs, rheos_shape *out_shape) {
  if (o->num_inputs == 1) {
    const rheos_shape told = rheos__attr_shape(o->attrs, "element_shape");
    return rheos__list_merge_shapes(&told, &rheos__list_spec_of(list)->shape, out_shape);
  }
  return rheos__list_element_shape(list, inputs[1], out_shape);
}

static rheos_status *compute_concat(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  const rheos_dtype dtype = rheos__attr_type(o->attrs, "element_dtype");
  rheos__list *list = NULL;
  rheos_shape shape;
  RHEOS_TRY(rheos__list_of(inputs[0], "TensorListConcat", &list));
  RHEOS_TRY(rheos__list_check_dtype(list, dtype));
  RHEOS_TRY(shape_of_parts(o, list, inputs, &shape));
  if (shape.rank == 0) {
    return RHEOS_INVALID("Concat requires elements to be at least vectors, found scalars instead.");
  }
  parts parts = {.row = rheos__shape_of_row(&shape),
                 .rows = shape.rank > 0 ? shape.dims[0] : -1,
                 .leading_dims = o->num_inputs > 2 ? inputs[2] : NULL};
  picked p;
  rheos_status *status = pick_all(list, &p);
  if (status == NULL) status = concat(&p, &parts, dtype, outputs);
  picked_deinit(&p);
  return status;
}

static rheos_status *shape_concat(rheos__infer *c) {
  rheos_shape element = RHEOS_UNKNOWN_SHAPE;
  if (c->num_inputs > 1) {
    RHEOS_TRY(rheos__infer_element(c, 1, &element));
  } else {
    const rheos_shape told = rheos__attr_shape(c->attrs, "element_shape");
    RHEOS_TRY(rheos__infer_listed(c, &told, &element));
  }
  if (element.rank == 0) {
    return RHEOS_INVALID("Concat requires elements to be at least vectors, found scalars instead.");
  }
  c->output_shapes[0] = element;
  if (element.rank > 0) c->output_shapes[0].dims[0] = -1;
  c->output_shapes[1] = RHEOS_SHAPE(-1);
  return NULL;
}

// d list: the gradient split as the list was.
static void gradient_concat(rheos__grad *g) {
  const rheos_output inputs[] = {rheos__grad_dense(g, 0),
                                 rheos__list_element_shape_node(g->scope, g->inputs[0]),
                                 g->outputs[1]};
  rheos__grad_set(
      g, 0, rheos__list_node(g->scope, "TensorListSplit", inputs, 3, rheos__list_grad_dtype(g)));
}

static const rheos__list_family concatenated = {compute_concat};

const rheos__op_def rheos__op_TensorListConcat = {
    .name = "TensorListConcat",
    .signature =
        "input_handle: variant -> tensor: element_dtype, lengths: int64; element_dtype: type; "
        "element_shape: shape = ?",
    .doc = "The elements of the list one behind another, and how many rows each has.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY,
    .shape = shape_concat,
    .gradient = gradient_concat,
    .prepare = rheos__prepare_list,
    .family = &concatenated,
};

const rheos__op_def rheos__op_TensorListConcatV2 = {
    .name = "TensorListConcatV2",
    .signature =
        "input_handle: variant, element_shape: shape_type, leading_dims: int64 -> "
        "tensor: element_dtype, lengths: int64; element_dtype: type; shape_type: {int32, int64}",
    .doc =
        "The elements of the list one behind another, and how many rows each has; "
        "`leading_dims` are those of elements that hold nothing.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY,
    .shape = shape_concat,
    .gradient = gradient_concat,
    .prepare = rheos__prepare_list,
    .family = &concatenated,
};

// ---- TensorListConcatLists

static rheos_status *join(rheos__list *a, rheos__list *b, rheos_dtype dtype, rheos__list **out) {
  rheos__list_spec spec = {.dtype = dtype, .max_length = -1};
  RHEOS_TRY(rheos__list_check_dtype(a, dtype));
  RHEOS_TRY(rheos__list_check_dtype(b, dtype));
  const rheos__list_spec *sa = rheos__list_spec_of(a), *sb = rheos__list_spec_of(b);
  if (!rheos_shape_equal(&sa->shape, &sb->shape)) {
    rheos__shape_text a_text, b_text;
    return RHEOS_INVALID("the element shapes of the lists are not identical: %s vs. %s",
                         rheos__shape_text_of(&sa->shape, &a_text),
                         rheos__shape_text_of(&sb->shape, &b_text));
  }
  spec.shape = sa->shape;
  const int64_t first = rheos__list_length(a);
  picked p;
  rheos_status *status = pick_all(b, &p);
  if (status == NULL) status = rheos__list_copy(a, &spec, first + p.count, out);
  for (int64_t i = 0; status == NULL && i < p.count; i++) {
    rheos__list_fill_take(*out, first + i, p.items[i]);
    p.items[i] = NULL;
  }
  picked_deinit(&p);
  return status;
}

static rheos_status *compute_concat_lists(void *state, rheos__step *step,
                                          rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  const rheos_dtype dtype = rheos__attr_type(o->attrs, "element_dtype");
  const rheos_shape *a = &inputs[0]->shape, *b = &inputs[1]->shape;
  if (!rheos_shape_equal(a, b)) {
    rheos__shape_text a_text, b_text;
    return RHEOS_INVALID("input_a and input_b must have the same shape, got %s and %s",
                         rheos__shape_text_of(a, &a_text), rheos__shape_text_of(b, &b_text));
  }
  RHEOS_TRY(rheos__tensor_new(RHEOS_VARIANT, a, &outputs[0]));
  for (int64_t i = 0; i < outputs[0]->num_elements; i++) {
    rheos__list *first = NULL, *second = NULL, *joined = NULL;
    RHEOS_TRY(rheos__list_at(inputs[0], i, "TensorListConcatLists", &first));
    RHEOS_TRY(rheos__list_at(inputs[1], i, "TensorListConcatLists", &second));
    RHEOS_TRY(join(first, second, dtype, &joined));
    ((rheos__variant **)outputs[0]->data)[i] = (rheos__variant *)joined;
  }
  return NULL;
}

static const rheos__list_family concat_lists = {compute_concat_lists};

const rheos__op_def rheos__op_TensorListConcatLists = {
    .name = "TensorListConcatLists",
    .signature = "input_a: variant, input_b: variant -> output: variant; element_dtype: type",
    .doc = "Lists with the elements of those in `input_b` behind those in `input_a`.",
    .flags = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY | RHEOS_OP_CHANGES_LIST,
    .shape = rheos__shape_merge_2,
    .prepare = rheos__prepare_list,
    .family = &concat_lists,
};
