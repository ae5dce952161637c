// Shapes of outputs without running: the operation is put into a graph of its own, whose inputs
// have the shapes, or the values, that are known.
#include "eager_handles.h"

#include <stdlib.h>
#include <string.h>

// ---- Lists of shapes

TF_ShapeAndTypeList *TF_NewShapeAndTypeList(int num_shapes) {
  if (num_shapes < 0) return NULL;
  TF_ShapeAndTypeList *list = malloc(sizeof *list);
  if (list == NULL) return NULL;
  list->num_items = num_shapes;
  list->items = calloc((size_t)num_shapes + 1, sizeof *list->items);
  if (list->items == NULL) {
    free(list);
    return NULL;
  }
  for (int i = 0; i < num_shapes; i++) list->items[i].num_dims = -1;
  return list;
}

void TF_DeleteShapeAndTypeList(TF_ShapeAndTypeList *list) {
  if (list == NULL) return;
  for (int i = 0; i < list->num_items; i++) free(list->items[i].dims);
  free(list->items);
  free(list);
}

void TF_DeleteShapeAndTypeListArray(TF_ShapeAndTypeList **lists, int num_items) {
  if (lists == NULL) return;
  for (int i = 0; i < num_items; i++) TF_DeleteShapeAndTypeList(lists[i]);
  free(lists);
}

static TF_ShapeAndType *item_at(TF_ShapeAndTypeList *list, int index) {
  return list == NULL || index < 0 || index >= list->num_items ? NULL : &list->items[index];
}

static void set_unknown(TF_ShapeAndType *item) {
  free(item->dims);
  item->dims = NULL;
  item->num_dims = -1;
}

void TF_ShapeAndTypeListSetShape(TF_ShapeAndTypeList *list, int index, const int64_t *dims,
                                 int num_dims) {
  TF_ShapeAndType *item = item_at(list, index);
  if (item == NULL) return;
  set_unknown(item);
  if (num_dims < 0 || (num_dims > 0 && dims == NULL)) return;
  item->dims = malloc(((size_t)num_dims + 1) * sizeof *dims);
  if (item->dims == NULL) return;
  if (num_dims > 0) memcpy(item->dims, dims, (size_t)num_dims * sizeof *dims);
  item->num_dims = num_dims;
}

void TF_ShapeAndTypeListSetUnknownShape(TF_ShapeAndTypeList *list, int index) {
  TF_ShapeAndType *item = item_at(list, index);
  if (item != NULL) set_unknown(item);
}

void TF_ShapeAndTypeListSetDtype(TF_ShapeAndTypeList *list, int index, TF_DataType dtype) {
  TF_ShapeAndType *item = item_at(list, index);
  if (item != NULL) item->dtype = dtype;
}

// ---- Inferring

typedef struct inferring {
  TFE_Op *op;
  rheos_graph *graph;
  rheos_scope *scope;
  const TF_ShapeAndTypeList *shapes;
  TF_Tensor **tensors;  // NULL, or elements NULL: not known
  rheos_output *inputs;
  int count;
  rheos_status *error;
} inferring;

// A type for an attribute that nobody set: its default, else the first that it may be, a float if
// it may.
static rheos_dtype any_type(const TFE_Op *op, const char *name) {
  const rheos_attr *set = capi_attrs_find(&op->attrs, name);
  if (set != NULL && set->value.kind == RHEOS_ATTR_TYPE) return set->value.type;
  for (int32_t i = 0; i < rheos_op_def_num_attrs(op->def); i++) {
    rheos_op_attr attr = rheos_op_def_attr(op->def, i);
    if (strcmp(attr.name, name) != 0) continue;
    if (attr.default_value.kind == RHEOS_ATTR_TYPE) return attr.default_value.type;
    if (attr.allowed_types == 0 || attr.allowed_types >> RHEOS_FLOAT & 1) return RHEOS_FLOAT;
    for (int dtype = 1; dtype < 64; dtype++) {
      if (attr.allowed_types >> dtype & 1) return (rheos_dtype)dtype;
    }
  }
  return RHEOS_FLOAT;
}

static rheos_dtype type_of_input(const inferring *f, rheos_op_argument argument, int index) {
  if ((size_t)index < f->op->num_inputs) return rheos_tensor_dtype(f->op->inputs[index]);
  if (argument.dtype != RHEOS_INVALID_DTYPE) return argument.dtype;
  if (argument.type_attr != NULL) return any_type(f->op, argument.type_attr);
  TF_DataType given = f->shapes->items[index].dtype;
  return given == 0 ? RHEOS_FLOAT : (rheos_dtype)given;
}

static void add_input(inferring *f, rheos_op_argument argument, int index) {
  const TF_ShapeAndType *item = &f->shapes->items[index];
  rheos_tensor *value = NULL;
  rheos_shape shape;
  if (f->tensors != NULL && f->tensors[index] != NULL) {
    f->error = capi_tensor_value(f->tensors[index], &value);
    if (f->error == NULL) f->inputs[index] = rheos_constant(f->scope, value, NULL);
    rheos_tensor_unref(value);
    return;
  }
  if (!capi_shape(item->dims, item->num_dims, &shape)) {
    f->error = rheos_status_new(RHEOS_INVALID_ARGUMENT, "input %d has a shape of %d dimensions",
                                index, item->num_dims);
    return;
  }
  const rheos_attr attrs[] = {rheos_attr_type("dtype", type_of_input(f, argument, index)),
                              rheos_attr_shape("shape", &shape)};
  rheos_operation made =
      rheos_op(f->scope, &(rheos_op_args){.type = "Placeholder", .attrs = attrs, .num_attrs = 2});
  f->inputs[index] = rheos_operation_output(made, 0);
}

// Which argument of the signature an input is for: a list takes what the others leave.
static rheos_op_argument argument_of(const inferring *f, int index) {
  int num_arguments = rheos_op_def_num_inputs(f->op->def), extra = f->count - num_arguments;
  for (int i = 0; i < num_arguments; i++) {
    rheos_op_argument argument = rheos_op_def_input(f->op->def, i);
    bool is_list = argument.number_attr != NULL || argument.type_list_attr != NULL;
    int length = is_list && extra > 0 ? 1 + extra : 1;
    if (index < length) return argument;
    index -= length;
  }
  return (rheos_op_argument){0};
}

// Functions of the context, which the operation may call.
static void copy_functions(inferring *f) {
  rheos_graph *from = rheos_eager_graph(f->op->context->eager);
  const char *name;
  for (size_t i = 0; f->error == NULL && (name = rheos_graph_function_name(from, i)) != NULL; i++) {
    void *bytes = NULL;
    size_t size = 0;
    f->error = rheos_graph_function_def(from, name, &bytes, &size);
    if (f->error == NULL) f->error = capi_add_function(f->scope, bytes, size);
    rheos_free(bytes);
  }
}

static bool has_attr(const rheos_op_def *op, const char *name) {
  for (int32_t i = 0; i < rheos_op_def_num_attrs(op); i++) {
    if (strcmp(rheos_op_def_attr(op, i).name, name) == 0) return true;
  }
  return name[0] == '_';
}

// Attributes that the op does not have say nothing about shapes; programs set them all the same.
static void drop_attrs(TFE_Op *op) {
  for (size_t i = op->attrs.count; i-- > 0;) {
    const char *name = op->attrs.attrs[i].name;
    if (!has_attr(op->def, name)) capi_attrs_remove(&op->attrs, name);
  }
}

static rheos_operation infer(inferring *f) {
  rheos_operation none = {0};
  bool is_primitive = rheos_op_def_find(NULL, f->op->type) != NULL;
  if (!is_primitive) {
    pthread_mutex_lock(&f->op->context->lock);
    copy_functions(f);
    pthread_mutex_unlock(&f->op->context->lock);
  }
  for (int i = 0; f->error == NULL && i < f->count; i++) add_input(f, argument_of(f, i), i);
  if (f->error != NULL) return none;
  drop_attrs(f->op);
  rheos_operation made = rheos_op(f->scope, &(rheos_op_args){.type = f->op->type,
                                                             .inputs = f->inputs,
                                                             .num_inputs = (size_t)f->count,
                                                             .attrs = f->op->attrs.attrs,
                                                             .num_attrs = f->op->attrs.count});
  f->error = rheos_scope_finish(f->scope);
  return f->error == NULL ? made : none;
}

static TF_ShapeAndTypeList *list_outputs(rheos_operation operation, TF_Status *status) {
  int count = rheos_operation_num_outputs(operation);
  TF_ShapeAndTypeList *list = TF_NewShapeAndTypeList(count);
  for (int i = 0; list != NULL && i < count; i++) {
    rheos_output output = rheos_operation_output(operation, i);
    rheos_shape shape = rheos_output_shape(output);
    TF_ShapeAndTypeListSetShape(list, i, shape.dims, shape.rank);
    TF_ShapeAndTypeListSetDtype(list, i, (TF_DataType)rheos_output_dtype(output));
    if (list->items[i].num_dims == shape.rank) continue;
    TF_DeleteShapeAndTypeList(list);
    list = NULL;
  }
  if (list == NULL) capi_fail_for_memory(status);
  return list;
}

void TFE_InferShapes(TFE_Op *op, TF_ShapeAndTypeList *input_shapes, TF_Tensor **input_tensors,
                     TF_ShapeAndTypeList *input_tensor_as_shapes,
                     TF_ShapeAndTypeList **input_resource_shapes_and_types,
                     TF_ShapeAndTypeList **output_shapes,
                     TF_ShapeAndTypeList ***output_resource_shapes_and_types, TF_Status *status) {
  (void)input_tensor_as_shapes;
  (void)input_resource_shapes_and_types;
  capi_succeed(status);
  if (output_shapes != NULL) *output_shapes = NULL;
  if (output_resource_shapes_and_types != NULL) *output_resource_shapes_and_types = NULL;
  if (!capi_need(op, "the operation", status) || !capi_need(op->type, "the op", status) ||
      !capi_need(input_shapes, "the input shapes", status) ||
      !capi_need(output_shapes, "the output shapes", status)) {
    return;
  }
  inferring f = {
      .op = op, .shapes = input_shapes, .tensors = input_tensors, .count = input_shapes->num_items};
  f.graph = rheos_graph_new();
  f.scope = f.graph == NULL ? NULL : rheos_scope_new(f.graph);
  f.inputs = calloc((size_t)f.count + 1, sizeof *f.inputs);
  rheos_operation made = {0};
  if (f.scope == NULL || f.inputs == NULL) {
    capi_fail_for_memory(status);
  } else {
    made = infer(&f);
    if (capi_take(status, f.error)) *output_shapes = list_outputs(made, status);
  }
  free(f.inputs);
  rheos_scope_free(f.scope);
  rheos_graph_unref(f.graph);
}
