// Looking at operations: what they are, take and give, and who takes that.
#include "handles.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *TF_OperationName(TF_Operation *oper) { return oper == NULL ? NULL : oper->name; }

const char *TF_OperationOpType(TF_Operation *oper) {
  return oper == NULL ? NULL : rheos_operation_type(capi_operation_of(oper));
}

const char *TF_OperationDevice(TF_Operation *oper) {
  if (oper == NULL) return NULL;
  return oper->device != NULL ? oper->device : rheos_operation_device(capi_operation_of(oper));
}

int TF_OperationNumOutputs(TF_Operation *oper) {
  return oper == NULL ? -1 : rheos_operation_num_outputs(capi_operation_of(oper));
}

TF_DataType TF_OperationOutputType(TF_Output oper_out) {
  rheos_output output = capi_output_of(oper_out);
  return output.graph == NULL ? (TF_DataType)0 : (TF_DataType)rheos_output_dtype(output);
}

int TF_OperationNumInputs(TF_Operation *oper) {
  return oper == NULL ? -1 : rheos_operation_num_inputs(capi_operation_of(oper));
}

TF_Output TF_OperationInput(TF_Input oper_in) {
  rheos_operation operation = capi_operation_of(oper_in.oper);
  if (operation.graph == NULL || oper_in.index < 0 ||
      oper_in.index >= rheos_operation_num_inputs(operation)) {
    return (TF_Output){.oper = NULL, .index = -1};
  }
  return capi_output(oper_in.oper->graph, rheos_operation_input(operation, oper_in.index));
}

void TF_OperationAllInputs(TF_Operation *oper, TF_Output *inputs, int max_inputs) {
  if (inputs == NULL) return;
  int count = TF_OperationNumInputs(oper);
  for (int i = 0; i < count && i < max_inputs; i++) {
    inputs[i] = TF_OperationInput((TF_Input){.oper = oper, .index = i});
  }
}

// ---- Arguments of the op's signature

// The attribute `name` of the operation as a number: an int, or the length of a list; -1: neither.
static int number_of(rheos_operation operation, const char *name) {
  rheos_attr_value value = rheos_operation_attr(operation, name);
  if (value.kind == RHEOS_ATTR_INT) return value.i > INT_MAX ? -1 : (int)value.i;
  return value.kind >= RHEOS_ATTR_LIST_STRING ? value.count : -1;
}

static int length_of(rheos_operation operation, rheos_op_argument argument) {
  if (argument.number_attr != NULL) return number_of(operation, argument.number_attr);
  if (argument.type_list_attr != NULL) return number_of(operation, argument.type_list_attr);
  return 1;
}

// The dtype of an input or output as the op's signature says it, with the reference; as the values'
// own dtypes do not tell: an input that is no reference may take one.
static rheos_dtype type_of_argument(rheos_operation operation, rheos_op_argument argument,
                                    int index) {
  rheos_dtype dtype = argument.dtype;
  if (argument.type_attr != NULL) dtype = rheos_operation_attr(operation, argument.type_attr).type;
  if (argument.type_list_attr != NULL) {
    rheos_attr_value list = rheos_operation_attr(operation, argument.type_list_attr);
    dtype = index < list.count ? list.types[index] : RHEOS_INVALID_DTYPE;
  }
  bool is_ref = argument.is_ref && !rheos_dtype_is_ref(dtype);
  return is_ref ? (rheos_dtype)((int)dtype + RHEOS_REF) : dtype;
}

TF_DataType TF_OperationInputType(TF_Input oper_in) {
  rheos_operation operation = capi_operation_of(oper_in.oper);
  const rheos_op_def *op = operation.graph == NULL ? NULL : rheos_operation_op_def(operation);
  int left = oper_in.index;
  for (int i = 0; left >= 0 && i < rheos_op_def_num_inputs(op); i++) {
    rheos_op_argument argument = rheos_op_def_input(op, i);
    int length = length_of(operation, argument);
    if (left < length) return (TF_DataType)type_of_argument(operation, argument, left);
    left -= length < 0 ? 0 : length;
  }
  return (TF_DataType)0;
}

static int list_length(TF_Operation *oper, const char *name, bool is_output, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(oper, "the operation", status) || !capi_need(name, "the name", status)) return -1;
  rheos_operation operation = capi_operation_of(oper);
  const rheos_op_def *op = rheos_operation_op_def(operation);
  int count = is_output ? rheos_op_def_num_outputs(op) : rheos_op_def_num_inputs(op);
  for (int i = 0; i < count; i++) {
    rheos_op_argument argument = is_output ? rheos_op_def_output(op, i) : rheos_op_def_input(op, i);
    if (strcmp(argument.name, name) == 0) return length_of(operation, argument);
  }
  capi_fail(status, TF_INVALID_ARGUMENT, "%s arg '%s' not found", is_output ? "Output" : "Input",
            name);
  return -1;
}

int TF_OperationInputListLength(TF_Operation *oper, const char *arg_name, TF_Status *status) {
  return list_length(oper, arg_name, false, status);
}

int TF_OperationOutputListLength(TF_Operation *oper, const char *arg_name, TF_Status *status) {
  return list_length(oper, arg_name, true, status);
}

// ---- Who takes what

int TF_OperationOutputNumConsumers(TF_Output oper_out) {
  return TF_OperationOutputConsumers(oper_out, NULL, 0);
}

int TF_OperationOutputConsumers(TF_Output oper_out, TF_Input *consumers, int max_consumers) {
  rheos_output output = capi_output_of(oper_out);
  size_t count = 0, capacity = consumers == NULL || max_consumers < 0 ? 0 : (size_t)max_consumers;
  if (output.graph == NULL) return 0;
  TF_Graph *graph = oper_out.oper->graph;
  rheos_consumer *found = capacity == 0 ? NULL : calloc(capacity, sizeof *found);
  if (capacity > 0 && found == NULL) return 0;
  pthread_mutex_lock(&graph->lock);
  rheos_status *status = rheos_output_consumers(output, found, capacity, &count);
  pthread_mutex_unlock(&graph->lock);
  for (size_t i = 0; status == NULL && i < count && i < capacity; i++) {
    consumers[i] =
        (TF_Input){.oper = capi_operation(graph, found[i].operation), .index = found[i].input};
  }
  rheos_status_free(status);
  free(found);
  return (int)count;
}

int TF_OperationNumControlInputs(TF_Operation *oper) {
  return oper == NULL ? 0 : rheos_operation_num_control_inputs(capi_operation_of(oper));
}

int TF_OperationGetControlInputs(TF_Operation *oper, TF_Operation **control_inputs,
                                 int max_control_inputs) {
  int count = TF_OperationNumControlInputs(oper);
  for (int i = 0; control_inputs != NULL && i < count && i < max_control_inputs; i++) {
    control_inputs[i] =
        capi_operation(oper->graph, rheos_operation_control_input(capi_operation_of(oper), i));
  }
  return count;
}

int TF_OperationNumControlOutputs(TF_Operation *oper) {
  return TF_OperationGetControlOutputs(oper, NULL, 0);
}

int TF_OperationGetControlOutputs(TF_Operation *oper, TF_Operation **control_outputs,
                                  int max_control_outputs) {
  size_t count = 0, capacity = 0;
  if (oper == NULL) return 0;
  if (control_outputs != NULL && max_control_outputs > 0) capacity = (size_t)max_control_outputs;
  rheos_operation *found = capacity == 0 ? NULL : calloc(capacity, sizeof *found);
  if (capacity > 0 && found == NULL) return 0;
  pthread_mutex_lock(&oper->graph->lock);
  rheos_status *status =
      rheos_operation_control_outputs(capi_operation_of(oper), found, capacity, &count);
  pthread_mutex_unlock(&oper->graph->lock);
  for (size_t i = 0; status == NULL && i < count && i < capacity; i++) {
    control_outputs[i] = capi_operation(oper->graph, found[i]);
  }
  rheos_status_free(status);
  free(found);
  return (int)count;
}
