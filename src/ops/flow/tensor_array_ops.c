// The ops of tensor arrays, in three versions that differ in what a handle is: V3's is a resource,
// whose element points to the array; V2's a string that names it among the step's resources; V1's a
// reference to such a string. Flow, a number that nobody reads, orders the ops on one array.
#include <stdio.h>

#include "graph/build.h"
#include "ops/flow/tensor_array.h"
#include "ops/flow/tensor_array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"
#include "ops/kit/variable_util.h"
#include "resource/resource.h"

typedef enum handle_kind { OF_REFERENCE, OF_STRING, OF_RESOURCE } handle_kind;

typedef struct array_family {
  rheos__compute_fn compute;
  handle_kind makes;  // of ops that make an array
} array_family;

typedef struct array_op {
  const rheos__op_def *op;
  const rheos__attrs *attrs;
  int32_t num_inputs;
  const char *node_name;
  rheos__variable_cell *from;  // behind a handle that is a reference, else NULL
  rheos__variable_cell *made;  // behind the reference that the op gives, else NULL
} array_op;

// ---- Arrays that names stand for

typedef struct slot {
  rheos__resource base;
  rheos__array *array;  // NULL: none of that name
} slot;

static void deinit_slot(rheos__resource *resource) {
  rheos__array_unref(((slot *)resource)->array);
}

static const rheos__resource_kind slot_kind = {"tensor array", sizeof(slot), NULL, deinit_slot};

typedef struct counter {
  rheos__resource base;
  int64_t next;
} counter;

static const rheos__resource_kind counter_kind = {"number of tensor arrays", sizeof(counter), NULL,
                                                  NULL};

static rheos_status *step_resource(rheos__step *step, const rheos__resource_kind *kind,
                                   const char *name, rheos__resource **out) {
  rheos__resources *resources = rheos__step_resources(step);
  if (resources == NULL) return rheos__out_of_memory();
  return rheos__resources_get(resources, kind, name, NULL, out);
}

// A number that no other array of the step has had.
static rheos_status *next_number(rheos__step *step, int64_t *out_number) {
  rheos__resource *found = NULL;
  RHEOS_TRY(step_resource(step, &counter_kind, "", &found));
  *out_number = ((counter *)found)->next++;
  rheos__resource_unref(found);
  return NULL;
}

// From now on the array's name stands for it. A reference is taken also on failure.
static rheos_status *register_take(rheos__step *step, rheos__array *array) {
  rheos__resource *found = NULL;
  rheos_status *status = step_resource(step, &slot_kind, rheos__array_name(array), &found);
  if (status != NULL) {
    rheos__array_unref(array);
    return status;
  }
  rheos__array_unref(((slot *)found)->array);
  ((slot *)found)->array = array;
  rheos__resource_unref(found);
  return NULL;
}

// Borrowed: it lives as long as the step.
static rheos_status *array_of_name(rheos__step *step, const rheos_tensor *handle,
                                   rheos__array **out_array) {
  if (handle->dtype != RHEOS_STRING || handle->num_elements != 2) {
    rheos__shape_text text;
    return RHEOS_INVALID("Tensor array handle must be 2-element vector, but had shape: %s",
                         rheos__shape_text_of(&handle->shape, &text));
  }
  const rheos_string *name = (const rheos_string *)handle->data + 1;
  rheos__resource *found = NULL;
  RHEOS_TRY(step_resource(step, &slot_kind, name->data != NULL ? name->data : "", &found));
  *out_array = ((slot *)found)->array;
  rheos__resource_unref(found);  // the step keeps it
  if (*out_array != NULL) return NULL;
  return RHEOS_NOTFOUND("this step has no TensorArray %s", name->data != NULL ? name->data : "");
}

static rheos_status *array_of_cell(rheos__step *step, rheos__variable_cell *cell,
                                   rheos__array **out_array) {
  rheos_tensor *handle = rheos__variable_read(cell);
  if (handle == NULL) return rheos__variable_uninitialized(cell);
  rheos_status *status = array_of_name(step, handle, out_array);
  rheos_tensor_unref(handle);
  return status;
}

// The array behind input 0, borrowed.
static rheos_status *array_of(const array_op *a, rheos__step *step, const rheos_tensor *handle,
                              rheos__array **out_array) {
  if (a->from != NULL) return array_of_cell(step, a->from, out_array);
  if (handle != NULL && handle->dtype == RHEOS_STRING) {
    return array_of_name(step, handle, out_array);
  }
  return rheos__handle_object(handle, &rheos__array_kind, a->op->name,
                              (rheos__variant **)out_array);
}

static rheos_status *string_handle(const rheos__array *array, rheos_tensor **out_handle) {
  const rheos_string parts[] = {
      rheos__borrow_string("_tensor_arrays", 14),
      rheos__borrow_string(rheos__array_name(array), strlen(rheos__array_name(array)))};
  return rheos_tensor_from_values(RHEOS_STRING, RHEOS_SHAPE(2), parts, out_handle);
}

// The flow that an op takes, wherever it lies, or one to begin with.
static rheos_status *flow_of(rheos_tensor *flow_in, rheos_tensor **out_flow) {
  if (flow_in != NULL) return rheos__tensor_keep(flow_in, out_flow);
  RHEOS_TRY(rheos__tensor_new(RHEOS_FLOAT, &RHEOS_SCALAR, out_flow));
  *(float *)(*out_flow)->data = 0;
  return NULL;
}

// Gives the array as the outputs of the op that made it. A reference is taken also on failure.
static rheos_status *give_take(const array_op *a, rheos__step *step, rheos__array *array,
                               rheos_tensor *flow_in, rheos_tensor **outputs) {
  const array_family *family = a->op->family;
  if (family->makes == OF_RESOURCE) {
    RHEOS_TRY(rheos__handle_tensor_take((rheos__variant *)array, &RHEOS_SHAPE(2), &outputs[0]));
    return flow_of(flow_in, &outputs[1]);
  }
  rheos_tensor *handle = NULL;
  rheos_status *status = string_handle(array, &handle);
  if (status != NULL) {
    rheos__array_unref(array);
    return status;
  }
  status = register_take(step, array);
  if (status != NULL) {
    rheos_tensor_unref(handle);
    return status;
  }
  if (family->makes == OF_STRING) {
    outputs[0] = handle;
  } else {
    rheos__variable_assign_take(a->made, handle);
  }
  return NULL;
}

static void release(void *state) {
  array_op *a = state;
  if (a->made != NULL) rheos__resource_unref(&a->made->base);
}

// The cell behind the reference that the node gives.
static rheos_status *make_cell(rheos__prepare *p, array_op *a) {
  RHEOS_TRY(rheos__string_cell_new(p, "tensor_array", &a->made));
  p->release = release;
  p->output_resource = &a->made->base;
  return NULL;
}

static rheos_status *prepare_array(rheos__prepare *p) {
  const array_family *family = p->op->family;
  array_op *a = RHEOS_NEW_STATE(p, array_op);
  const char *name = rheos__arena_strdup(p->arena, p->node_name);
  if (a == NULL || name == NULL) return rheos__out_of_memory();
  *a = (array_op){.op = p->op, .attrs = p->attrs, .num_inputs = p->num_inputs, .node_name = name};
  RHEOS_TRY(rheos__string_cell_of(p, &a->from));
  p->compute = family->compute;
  const bool gives_reference =
      p->num_outputs > 0 && p->output_dtypes[0] == RHEOS_STRING && family->makes == OF_REFERENCE;
  return gives_reference ? make_cell(p, a) : NULL;
}

// ---- Scalars

static rheos_status *scalar_int(const rheos_tensor *tensor, const char *what, int64_t *out_value) {
  if (tensor->shape.rank != 0) {
    rheos__shape_text text;
    return RHEOS_INVALID("TensorArray %s must be scalar, but had shape: %s", what,
                         rheos__shape_text_of(&tensor->shape, &text));
  }
  *out_value = rheos__tensor_int_at(tensor, 0);
  return NULL;
}

static rheos_status *shape_made(rheos__infer *c) {
  c->output_shapes[0] = RHEOS_SHAPE(2);  // as TensorFlow has it, also where the handle is no string
  for (int32_t i = 1; i < c->num_outputs; i++) c->output_shapes[i] = RHEOS_SCALAR;
  return NULL;
}

// Of the first version, whose handles are references, TensorFlow does not look at shapes.
static rheos_status *check_handle(const rheos__infer *c) {
  return rheos_dtype_is_ref(c->input_dtypes[0]) ? NULL : rheos__infer_pair(c, 0);
}

// Checks the handle, and the flow, which is the last input.
static rheos_status *check_handle_and_flow(const rheos__infer *c) {
  rheos_shape unused;
  RHEOS_TRY(check_handle(c));
  return rheos__infer_rank(c, c->num_inputs - 1, 0, &unused);
}

static rheos_status *shape_grad(rheos__infer *c) {
  RHEOS_TRY(check_handle(c));
  return shape_made(c);
}

static rheos_status *shape_array(rheos__infer *c) {
  rheos_shape unused;
  RHEOS_TRY(rheos__infer_rank(c, 0, 0, &unused));
  return shape_made(c);
}

// ---- TensorArray

static rheos_status *compute_make(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const array_op *a = state;
  const array_family *family = a->op->family;
  int64_t size = 0, number = 0;
  RHEOS_TRY(scalar_int(inputs[0], "size", &size));
  const char *name = rheos__attr_string(a->attrs, "tensor_array_name");
  if (name == NULL || name[0] == '\0') name = a->node_name;
  if (family->makes == OF_STRING) RHEOS_TRY(next_number(step, &number));
  char *numbered = rheos__alloc(strlen(name) + 24);
  if (numbered == NULL) return rheos__out_of_memory();
  snprintf(numbered, strlen(name) + 24, "%s_%lld", name, (long long)number);
  const rheos_attr_value *identical = rheos__attrs_find(a->attrs, "identical_element_shapes");
  const rheos__array_spec spec = {
      .name = numbered,
      .dtype = rheos__attr_type(a->attrs, "dtype"),
      .shape = rheos__attr_shape(a->attrs, "element_shape"),
      .has_dynamic_size = rheos__attr_bool(a->attrs, "dynamic_size"),
      .clears_after_read = rheos__attr_bool(a->attrs, "clear_after_read"),
      .has_identical_shapes = identical != NULL && identical->b,
  };
  rheos__array *array = NULL;
  rheos_status *status = rheos__array_new(&spec, size, &array);
  rheos__free(numbered);
  return status != NULL ? status : give_take(a, step, array, NULL, outputs);
}

// ---- TensorArrayGrad

static rheos_status *prefix_of(const rheos_tensor *tensor, rheos_shape *out_shape) {
  *out_shape = (rheos_shape){.rank = 0};
  for (int64_t i = 0; i < tensor->num_elements; i++) {
    const int64_t dim = rheos__tensor_int_at(tensor, i);
    if (dim < 0) return RHEOS_INVALID("shape_to_prepend has the dimension %lld", (long long)dim);
    RHEOS_TRY(rheos__shape_append(out_shape, dim));
  }
  return NULL;
}

static rheos_status *compute_grad(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const array_op *a = state;
  rheos__array *array = NULL, *gradient = NULL;
  rheos_shape prefix = {.rank = 0};
  RHEOS_TRY(array_of(a, step, inputs[0], &array));
  if (a->num_inputs > 2) RHEOS_TRY(prefix_of(inputs[2], &prefix));
  RHEOS_TRY(rheos__array_gradient(array, rheos__attr_string(a->attrs, "source"),
                                  a->num_inputs > 2 ? &prefix : NULL, &gradient));
  return give_take(a, step, gradient, inputs[1], outputs);
}

// ---- Reading and writing one element

static rheos_status *check_asked(const rheos__array *array, rheos_dtype dtype) {
  if (rheos__array_dtype(array) == dtype) return NULL;
  return RHEOS_INVALID("TensorArray dtype is %s but Op requested dtype %s.",
                       rheos_dtype_name(rheos__array_dtype(array)), rheos_dtype_name(dtype));
}

static rheos_status *check_written(const rheos__array *array, rheos_dtype dtype) {
  if (rheos__array_dtype(array) == dtype) return NULL;
  return RHEOS_INVALID("TensorArray dtype is %s but Op is trying to write dtype %s.",
                       rheos_dtype_name(rheos__array_dtype(array)), rheos_dtype_name(dtype));
}

static rheos_status *compute_read(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const array_op *a = state;
  rheos__array *array = NULL;
  int64_t index = 0;
  RHEOS_TRY(scalar_int(inputs[1], "index", &index));
  RHEOS_TRY(array_of(a, step, inputs[0], &array));
  RHEOS_TRY(check_asked(array, rheos__attr_type(a->attrs, "dtype")));
  return rheos__array_read(array, index, &outputs[0]);
}

// The shape that all elements of the array in input 0 are known to have; NULL: none is.
static const rheos_shape *told_by_handle(const rheos__infer *c) {
  const rheos_shape *shape = c->handle_shapes != NULL ? c->handle_shapes[0] : NULL;
  return shape != NULL && rheos_shape_is_known(shape) ? shape : NULL;
}

static rheos_status *shape_read(rheos__infer *c) {
  rheos_shape unused;
  const rheos_shape *told = told_by_handle(c);
  if (told != NULL) c->output_shapes[0] = *told;
  RHEOS_TRY(check_handle_and_flow(c));
  return rheos__infer_rank(c, 1, 0, &unused);
}

static rheos_status *compute_write(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  const array_op *a = state;
  rheos__array *array = NULL;
  int64_t index = 0;
  rheos_tensor *value = NULL;
  RHEOS_TRY(scalar_int(inputs[1], "index", &index));
  RHEOS_TRY(array_of(a, step, inputs[0], &array));
  RHEOS_TRY(check_written(array, inputs[2]->dtype));
  RHEOS_TRY(rheos__tensor_keep(inputs[2], &value));
  RHEOS_TRY(rheos__array_write_take(array, index, value));
  return rheos__tensor_keep(inputs[3], &outputs[0]);
}

// The flow, the last input, is passed on.
static rheos_status *shape_flow(rheos__infer *c) {
  RHEOS_TRY(check_handle_and_flow(c));
  return rheos__shape_scalar(c);
}

static rheos_status *shape_write(rheos__infer *c) {
  rheos_shape unused;
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &unused));
  return shape_flow(c);
}

// ---- Reading many: Gather, Pack, Concat

typedef struct values {
  rheos_tensor **items;
  int64_t count;
} values;

static void values_deinit(values *v) {
  for (int64_t i = 0; v->items != NULL && i < v->count; i++) rheos_tensor_unref(v->items[i]);
  rheos__free(v->items);
}

enum { VALUES_BETWEEN_POLLS = 1 << 14 };

// Reads the elements at the indices, or with NULL the first `count`.
static rheos_status *read_many(rheos__array *array, const rheos_tensor *indices, int64_t count,
                               values *out) {
  *out = (values){.items = rheos__alloc_array((size_t)count + 1, sizeof *out->items)};
  if (out->items == NULL) return rheos__out_of_memory();
  for (; out->count < count; out->count++) {
    const int64_t i = out->count;
    const int64_t index = indices != NULL ? rheos__tensor_int_at(indices, i) : i;
    if (i % VALUES_BETWEEN_POLLS == 0 && rheos__is_stopping()) return rheos__stopped();
    RHEOS_TRY(rheos__array_read(array, index, &out->items[i]));
  }
  return NULL;
}

static rheos_status *check_same_shapes(const values *v, const rheos_shape *told) {
  rheos__shape_text a, b;
  const rheos_shape *first = &v->items[0]->shape;
  if (!rheos_shape_compatible(told, first)) {
    return RHEOS_INVALID(
        "TensorArray was passed element_shape %s which does not match the Tensor at index 0: %s",
        rheos__shape_text_of(told, &a), rheos__shape_text_of(first, &b));
  }
  for (int64_t i = 1; i < v->count; i++) {
    if (rheos_shape_equal(first, &v->items[i]->shape)) continue;
    return RHEOS_INVALID(
        "TensorArray has inconsistent shapes.  Index 0 has shape: %s but index %lld has shape: %s",
        rheos__shape_text_of(first, &a), (long long)i,
        rheos__shape_text_of(&v->items[i]->shape, &b));
  }
  return NULL;
}

// A tensor for the values, in the memory of one that is not in the host's, if there is one.
static rheos_status *new_for(const values *v, rheos_dtype dtype, const rheos_shape *shape,
                             rheos_tensor **out_tensor) {
  rheos__memory *memory = NULL;
  for (int64_t i = 0; i < v->count && memory == NULL; i++) memory = v->items[i]->memory;
  return rheos__tensor_new_in(memory, dtype, shape, out_tensor);
}

// Copies the values one behind another.
static rheos_status *copy_values(const values *v, rheos_tensor *to) {
  int64_t at = 0;
  for (int64_t i = 0; i < v->count; i++) {
    const rheos_tensor *item = v->items[i];
    if (i % VALUES_BETWEEN_POLLS == 0 && rheos__is_stopping()) return rheos__stopped();
    RHEOS_TRY(rheos__tensor_copy_part(item, 0, item->num_elements, to, at));
    at += item->num_elements;
  }
  return NULL;
}

static rheos_status *stack(const values *v, rheos_dtype dtype, const rheos_shape *told,
                           rheos_tensor **output) {
  rheos_shape element = *told, whole = {.rank = 0};
  if (v->count > 0) {
    RHEOS_TRY(check_same_shapes(v, told));
    element = v->items[0]->shape;
  } else if (!rheos_shape_is_known(told)) {
    rheos__shape_text text;
    return rheos_status_new(
        RHEOS_UNIMPLEMENTED,
        "TensorArray has size zero, but element shape %s is not fully defined. Currently only "
        "static shapes are supported when packing zero-size TensorArrays.",
        rheos__shape_text_of(told, &text));
  }
  RHEOS_TRY(rheos__shape_append(&whole, v->count));
  RHEOS_TRY(rheos__shape_append_range(&whole, &element, 0, element.rank));
  RHEOS_TRY(new_for(v, dtype, &whole, output));
  return copy_values(v, *output);
}

static rheos_status *check_vector(const rheos_tensor *tensor, const char *what) {
  if (tensor->shape.rank == 1) return NULL;
  rheos__shape_text text;
  return RHEOS_INVALID("Expected %s to be a vector, but received shape: %s", what,
                       rheos__shape_text_of(&tensor->shape, &text));
}

static rheos_status *gather(const array_op *a, rheos__array *array, const rheos_tensor *indices,
                            rheos_tensor **output) {
  const rheos_dtype dtype = rheos__attr_type(a->attrs, "dtype");
  const rheos_shape told = rheos__attr_shape(a->attrs, "element_shape");
  rheos_shape shape;
  int64_t count = 0;
  RHEOS_TRY(check_asked(array, dtype));
  RHEOS_TRY(rheos__array_merge_shape(array, &told, &shape));
  if (indices != NULL) RHEOS_TRY(check_vector(indices, "indices"));
  RHEOS_TRY(rheos__array_packed_size(array, &count));
  if (indices != NULL) count = indices->num_elements;
  values v;
  rheos_status *status = read_many(array, indices, count, &v);
  if (status == NULL) status = stack(&v, dtype, &told, output);
  values_deinit(&v);
  return status;
}

static rheos_status *compute_gather(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  const array_op *a = state;
  rheos__array *array = NULL;
  RHEOS_TRY(array_of(a, step, inputs[0], &array));
  return gather(a, array, a->num_inputs > 2 ? inputs[1] : NULL, &outputs[0]);
}

// Input 1 may be the indices.
static rheos_status *shape_gather(rheos__infer *c) {
  rheos_shape indices = RHEOS_SHAPE(-1);
  RHEOS_TRY(check_handle_and_flow(c));
  if (c->num_inputs > 2) RHEOS_TRY(rheos__infer_rank(c, 1, 1, &indices));
  const rheos_shape *told = told_by_handle(c);
  const rheos_shape element = told != NULL ? *told : rheos__attr_shape(c->attrs, "element_shape");
  if (element.rank < 0) return NULL;
  c->output_shapes[0] = (rheos_shape){.rank = 0};
  RHEOS_TRY(rheos__shape_append(&c->output_shapes[0], indices.dims[0]));
  return rheos__shape_append_range(&c->output_shapes[0], &element, 0, element.rank);
}

static rheos_shape without_first(const rheos_shape *shape) {
  rheos_shape rest = {.rank = 0};
  for (int32_t i = 1; i < shape->rank; i++) rest.dims[rest.rank++] = shape->dims[i];
  return rest;
}

// The shape of a row of all values, and how many rows each has.
static rheos_status *look_at_rows(const values *v, rheos_shape *row, int64_t *lengths,
                                  int64_t *out_total) {
  rheos__shape_text a, b;
  const rheos_shape told = *row;
  *out_total = 0;
  for (int64_t i = 0; i < v->count; i++) {
    const rheos_shape *shape = &v->items[i]->shape;
    if (shape->rank < 1) {
      return RHEOS_INVALID(
          "Concat saw a scalar shape at index %lld but requires at least vectors.  Did you mean to "
          "call pack?",
          (long long)i);
    }
    const rheos_shape rest = without_first(shape);
    if (i == 0 && !rheos_shape_compatible(&told, &rest)) {
      return RHEOS_INVALID(
          "TensorArray was passed element_shape_except0 %s but index 0 has (excepting dimension 0) "
          "shape: %s which does not match.",
          rheos__shape_text_of(&told, &a), rheos__shape_text_of(&rest, &b));
    }
    if (i > 0 && !rheos_shape_equal(row, &rest)) {
      return RHEOS_INVALID(
          "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: %s but "
          "index %lld has (excepting dimension 0) shape: %s",
          rheos__shape_text_of(row, &a), (long long)i, rheos__shape_text_of(&rest, &b));
    }
    *row = rest;
    lengths[i] = shape->dims[0];
    *out_total += lengths[i];
  }
  if (v->count > 0 || rheos_shape_is_known(row)) return NULL;
  return rheos_status_new(RHEOS_UNIMPLEMENTED,
                          "TensorArray has size zero, but element_shape_except0 %s is not fully "
                          "defined. Currently only "
                          "static shapes are supported when concatenating zero-size TensorArrays.",
                          rheos__shape_text_of(row, &a));
}

static rheos_status *concat(const values *v, rheos_dtype dtype, rheos_shape row,
                            rheos_tensor **outputs) {
  rheos_shape whole = {.rank = 0};
  int64_t total = 0;
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(v->count), &outputs[1]));
  RHEOS_TRY(look_at_rows(v, &row, outputs[1]->data, &total));
  RHEOS_TRY(rheos__shape_append(&whole, total));
  RHEOS_TRY(rheos__shape_append_range(&whole, &row, 0, row.rank));
  RHEOS_TRY(new_for(v, dtype, &whole, &outputs[0]));
  return copy_values(v, outputs[0]);
}

static rheos_status *compute_concat(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  const array_op *a = state;
  const rheos_dtype dtype = rheos__attr_type(a->attrs, "dtype");
  rheos__array *array = NULL;
  int64_t count = 0;
  RHEOS_TRY(array_of(a, step, inputs[0], &array));
  RHEOS_TRY(check_asked(array, dtype));
  RHEOS_TRY(rheos__array_packed_size(array, &count));
  values v;
  rheos_status *status = read_many(array, NULL, count, &v);
  if (status == NULL) {
    status = concat(&v, dtype, rheos__attr_shape(a->attrs, "element_shape_except0"), outputs);
  }
  values_deinit(&v);
  return status;
}

static rheos_status *shape_concat(rheos__infer *c) {
  const rheos_shape row = rheos__attr_shape(c->attrs, "element_shape_except0");
  RHEOS_TRY(check_handle_and_flow(c));
  c->output_shapes[1] = RHEOS_SHAPE(-1);
  if (row.rank < 0) return NULL;
  c->output_shapes[0] = (rheos_shape){.rank = 0};
  RHEOS_TRY(rheos__shape_append(&c->output_shapes[0], -1));
  return rheos__shape_append_range(&c->output_shapes[0], &row, 0, row.rank);
}

// ---- Writing many: Scatter, Unpack, Split

static rheos_status *check_has_rows(const rheos_tensor *value) {
  if (value->shape.rank >= 1) return NULL;
  return RHEOS_INVALID("Expected value to be at least a vector, but received shape: []");
}

// `count` rows of the value, of that shape, from `first` on, as the element at `index`.
static rheos_status *write_part(rheos__array *array, int64_t index, const rheos_tensor *value,
                                int64_t first, const rheos_shape *shape) {
  const int64_t rows = value->shape.dims[0];
  const size_t row_bytes = rows > 0 ? value->size_bytes / (size_t)rows : 0;
  rheos_tensor view, *part = NULL;
  rheos__tensor_init_view(&view, value->dtype, shape,
                          (char *)value->data + (size_t)first * row_bytes);
  view.memory = value->memory;
  RHEOS_TRY(rheos_tensor_copy(&view, &part));
  return rheos__array_write_take(array, index, part);
}

static rheos_status *scatter(rheos__array *array, const rheos_tensor *indices,
                             const rheos_tensor *value) {
  const int64_t count = value->shape.dims[0];
  const rheos_shape row = without_first(&value->shape);
  for (int64_t i = 0; i < count; i++) {
    const int64_t index = indices != NULL ? rheos__tensor_int_at(indices, i) : i;
    RHEOS_TRY(write_part(array, index, value, i, &row));
  }
  return NULL;
}

static rheos_status *compute_scatter(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  const array_op *a = state;
  const rheos_tensor *indices = inputs[1], *value = inputs[2];
  rheos__array *array = NULL;
  int64_t size = 0, end = 0;
  RHEOS_TRY(array_of(a, step, inputs[0], &array));
  RHEOS_TRY(check_written(array, value->dtype));
  RHEOS_TRY(check_vector(indices, "indices"));
  RHEOS_TRY(check_has_rows(value));
  if (indices->num_elements != value->shape.dims[0]) {
    return RHEOS_INVALID("Expected len(indices) == values.shape[0], but saw: %lld vs. %lld",
                         (long long)indices->num_elements, (long long)value->shape.dims[0]);
  }
  for (int64_t i = 0; i < indices->num_elements; i++) {
    const int64_t index = rheos__tensor_int_at(indices, i);
    if (index >= end) end = index + 1;
  }
  RHEOS_TRY(rheos__array_expect(array, end, &size));
  RHEOS_TRY(rheos__array_mark_size(array, size));
  RHEOS_TRY(scatter(array, indices, value));
  return rheos__tensor_keep(inputs[3], &outputs[0]);
}

static rheos_status *compute_unpack(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  const array_op *a = state;
  const rheos_tensor *value = inputs[1];
  rheos__array *array = NULL;
  int64_t size = 0;
  RHEOS_TRY(array_of(a, step, inputs[0], &array));
  RHEOS_TRY(check_written(array, value->dtype));
  RHEOS_TRY(check_has_rows(value));
  RHEOS_TRY(rheos__array_expect(array, value->shape.dims[0], &size));
  if (size != value->shape.dims[0]) {
    return RHEOS_INVALID(
        "Input value must have first dimension equal to the array size (%lld vs. %lld)",
        (long long)value->shape.dims[0], (long long)size);
  }
  RHEOS_TRY(rheos__array_mark_size(array, size));
  RHEOS_TRY(scatter(array, NULL, value));
  return rheos__tensor_keep(inputs[2], &outputs[0]);
}

static rheos_status *check_lengths(const rheos_tensor *lengths, const rheos_tensor *value) {
  RHEOS_TRY(check_vector(lengths, "lengths"));
  RHEOS_TRY(check_has_rows(value));
  int64_t total = 0;
  bool fits = true;
  for (int64_t i = 0; i < lengths->num_elements; i++) {
    const int64_t length = rheos__tensor_int_at(lengths, i);
    fits = fits && length >= 0 && !__builtin_add_overflow(total, length, &total);
  }
  if (fits && total == value->shape.dims[0]) return NULL;
  rheos__shape_text text;
  return RHEOS_INVALID(
      "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is %lld and "
      "value's shape is: %s",
      (long long)total, rheos__shape_text_of(&value->shape, &text));
}

static rheos_status *split(rheos__array *array, const rheos_tensor *lengths,
                           const rheos_tensor *value) {
  rheos_shape part = value->shape;
  int64_t first = 0;
  for (int64_t i = 0; i < lengths->num_elements; i++) {
    part.dims[0] = rheos__tensor_int_at(lengths, i);
    RHEOS_TRY(write_part(array, i, value, first, &part));
    first += part.dims[0];
  }
  return NULL;
}

static rheos_status *compute_split(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  const array_op *a = state;
  const rheos_tensor *value = inputs[1], *lengths = inputs[2];
  rheos__array *array = NULL;
  int64_t size = 0;
  RHEOS_TRY(array_of(a, step, inputs[0], &array));
  RHEOS_TRY(check_lengths(lengths, value));
  RHEOS_TRY(check_written(array, value->dtype));
  RHEOS_TRY(rheos__array_expect(array, lengths->num_elements, &size));
  if (size != lengths->num_elements) {
    return RHEOS_INVALID(
        "TensorArray's size is not equal to the size of lengths (%lld vs. %lld), and the "
        "TensorArray is not marked as dynamically resizeable",
        (long long)size, (long long)lengths->num_elements);
  }
  RHEOS_TRY(rheos__array_mark_size(array, size));
  RHEOS_TRY(split(array, lengths, value));
  return rheos__tensor_keep(inputs[3], &outputs[0]);
}

static rheos_status *shape_scatter(rheos__infer *c) {
  rheos_shape indices;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &indices));
  RHEOS_TRY(rheos__infer_rank_at_least(c, 2, 1));
  RHEOS_TRY(rheos__infer_same_rows(c, 1, 2));
  return shape_flow(c);
}

static rheos_status *shape_split(rheos__infer *c) {
  rheos_shape lengths;
  RHEOS_TRY(rheos__infer_rank(c, 2, 1, &lengths));
  return shape_flow(c);
}

// ---- Size, Close

static rheos_status *shape_size(rheos__infer *c) {
  RHEOS_TRY(check_handle(c));
  return rheos__shape_scalar(c);
}

static rheos_status *shape_close(rheos__infer *c) { return check_handle(c); }

static rheos_status *compute_size(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  rheos__array *array = NULL;
  int64_t size = 0;
  RHEOS_TRY(array_of(state, step, inputs[0], &array));
  RHEOS_TRY(rheos__array_size(array, &size));
  if (size > INT32_MAX) return RHEOS_INVALID("the size %lld is no int32", (long long)size);
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT32, &RHEOS_SCALAR, &outputs[0]));
  *(int32_t *)outputs[0]->data = (int32_t)size;
  return NULL;
}

static rheos_status *compute_close(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)outputs;
  rheos__array *array = NULL;
  RHEOS_TRY(array_of(state, step, inputs[0], &array));
  rheos__array_close(array);
  return NULL;
}

// ---- The ops

#define MAKES(compute, kind) (&(const array_family){compute, kind})
#define USES(compute) (&(const array_family){compute, OF_RESOURCE})

#define ARRAY_OP(NAME, SIGNATURE, DOC, SHAPE, GRADIENT, FAMILY)                   \
  const rheos__op_def rheos__op_##NAME = {                                        \
      .name = #NAME,                                                              \
      .signature = SIGNATURE,                                                     \
      .doc = DOC,                                                                 \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_ANY_MEMORY, \
      .shape = SHAPE,                                                             \
      .gradient = GRADIENT,                                                       \
      .prepare = prepare_array,                                                   \
      .family = FAMILY,                                                           \
  };

// An op of three versions: what follows the handle among the inputs, then outputs and attributes.
#define ARRAY_OPS(NAME, REST, DOC, SHAPE, GRADIENT, COMPUTE)                      \
  ARRAY_OP(NAME, "handle: Ref(string)" REST, DOC, SHAPE, GRADIENT, USES(COMPUTE)) \
  ARRAY_OP(NAME##V2, "handle: string" REST, DOC, SHAPE, GRADIENT, USES(COMPUTE))  \
  ARRAY_OP(NAME##V3, "handle: resource" REST, DOC, SHAPE, GRADIENT, USES(COMPUTE))

ARRAY_OP(TensorArray,
         "size: int32 -> handle: Ref(string); dtype: type; dynamic_size: bool = false; "
         "clear_after_read: bool = true; tensor_array_name: string = \"\"; "
         "element_shape: shape = ?",
         "An array of `size` tensors that a step writes and reads one by one.", shape_array,
         rheos__no_gradient, MAKES(compute_make, OF_REFERENCE))
ARRAY_OP(TensorArrayV2,
         "size: int32 -> handle: string; dtype: type; element_shape: shape = ?; "
         "dynamic_size: bool = false; clear_after_read: bool = true; "
         "tensor_array_name: string = \"\"",
         "An array of `size` tensors that a step writes and reads one by one.", shape_array,
         rheos__no_gradient, MAKES(compute_make, OF_STRING))
ARRAY_OP(TensorArrayV3,
         "size: int32 -> handle: resource, flow: float; dtype: type; element_shape: shape = ?; "
         "dynamic_size: bool = false; clear_after_read: bool = true; "
         "identical_element_shapes: bool = false; tensor_array_name: string = \"\"",
         "An array of `size` tensors that a step writes and reads one by one.", shape_array,
         rheos__no_gradient, MAKES(compute_make, OF_RESOURCE))

ARRAY_OP(TensorArrayGrad,
         "handle: string, flow_in: float -> grad_handle: Ref(string); source: string",
         "The array of the gradients of an array for `source`.", shape_made, rheos__no_gradient,
         MAKES(compute_grad, OF_REFERENCE))
ARRAY_OP(TensorArrayGradV2, "handle: string, flow_in: float -> grad_handle: string; source: string",
         "The array of the gradients of an array for `source`.", shape_grad, rheos__no_gradient,
         MAKES(compute_grad, OF_STRING))
ARRAY_OP(TensorArrayGradV3,
         "handle: resource, flow_in: float -> grad_handle: resource, flow_out: float; "
         "source: string",
         "The array of the gradients of an array for `source`.", shape_grad, rheos__no_gradient,
         MAKES(compute_grad, OF_RESOURCE))
ARRAY_OP(TensorArrayGradWithShape,
         "handle: resource, flow_in: float, shape_to_prepend: int32 -> grad_handle: resource, "
         "flow_out: float; source: string",
         "The array of the gradients of an array, whose elements have more dimensions in front.",
         shape_grad, rheos__no_gradient, MAKES(compute_grad, OF_RESOURCE))

ARRAY_OPS(TensorArrayWrite, ", index: int32, value: T, flow_in: float -> flow_out: float; T: type",
          "Puts `value` at `index`.", shape_write, rheos__gradient_array_write, compute_write)
ARRAY_OPS(TensorArrayRead, ", index: int32, flow_in: float -> value: dtype; dtype: type",
          "The tensor at `index`.", shape_read, rheos__gradient_array_read, compute_read)
ARRAY_OPS(TensorArrayGather,
          ", indices: int32, flow_in: float -> value: dtype; dtype: type; "
          "element_shape: shape = ?",
          "The tensors at `indices`, along a new first dimension.", shape_gather,
          rheos__gradient_array_gather, compute_gather)
ARRAY_OP(TensorArrayPack,
         "handle: Ref(string), flow_in: float -> value: dtype; dtype: type; "
         "element_shape: shape = ?",
         "All tensors of the array, along a new first dimension.", shape_gather, NULL,
         USES(compute_gather))
ARRAY_OPS(TensorArrayConcat,
          ", flow_in: float -> value: dtype, lengths: int64; dtype: type; "
          "element_shape_except0: shape = ?",
          "All tensors of the array one behind another, and how many rows each has.", shape_concat,
          rheos__gradient_array_concat, compute_concat)
ARRAY_OPS(TensorArrayScatter,
          ", indices: int32, value: T, flow_in: float -> flow_out: float; T: type",
          "Puts the rows of `value` at `indices`.", shape_scatter, rheos__gradient_array_scatter,
          compute_scatter)
ARRAY_OP(TensorArrayUnpack,
         "handle: Ref(string), value: T, flow_in: float -> flow_out: float; T: type",
         "Puts the rows of `value` into the array.", shape_flow, NULL, USES(compute_unpack))
ARRAY_OPS(TensorArraySplit,
          ", value: T, lengths: int64, flow_in: float -> flow_out: float; T: type",
          "Puts parts of `value`, of `lengths` rows, into the array.", shape_split,
          rheos__gradient_array_split, compute_split)
ARRAY_OPS(TensorArraySize, ", flow_in: float -> size: int32", "How many tensors the array has.",
          shape_size, rheos__no_gradient, compute_size)
ARRAY_OPS(TensorArrayClose, " ->", "Lets go of the array's tensors before the step is over.",
          shape_close, rheos__no_gradient, compute_close)
