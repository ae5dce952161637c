// Operations that run at once: what they are given, one call each, and running them.
#include "cancellation.h"
#include "eager_handles.h"

#include <stdlib.h>
#include <string.h>

// ---- Their lives

static void clear_op(TFE_Op *op) {
  for (size_t i = 0; i < op->num_inputs; i++) rheos_tensor_unref(op->inputs[i]);
  free(op->type);
  free(op->device);
  op->type = op->device = NULL;
  op->num_inputs = 0;
  op->num_arguments = 0;
  op->is_flat = false;
  op->cancellation = NULL;
  capi_attrs_free(&op->attrs);
}

// Makes an empty operation one of that type.
static bool set_type(TFE_Op *op, const char *type, TF_Status *status) {
  if (!capi_need(type, "the op", status)) return false;
  op->def = rheos_op_def_find(rheos_eager_graph(op->context->eager), type);
  if (op->def == NULL) {
    capi_fail(status, TF_NOT_FOUND,
              "'%s' is neither a type of a primitive operation nor a name of a function "
              "registered in Rheos",
              type);
    return false;
  }
  // As in TensorFlow: so the type of an input counts more than an attribute that is set after it.
  op->attrs.keeps_first = true;
  op->type = strdup(type);
  if (op->type == NULL) capi_fail_for_memory(status);
  return op->type != NULL;
}

TFE_Op *TFE_NewOp(TFE_Context *context, const char *op_or_function_name, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(context, "the context", status)) return NULL;
  TFE_Op *op = calloc(1, sizeof *op);
  if (op == NULL) {
    capi_fail_for_memory(status);
    return NULL;
  }
  op->context = context;
  if (!set_type(op, op_or_function_name, status)) {
    TFE_DeleteOp(op);
    return NULL;
  }
  return op;
}

void TFE_OpReset(TFE_Op *op, const char *op_or_function_name, const char *raw_device_name,
                 TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(op, "the operation", status)) return;
  clear_op(op);
  if (set_type(op, op_or_function_name, status) && raw_device_name != NULL) {
    TFE_OpSetDevice(op, raw_device_name, status);
  }
}

void TFE_DeleteOp(TFE_Op *op) {
  if (op == NULL) return;
  clear_op(op);
  free(op->inputs);
  free(op);
}

// ---- What it is

const char *TFE_OpGetName(const TFE_Op *op, TF_Status *status) {
  capi_succeed(status);
  return capi_need(op, "the operation", status) ? op->type : NULL;
}

TFE_Context *TFE_OpGetContext(const TFE_Op *op, TF_Status *status) {
  capi_succeed(status);
  return capi_need(op, "the operation", status) ? op->context : NULL;
}

void TFE_OpSetDevice(TFE_Op *op, const char *device_name, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(op, "the operation", status)) return;
  char *copy = device_name == NULL || device_name[0] == '\0' ? NULL : strdup(device_name);
  free(op->device);
  op->device = copy;
}

const char *TFE_OpGetDevice(const TFE_Op *op, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(op, "the operation", status)) return NULL;
  return op->device == NULL ? "" : op->device;
}

// ---- Inputs

static bool add_input(TFE_Op *op, TFE_TensorHandle *input, TF_Status *status) {
  if (!capi_need_handle(input, status)) return false;
  if (!capi_grow(&op->inputs, op->num_inputs, sizeof *op->inputs)) {
    capi_fail_for_memory(status);
    return false;
  }
  op->inputs[op->num_inputs++] = rheos_tensor_ref(input->value);
  return true;
}

// The argument of the signature that the next input is for; false if there is none, or it is not
// known.
static bool next_argument(TFE_Op *op, rheos_op_argument *out_argument) {
  if (op->is_flat) return false;
  *out_argument = rheos_op_def_input(op->def, op->num_arguments++);
  return out_argument->name != NULL;
}

// The attribute that has the type of an argument, by one of its tensors.
static void infer_type(TFE_Op *op, rheos_op_argument argument, const TFE_TensorHandle *input) {
  if (argument.type_attr == NULL) return;
  rheos_dtype dtype = rheos_tensor_dtype(input->value);
  capi_attrs_set(&op->attrs, argument.type_attr,
                 (rheos_attr_value){.kind = RHEOS_ATTR_TYPE, .type = dtype});
}

void TFE_OpAddInput(TFE_Op *op, TFE_TensorHandle *input, TF_Status *status) {
  rheos_op_argument argument;
  capi_succeed(status);
  if (!capi_need(op, "the operation", status) || !add_input(op, input, status)) return;
  if (next_argument(op, &argument)) {
    infer_type(op, argument, input);
    op->is_flat = argument.number_attr != NULL || argument.type_list_attr != NULL;
  }
}

void TFE_OpAddInputList(TFE_Op *op, TFE_TensorHandle **inputs, int num_inputs, TF_Status *status) {
  rheos_op_argument argument;
  capi_succeed(status);
  if (!capi_need(op, "the operation", status)) return;
  if (num_inputs < 0 || (num_inputs > 0 && !capi_need(inputs, "the list of inputs", status))) {
    if (num_inputs < 0) capi_fail(status, TF_INVALID_ARGUMENT, "there are %d inputs", num_inputs);
    return;
  }
  rheos_dtype *types = capi_pool_get(&op->attrs.pool, (size_t)num_inputs * sizeof *types);
  if (types == NULL) {
    capi_fail_for_memory(status);
    return;
  }
  for (int i = 0; i < num_inputs; i++) {
    if (!add_input(op, inputs[i], status)) return;
    types[i] = rheos_tensor_dtype(inputs[i]->value);
  }
  if (!next_argument(op, &argument)) return;
  if (num_inputs > 0) infer_type(op, argument, inputs[0]);
  capi_attrs_infer(&op->attrs, argument, types, num_inputs);
}

int TFE_OpGetFlatInputCount(const TFE_Op *op, TF_Status *status) {
  capi_succeed(status);
  return capi_need(op, "the operation", status) ? (int)op->num_inputs : -1;
}

TFE_TensorHandle *TFE_OpGetFlatInput(const TFE_Op *op, int index, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(op, "the operation", status)) return NULL;
  if (index >= 0 && (size_t)index < op->num_inputs) {
    return capi_tensor_handle(op->inputs[index], status);
  }
  capi_fail(status, TF_INVALID_ARGUMENT, "the operation has no input %d", index);
  return NULL;
}

// ---- Attributes

static const struct {
  rheos_attr_kind kind;
  TF_AttrType type;
  unsigned char is_list;
} TYPES[] = {
    {RHEOS_ATTR_STRING, TF_ATTR_STRING, 0},      {RHEOS_ATTR_INT, TF_ATTR_INT, 0},
    {RHEOS_ATTR_FLOAT, TF_ATTR_FLOAT, 0},        {RHEOS_ATTR_BOOL, TF_ATTR_BOOL, 0},
    {RHEOS_ATTR_TYPE, TF_ATTR_TYPE, 0},          {RHEOS_ATTR_SHAPE, TF_ATTR_SHAPE, 0},
    {RHEOS_ATTR_TENSOR, TF_ATTR_TENSOR, 0},      {RHEOS_ATTR_FUNC, TF_ATTR_FUNC, 0},
    {RHEOS_ATTR_LIST_STRING, TF_ATTR_STRING, 1}, {RHEOS_ATTR_LIST_INT, TF_ATTR_INT, 1},
    {RHEOS_ATTR_LIST_FLOAT, TF_ATTR_FLOAT, 1},   {RHEOS_ATTR_LIST_BOOL, TF_ATTR_BOOL, 1},
    {RHEOS_ATTR_LIST_TYPE, TF_ATTR_TYPE, 1},     {RHEOS_ATTR_LIST_SHAPE, TF_ATTR_SHAPE, 1},
    {RHEOS_ATTR_LIST_TENSOR, TF_ATTR_TENSOR, 1}, {RHEOS_ATTR_LIST_FUNC, TF_ATTR_FUNC, 1},
};

static TF_AttrType attr_type(const rheos_op_def *def, const char *name, unsigned char *is_list,
                             TF_Status *status) {
  if (!capi_need(name, "the attribute's name", status)) return TF_ATTR_INT;
  for (int i = 0; i < rheos_op_def_num_attrs(def); i++) {
    rheos_op_attr attr = rheos_op_def_attr(def, i);
    if (strcmp(attr.name, name) != 0) continue;
    for (size_t k = 0; k < sizeof TYPES / sizeof *TYPES; k++) {
      if (TYPES[k].kind != attr.kind) continue;
      if (is_list != NULL) *is_list = TYPES[k].is_list;
      return TYPES[k].type;
    }
  }
  capi_fail(status, TF_INVALID_ARGUMENT, "Attribute '%s' does not exist for this operation", name);
  return TF_ATTR_INT;
}

TF_AttrType TFE_OpGetAttrType(TFE_Op *op, const char *attr_name, unsigned char *is_list,
                              TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(op, "the operation", status)) return TF_ATTR_INT;
  return attr_type(op->def, attr_name, is_list, status);
}

TF_AttrType TFE_OpNameGetAttrType(TFE_Context *context, const char *op_or_function_name,
                                  const char *attr_name, unsigned char *is_list,
                                  TF_Status *status) {
  TFE_Op *op = TFE_NewOp(context, op_or_function_name, status);
  TF_AttrType type = op == NULL ? TF_ATTR_INT : TFE_OpGetAttrType(op, attr_name, is_list, status);
  TFE_DeleteOp(op);
  return type;
}

void TFE_OpSetAttrString(TFE_Op *op, const char *attr_name, const void *value, size_t length) {
  if (op != NULL && (value != NULL || length == 0)) {
    capi_attrs_set(&op->attrs, attr_name, capi_string_value(value, length));
  }
}

void TFE_OpSetAttrInt(TFE_Op *op, const char *attr_name, int64_t value) {
  if (op == NULL) return;
  capi_attrs_set(&op->attrs, attr_name, (rheos_attr_value){.kind = RHEOS_ATTR_INT, .i = value});
}

void TFE_OpSetAttrFloat(TFE_Op *op, const char *attr_name, float value) {
  if (op == NULL) return;
  capi_attrs_set(&op->attrs, attr_name, (rheos_attr_value){.kind = RHEOS_ATTR_FLOAT, .f = value});
}

void TFE_OpSetAttrBool(TFE_Op *op, const char *attr_name, unsigned char value) {
  if (op == NULL) return;
  capi_attrs_set(&op->attrs, attr_name,
                 (rheos_attr_value){.kind = RHEOS_ATTR_BOOL, .b = value != 0});
}

void TFE_OpSetAttrType(TFE_Op *op, const char *attr_name, TF_DataType value) {
  if (op == NULL) return;
  capi_attrs_set(&op->attrs, attr_name,
                 (rheos_attr_value){.kind = RHEOS_ATTR_TYPE, .type = (rheos_dtype)value});
}

// Tells at once what is wrong with the attribute that was set.
static void tell(TFE_Op *op, TF_Status *status) {
  if (op->attrs.error == NULL) return;
  capi_take(status, op->attrs.error);
  op->attrs.error = NULL;
}

void TFE_OpSetAttrShape(TFE_Op *op, const char *attr_name, const int64_t *dims, const int num_dims,
                        TF_Status *out_status) {
  capi_succeed(out_status);
  if (!capi_need(op, "the operation", out_status)) return;
  capi_attrs_set_shape(&op->attrs, attr_name, dims, num_dims);
  tell(op, out_status);
}

void TFE_OpSetAttrFunctionName(TFE_Op *op, const char *attr_name, const char *data, size_t length) {
  if (op != NULL) capi_attrs_set_func(&op->attrs, attr_name, data, length);
}

// A function with the attributes that `value` has been given.
static bool read_func(TFE_Op *op, const TFE_Op *value, rheos_func *out_func) {
  if (value == NULL || value->type == NULL) return false;
  size_t length = strlen(value->type);
  *out_func = (rheos_func){.name = {.size_bytes = length}};
  out_func->name.data = capi_pool_text(&op->attrs.pool, value->type, length);
  return out_func->name.data != NULL;
}

void TFE_OpSetAttrFunction(TFE_Op *op, const char *attr_name, const TFE_Op *value) {
  rheos_func func;
  if (op == NULL) return;
  if (value != NULL && value->attrs.count > 0) {
    capi_attrs_fail_take(
        &op->attrs, rheos_status_new(RHEOS_UNIMPLEMENTED, "a function with attributes of its own"));
  } else if (read_func(op, value, &func)) {
    capi_attrs_set(&op->attrs, attr_name,
                   (rheos_attr_value){.kind = RHEOS_ATTR_FUNC, .func = &func});
  }
}

void TFE_OpSetAttrFunctionList(TFE_Op *op, const char *attr_name, const TFE_Op **value,
                               int num_values) {
  if (op == NULL || num_values < 0 || (num_values > 0 && value == NULL)) return;
  rheos_func *funcs = capi_pool_get(&op->attrs.pool, (size_t)num_values * sizeof *funcs);
  for (int i = 0; funcs != NULL && i < num_values; i++) {
    if (!read_func(op, value[i], &funcs[i])) return;
  }
  if (funcs != NULL) {
    capi_attrs_set_list(&op->attrs, attr_name, RHEOS_ATTR_LIST_FUNC, funcs, num_values);
  }
}

void TFE_OpSetAttrTensor(TFE_Op *op, const char *attr_name, TF_Tensor *tensor, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(op, "the operation", status) || !capi_need(tensor, "the tensor", status)) return;
  capi_attrs_set_tensors(&op->attrs, attr_name, &tensor, 1, false);
  tell(op, status);
}

void TFE_OpSetAttrStringList(TFE_Op *op, const char *attr_name, const void *const *values,
                             const size_t *lengths, int num_values) {
  if (op != NULL) capi_attrs_set_strings(&op->attrs, attr_name, values, lengths, num_values);
}

void TFE_OpSetAttrIntList(TFE_Op *op, const char *attr_name, const int64_t *values,
                          int num_values) {
  if (op == NULL) return;
  capi_attrs_set_list(&op->attrs, attr_name, RHEOS_ATTR_LIST_INT, values, num_values);
}

void TFE_OpSetAttrFloatList(TFE_Op *op, const char *attr_name, const float *values,
                            int num_values) {
  if (op == NULL) return;
  capi_attrs_set_list(&op->attrs, attr_name, RHEOS_ATTR_LIST_FLOAT, values, num_values);
}

void TFE_OpSetAttrBoolList(TFE_Op *op, const char *attr_name, const unsigned char *values,
                           int num_values) {
  if (op != NULL) capi_attrs_set_bools(&op->attrs, attr_name, values, num_values);
}

void TFE_OpSetAttrTypeList(TFE_Op *op, const char *attr_name, const TF_DataType *values,
                           int num_values) {
  if (op == NULL) return;
  capi_attrs_set_list(&op->attrs, attr_name, RHEOS_ATTR_LIST_TYPE, values, num_values);
}

void TFE_OpSetAttrShapeList(TFE_Op *op, const char *attr_name, const int64_t **dims,
                            const int *num_dims, int num_values, TF_Status *out_status) {
  capi_succeed(out_status);
  if (!capi_need(op, "the operation", out_status)) return;
  capi_attrs_set_shapes(&op->attrs, attr_name, dims, num_dims, num_values);
  tell(op, out_status);
}

void TFE_OpSetAttrValueProto(const TFE_Op *op, const char *attr_name, const void *proto,
                             size_t proto_len, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(op, "the operation", status)) return;
  capi_attrs_set_proto(&((TFE_Op *)(uintptr_t)op)->attrs, attr_name, proto, proto_len, status);
}

// ---- Lengths of arguments

static int length_of(TFE_Op *op, rheos_op_argument argument) {
  const char *name = argument.number_attr != NULL ? argument.number_attr : argument.type_list_attr;
  const rheos_attr *attr = name == NULL ? NULL : capi_attrs_find(&op->attrs, name);
  if (name == NULL) return 1;
  if (attr == NULL) return -1;
  return attr->value.kind == RHEOS_ATTR_INT ? (int)attr->value.i : attr->value.count;
}

static int argument_length(TFE_Op *op, const char *name, bool is_output, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(op, "the operation", status) || !capi_need(name, "the name", status)) return -1;
  int count = is_output ? rheos_op_def_num_outputs(op->def) : rheos_op_def_num_inputs(op->def);
  for (int i = 0; i < count; i++) {
    rheos_op_argument argument =
        is_output ? rheos_op_def_output(op->def, i) : rheos_op_def_input(op->def, i);
    if (strcmp(argument.name, name) != 0) continue;
    int length = length_of(op, argument);
    if (length < 0) {
      capi_fail(status, TF_INVALID_ARGUMENT, "the length of '%s' is not known yet", name);
    }
    return length;
  }
  capi_fail(status, TF_INVALID_ARGUMENT, "%s '%s' not found", is_output ? "Output" : "Input", name);
  return -1;
}

int TFE_OpGetInputLength(TFE_Op *op, const char *input_name, TF_Status *status) {
  return argument_length(op, input_name, false, status);
}

int TFE_OpGetOutputLength(TFE_Op *op, const char *output_name, TF_Status *status) {
  return argument_length(op, output_name, true, status);
}

// ---- Running

void TFE_OpSetCancellationManager(TFE_Op *op, TFE_CancellationManager *cancellation_manager,
                                  TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(op, "the operation", status)) return;
  op->cancellation = cancellation_manager;
}

// Attributes that calls of functions may have, about which Rheos has nothing to choose.
static size_t meaningful_attrs(TFE_Op *op, const rheos_attr **out_attrs) {
  *out_attrs = op->attrs.attrs;
  if (rheos_op_def_find(NULL, op->type) != NULL) return op->attrs.count;
  capi_attrs_remove(&op->attrs, "config_proto");
  capi_attrs_remove(&op->attrs, "executor_type");
  return op->attrs.count;
}

// The metadata of runs is added to what the context has of before.
static rheos_status *run_region(TFE_Op *op, rheos_region *region, rheos_tensor **values) {
  TFE_Context *context = op->context;
  rheos_run_options options = {0};
  if (op->cancellation != NULL) {
    options.should_stop = capi_should_stop;
    options.should_stop_argument = op->cancellation;
    if (capi_should_stop(op->cancellation)) {
      return rheos_status_new(RHEOS_CANCELLED, "operation '%s' was cancelled", op->type);
    }
  }
  pthread_mutex_lock(&context->lock);
  bool is_traced = context->trace != NULL;
  options.trace = context->trace;
  if (!is_traced) pthread_mutex_unlock(&context->lock);
  rheos_status *error = rheos_region_run(region, op->inputs, values, &options);
  if (is_traced) pthread_mutex_unlock(&context->lock);
  return error;
}

// The handles of a run: of its values, or of an error that is told later.
static void give_handles(rheos_tensor **values, const TF_Status *error, int count,
                         TFE_TensorHandle **retvals, TF_Status *status) {
  for (int i = 0; i < count; i++) {
    retvals[i] = capi_tensor_handle(values[i], status);
    rheos_tensor_unref(values[i]);
    if (retvals[i] == NULL || error == NULL) continue;
    retvals[i]->error = TF_NewStatus();
    TF_SetStatus(retvals[i]->error, TF_GetCode(error), TF_Message(error));
  }
  for (int i = 0; i < count; i++) {
    if (retvals[i] != NULL && (retvals[i]->value != NULL || retvals[i]->error != NULL)) continue;
    for (int k = 0; k < count; k++) {
      TFE_DeleteTensorHandle(retvals[k]);
      retvals[k] = NULL;
    }
    capi_fail_for_memory(status);
    return;
  }
}

// Runs it; an asynchronous executor keeps the error for later.
static void run_prepared(TFE_Op *op, TFE_Executor *executor, rheos_region *region,
                         TFE_TensorHandle **retvals, int count, TF_Status *status) {
  rheos_tensor **values = calloc((size_t)count + 1, sizeof *values);
  if (values == NULL) {
    capi_fail_for_memory(status);
    return;
  }
  TF_Status *late = TFE_ExecutorIsAsync(executor) ? TF_NewStatus() : NULL;
  if (capi_take(late == NULL ? status : late, run_region(op, region, values))) {
    give_handles(values, NULL, count, retvals, status);
  } else if (late != NULL) {
    capi_executor_fail(executor, late);
    give_handles(values, late, count, retvals, status);
  }
  TF_DeleteStatus(late);
  free(values);
}

static void run_op(TFE_Op *op, TFE_Executor *executor, TFE_TensorHandle **retvals, int *num_retvals,
                   TF_Status *status) {
  rheos_region *region = NULL;
  rheos_eager_op eager = {
      .type = op->type, .inputs = op->inputs, .num_inputs = op->num_inputs, .device = op->device};
  eager.num_attrs = meaningful_attrs(op, &eager.attrs);
  if (!capi_take(status, rheos_eager_region(op->context->eager, &eager, &region))) return;
  int count = rheos_region_num_outputs(region);
  if (count > *num_retvals) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Expecting %d outputs, but *num_retvals is %d", count,
              *num_retvals);
  } else {
    run_prepared(op, executor, region, retvals, count, status);
    if (status == NULL || TF_GetCode(status) == TF_OK) *num_retvals = count;
  }
  rheos_region_unref(region);
}

void TFE_Execute(TFE_Op *op, TFE_TensorHandle **retvals, int *num_retvals, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(op, "the operation", status) ||
      !capi_need(num_retvals, "the number of results", status) ||
      (*num_retvals > 0 && !capi_need(retvals, "the list of results", status))) {
    return;
  }
  if (op->type == NULL) {
    capi_fail(status, TF_FAILED_PRECONDITION, "the operation was reset to none");
    return;
  }
  if (op->attrs.error != NULL) {
    tell(op, status);
    return;
  }
  TFE_Executor *executor = TFE_ContextGetExecutorForThread(op->context);
  if (!capi_executor_has_failed(executor, status)) {
    run_op(op, executor, retvals, num_retvals, status);
  }
  TFE_DeleteExecutor(executor);
}
