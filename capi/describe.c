// Building operations of a graph: a description keeps what it is given until it is finished.
#include "handles.h"

#include <stdlib.h>
#include <string.h>

// How many of the inputs each call gave: the arguments of the op's signature one after the other.
typedef struct argument {
  int count;  // -1: one tensor, no list
} argument;

struct TF_OperationDescription {
  TF_Graph *graph;
  const char *type, *name, *device;
  rheos_output *inputs;
  size_t num_inputs;
  argument *arguments;
  size_t num_arguments;
  rheos_operation *control_inputs;
  size_t num_control_inputs;
  rheos_string *colocations;
  size_t num_colocations;
  capi_attrs attrs;
};

static void free_description(TF_OperationDescription *desc) {
  free(desc->inputs);
  free(desc->arguments);
  free(desc->control_inputs);
  free(desc->colocations);
  capi_attrs_free(&desc->attrs);
  free(desc);
}

static char *keep(TF_OperationDescription *desc, const char *text) {
  return capi_pool_text(&desc->attrs.pool, text, strlen(text));
}

static void fail(TF_OperationDescription *desc, rheos_code code, const char *what) {
  capi_attrs_fail_take(&desc->attrs, rheos_status_new(code, "%s", what));
}

static void fail_for_memory(TF_OperationDescription *desc) {
  fail(desc, RHEOS_RESOURCE_EXHAUSTED, "out of memory");
}

TF_OperationDescription *TF_NewOperationLocked(TF_Graph *graph, const char *op_type,
                                               const char *oper_name) {
  if (graph == NULL || op_type == NULL || oper_name == NULL) return NULL;
  TF_OperationDescription *desc = calloc(1, sizeof *desc);
  if (desc == NULL) return NULL;
  desc->graph = graph;
  desc->type = keep(desc, op_type);
  desc->name = keep(desc, oper_name);
  if (desc->type == NULL || desc->name == NULL) {
    free_description(desc);
    return NULL;
  }
  return desc;
}

TF_OperationDescription *TF_NewOperation(TF_Graph *graph, const char *op_type,
                                         const char *oper_name) {
  return TF_NewOperationLocked(graph, op_type, oper_name);
}

void TF_SetDevice(TF_OperationDescription *desc, const char *device) {
  if (desc == NULL) return;
  desc->device = keep(desc, device == NULL ? "" : device);
  if (desc->device == NULL) fail_for_memory(desc);
}

// ---- Inputs

static void add_input(TF_OperationDescription *desc, TF_Output input) {
  rheos_output output = capi_output_of(input);
  if (output.graph == NULL || input.oper->graph != desc->graph) {
    fail(desc, RHEOS_INVALID_ARGUMENT,
         output.graph == NULL ? "an input is no output of an operation"
                              : "an input is an output of another graph");
  } else if (!capi_grow(&desc->inputs, desc->num_inputs, sizeof output)) {
    fail_for_memory(desc);
  } else {
    desc->inputs[desc->num_inputs++] = output;
  }
}

static void add_argument(TF_OperationDescription *desc, int count) {
  if (!capi_grow(&desc->arguments, desc->num_arguments, sizeof *desc->arguments)) {
    fail_for_memory(desc);
    return;
  }
  desc->arguments[desc->num_arguments++] = (argument){count};
}

void TF_AddInput(TF_OperationDescription *desc, TF_Output input) {
  if (desc == NULL) return;
  add_argument(desc, -1);
  add_input(desc, input);
}

void TF_AddInputList(TF_OperationDescription *desc, const TF_Output *inputs, int num_inputs) {
  if (desc == NULL) return;
  if (num_inputs < 0 || (inputs == NULL && num_inputs > 0)) {
    fail(desc, RHEOS_INVALID_ARGUMENT, "a list of inputs is none");
    return;
  }
  add_argument(desc, num_inputs);
  for (int i = 0; i < num_inputs; i++) add_input(desc, inputs[i]);
}

void TF_AddControlInput(TF_OperationDescription *desc, TF_Operation *input) {
  if (desc == NULL) return;
  if (input == NULL || input->graph != desc->graph) {
    fail(desc, RHEOS_INVALID_ARGUMENT, "a control input is no operation of the graph");
  } else if (!capi_grow(&desc->control_inputs, desc->num_control_inputs,
                        sizeof *desc->control_inputs)) {
    fail_for_memory(desc);
  } else {
    desc->control_inputs[desc->num_control_inputs++] = capi_operation_of(input);
  }
}

void TF_ColocateWith(TF_OperationDescription *desc, TF_Operation *op) {
  static const char prefix[] = "loc:@";
  if (desc == NULL) return;
  if (op == NULL || op->graph != desc->graph) {
    fail(desc, RHEOS_INVALID_ARGUMENT, "what to be colocated with is no operation of the graph");
    return;
  }
  size_t length = strlen(prefix) + strlen(op->name);
  char *text = capi_pool_get(&desc->attrs.pool, length + 1);
  if (text == NULL ||
      !capi_grow(&desc->colocations, desc->num_colocations, sizeof *desc->colocations)) {
    fail_for_memory(desc);
    return;
  }
  strcpy(strcpy(text, prefix) + strlen(prefix), op->name);
  for (size_t i = 0; i < desc->num_colocations; i++) {
    if (strcmp(desc->colocations[i].data, text) == 0) return;
  }
  desc->colocations[desc->num_colocations++] = (rheos_string){text, length};
}

// ---- Attributes

// Setting the list that says what it is colocated with takes the place of what it was before.
static void forget_colocations(TF_OperationDescription *desc, const char *attr_name) {
  if (attr_name != NULL && strcmp(attr_name, "_class") == 0) desc->num_colocations = 0;
}

void TF_SetAttrString(TF_OperationDescription *desc, const char *attr_name, const void *value,
                      size_t length) {
  if (desc == NULL) return;
  if (value == NULL && length > 0) {
    fail(desc, RHEOS_INVALID_ARGUMENT, "the value of an attribute is NULL");
    return;
  }
  capi_attrs_set(&desc->attrs, attr_name, capi_string_value(value, length));
}

void TF_SetAttrStringList(TF_OperationDescription *desc, const char *attr_name,
                          const void *const *values, const size_t *lengths, int num_values) {
  if (desc == NULL) return;
  forget_colocations(desc, attr_name);
  capi_attrs_set_strings(&desc->attrs, attr_name, values, lengths, num_values);
}

void TF_SetAttrInt(TF_OperationDescription *desc, const char *attr_name, int64_t value) {
  if (desc == NULL) return;
  capi_attrs_set(&desc->attrs, attr_name, (rheos_attr_value){.kind = RHEOS_ATTR_INT, .i = value});
}

void TF_SetAttrIntList(TF_OperationDescription *desc, const char *attr_name, const int64_t *values,
                       int num_values) {
  if (desc == NULL) return;
  capi_attrs_set_list(&desc->attrs, attr_name, RHEOS_ATTR_LIST_INT, values, num_values);
}

void TF_SetAttrFloat(TF_OperationDescription *desc, const char *attr_name, float value) {
  if (desc == NULL) return;
  capi_attrs_set(&desc->attrs, attr_name, (rheos_attr_value){.kind = RHEOS_ATTR_FLOAT, .f = value});
}

void TF_SetAttrFloatList(TF_OperationDescription *desc, const char *attr_name, const float *values,
                         int num_values) {
  if (desc == NULL) return;
  capi_attrs_set_list(&desc->attrs, attr_name, RHEOS_ATTR_LIST_FLOAT, values, num_values);
}

void TF_SetAttrBool(TF_OperationDescription *desc, const char *attr_name, unsigned char value) {
  if (desc == NULL) return;
  capi_attrs_set(&desc->attrs, attr_name,
                 (rheos_attr_value){.kind = RHEOS_ATTR_BOOL, .b = value != 0});
}

void TF_SetAttrBoolList(TF_OperationDescription *desc, const char *attr_name,
                        const unsigned char *values, int num_values) {
  if (desc != NULL) capi_attrs_set_bools(&desc->attrs, attr_name, values, num_values);
}

void TF_SetAttrType(TF_OperationDescription *desc, const char *attr_name, TF_DataType value) {
  if (desc == NULL) return;
  capi_attrs_set(&desc->attrs, attr_name,
                 (rheos_attr_value){.kind = RHEOS_ATTR_TYPE, .type = (rheos_dtype)value});
}

void TF_SetAttrTypeList(TF_OperationDescription *desc, const char *attr_name,
                        const TF_DataType *values, int num_values) {
  if (desc == NULL) return;
  capi_attrs_set_list(&desc->attrs, attr_name, RHEOS_ATTR_LIST_TYPE, values, num_values);
}

void TF_SetAttrPlaceholder(TF_OperationDescription *desc, const char *attr_name,
                           const char *placeholder) {
  if (desc == NULL) return;
  if (placeholder == NULL) {
    fail(desc, RHEOS_INVALID_ARGUMENT, "the placeholder of an attribute is NULL");
    return;
  }
  rheos_attr_value value = capi_string_value(placeholder, strlen(placeholder));
  value.kind = RHEOS_ATTR_PLACEHOLDER;
  capi_attrs_set(&desc->attrs, attr_name, value);
}

void TF_SetAttrFuncName(TF_OperationDescription *desc, const char *attr_name, const char *value,
                        size_t length) {
  if (desc != NULL) capi_attrs_set_func(&desc->attrs, attr_name, value, length);
}

void TF_SetAttrShape(TF_OperationDescription *desc, const char *attr_name, const int64_t *dims,
                     int num_dims) {
  if (desc != NULL) capi_attrs_set_shape(&desc->attrs, attr_name, dims, num_dims);
}

void TF_SetAttrShapeList(TF_OperationDescription *desc, const char *attr_name,
                         const int64_t *const *dims, const int *num_dims, int num_shapes) {
  if (desc != NULL) capi_attrs_set_shapes(&desc->attrs, attr_name, dims, num_dims, num_shapes);
}

void TF_SetAttrTensorShapeProto(TF_OperationDescription *desc, const char *attr_name,
                                const void *proto, size_t proto_len, TF_Status *status) {
  rheos_shape shape;
  capi_succeed(status);
  if (!capi_need(desc, "the description", status)) return;
  if ((proto == NULL && proto_len > 0) ||
      !capi_read_shape(capi_wire_of(proto, proto_len), &shape)) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Unparseable TensorShapeProto");
    return;
  }
  capi_attrs_set(&desc->attrs, attr_name,
                 (rheos_attr_value){.kind = RHEOS_ATTR_SHAPE, .shape = &shape});
}

void TF_SetAttrTensorShapeProtoList(TF_OperationDescription *desc, const char *attr_name,
                                    const void *const *protos, const size_t *proto_lens,
                                    int num_shapes, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(desc, "the description", status)) return;
  if (num_shapes < 0 || (num_shapes > 0 && (protos == NULL || proto_lens == NULL))) {
    capi_fail(status, TF_INVALID_ARGUMENT, "the list of shapes is none");
    return;
  }
  rheos_shape *shapes = capi_pool_get(&desc->attrs.pool, (size_t)num_shapes * sizeof *shapes);
  if (shapes == NULL) {
    capi_fail_for_memory(status);
    return;
  }
  for (int i = 0; i < num_shapes; i++) {
    if (protos[i] == NULL || !capi_read_shape(capi_wire_of(protos[i], proto_lens[i]), &shapes[i])) {
      capi_fail(status, TF_INVALID_ARGUMENT, "Unparseable TensorShapeProto at index %d", i);
      return;
    }
  }
  capi_attrs_set_list(&desc->attrs, attr_name, RHEOS_ATTR_LIST_SHAPE, shapes, num_shapes);
}

void TF_SetAttrTensor(TF_OperationDescription *desc, const char *attr_name, TF_Tensor *value,
                      TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(desc, "the description", status) || !capi_need(value, "the tensor", status)) {
    return;
  }
  capi_attrs_set_tensors(&desc->attrs, attr_name, &value, 1, false);
}

void TF_SetAttrTensorList(TF_OperationDescription *desc, const char *attr_name,
                          TF_Tensor *const *values, int num_values, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(desc, "the description", status)) return;
  capi_attrs_set_tensors(&desc->attrs, attr_name, values, num_values, true);
}

void TF_SetAttrValueProto(TF_OperationDescription *desc, const char *attr_name, const void *proto,
                          size_t proto_len, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(desc, "the description", status)) return;
  forget_colocations(desc, attr_name);
  capi_attrs_set_proto(&desc->attrs, attr_name, proto, proto_len, status);
}

// ---- Finishing

// A list has its length and types from how it was given, where its attributes were not.
static void infer_list(TF_OperationDescription *desc, rheos_op_argument argument,
                       const rheos_output *inputs, int count) {
  rheos_dtype *types = capi_pool_get(&desc->attrs.pool, (size_t)count * sizeof *types);
  if (types == NULL) {
    fail_for_memory(desc);
    return;
  }
  for (int i = 0; i < count; i++) types[i] = rheos_dtype_base(rheos_output_dtype(inputs[i]));
  capi_attrs_infer(&desc->attrs, argument, types, count);
}

// An argument of one type takes no other.
static bool check_type(TF_OperationDescription *desc, rheos_op_argument argument,
                       rheos_output input) {
  rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(input));
  if (dtype == argument.dtype) return true;
  capi_attrs_fail_take(
      &desc->attrs,
      rheos_status_new(RHEOS_INVALID_ARGUMENT,
                       "Input '%s' passed %s expected %s while building NodeDef '%s' using Op %s",
                       argument.name, rheos_dtype_name(dtype), rheos_dtype_name(argument.dtype),
                       desc->name, desc->type));
  return false;
}

// Compares what was given with the op's arguments: lists for lists, tensors for tensors.
static void check_arguments(TF_OperationDescription *desc) {
  const rheos_op_def *op = rheos_op_def_find(desc->graph->graph, desc->type);
  size_t place = 0;
  if (desc->attrs.error != NULL) return;  // not all that the calls gave is there
  if (op == NULL) {
    capi_attrs_fail_take(
        &desc->attrs,
        rheos_status_new(RHEOS_INVALID_ARGUMENT,
                         "Op type not registered '%s' in Rheos while building NodeDef '%s'",
                         desc->type, desc->name));
    return;
  }
  for (size_t i = 0; i < desc->num_arguments && (int)i < rheos_op_def_num_inputs(op); i++) {
    rheos_op_argument argument = rheos_op_def_input(op, (int32_t)i);
    bool is_list = argument.number_attr != NULL || argument.type_list_attr != NULL;
    int count = desc->arguments[i].count;
    if (is_list != (count >= 0)) {
      capi_attrs_fail_take(
          &desc->attrs,
          rheos_status_new(
              RHEOS_INVALID_ARGUMENT,
              is_list ? "Single tensor passed to '%s', expected list while building "
                        "NodeDef '%s' using Op %s"
                      : "List provided to input '%s' when single Tensor expected while building "
                        "NodeDef '%s' using Op %s",
              argument.name, desc->name, desc->type));
      return;
    }
    if (is_list) infer_list(desc, argument, desc->inputs + place, count);
    if (!is_list && argument.dtype != RHEOS_INVALID_DTYPE && place < desc->num_inputs &&
        !check_type(desc, argument, desc->inputs[place])) {
      return;
    }
    place += count < 0 ? 1 : (size_t)count;
  }
}

static int compare_strings(const void *a, const void *b) {
  return strcmp(((const rheos_string *)a)->data, ((const rheos_string *)b)->data);
}

// What it is colocated with is the attribute `_class`, each once and in order; without any there is
// no such attribute.
static void set_colocations(TF_OperationDescription *desc) {
  const rheos_attr *given = capi_attrs_find(&desc->attrs, "_class");
  bool is_list = given != NULL && given->value.kind >= RHEOS_ATTR_LIST_STRING;
  size_t before =
      is_list && given->value.kind == RHEOS_ATTR_LIST_STRING ? (size_t)given->value.count : 0;
  size_t count = before + desc->num_colocations, kept = 0;
  if (count == 0) {
    if (is_list) capi_attrs_remove(&desc->attrs, "_class");
    return;
  }
  rheos_string *all = capi_pool_get(&desc->attrs.pool, count * sizeof *all);
  if (all == NULL) {
    fail_for_memory(desc);
    return;
  }
  if (before > 0) memcpy(all, given->value.strings, before * sizeof *all);
  if (count > before) {
    memcpy(all + before, desc->colocations, desc->num_colocations * sizeof *all);
  }
  qsort(all, count, sizeof *all, compare_strings);
  for (size_t i = 0; i < count; i++) {
    if (kept == 0 || compare_strings(&all[kept - 1], &all[i]) != 0) all[kept++] = all[i];
  }
  capi_attrs_set_list(&desc->attrs, "_class", RHEOS_ATTR_LIST_STRING, all, (int)kept);
}

static rheos_operation make(TF_OperationDescription *desc, rheos_status **out_error) {
  rheos_operation none = {0};
  TF_Graph *graph = desc->graph;
  check_arguments(desc);
  set_colocations(desc);
  *out_error = desc->attrs.error;
  desc->attrs.error = NULL;
  if (*out_error != NULL) return none;
  if (rheos_graph_operation(graph->graph, desc->name).graph != NULL) {
    *out_error =
        rheos_status_new(RHEOS_INVALID_ARGUMENT, "Duplicate node name in graph: '%s'", desc->name);
    return none;
  }
  // With a "/" behind it a name is taken as it is.
  size_t length = strlen(desc->name);
  char *name = capi_pool_get(&desc->attrs.pool, length + 2);
  if (name == NULL) {
    *out_error = rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
    return none;
  }
  memcpy(name, desc->name, length);
  name[length] = '/';
  rheos_operation operation =
      rheos_op(graph->scope, &(rheos_op_args){
                                 .type = desc->type,
                                 .name = name,
                                 .inputs = desc->inputs,
                                 .num_inputs = desc->num_inputs,
                                 .attrs = desc->attrs.attrs,
                                 .num_attrs = desc->attrs.count,
                                 .control_inputs = desc->control_inputs,
                                 .num_control_inputs = desc->num_control_inputs,
                             });
  *out_error = rheos_scope_finish(graph->scope);
  return operation;
}

TF_Operation *TF_FinishOperationLocked(TF_OperationDescription *desc, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(desc, "the description", status)) return NULL;
  rheos_status *error;
  TF_Operation *oper = NULL;
  pthread_mutex_lock(&desc->graph->lock);
  rheos_operation operation = make(desc, &error);
  if (error == NULL) oper = capi_operation(desc->graph, operation);
  if (oper != NULL && desc->device != NULL) capi_operation_set_device(oper, desc->device);
  pthread_mutex_unlock(&desc->graph->lock);
  if (capi_take(status, error) && oper == NULL) capi_fail_for_memory(status);
  free_description(desc);
  return oper;
}

TF_Operation *TF_FinishOperation(TF_OperationDescription *desc, TF_Status *status) {
  return TF_FinishOperationLocked(desc, status);
}
