// Changing operations that a graph has: devices and inputs. Attributes stay as they were made.
#include "handles.h"

#include <stdlib.h>

void TF_SetRequestedDevice(TF_Graph *graph, TF_Operation *op, const char *device) {
  if (graph == NULL || op == NULL || op->graph != graph) return;
  pthread_mutex_lock(&graph->lock);
  capi_operation_set_device(op, device == NULL ? "" : device);
  pthread_mutex_unlock(&graph->lock);
}

void TF_AddOperationControlInput(TF_Graph *graph, TF_Operation *op, TF_Operation *input) {
  if (graph == NULL || op == NULL || input == NULL || op->graph != graph || input->graph != graph) {
    return;
  }
  pthread_mutex_lock(&graph->lock);
  rheos_status_free(
      rheos_operation_add_control_input(capi_operation_of(op), capi_operation_of(input)));
  pthread_mutex_unlock(&graph->lock);
}

void TF_RemoveAllControlInputs(TF_Graph *graph, TF_Operation *op) {
  if (graph == NULL || op == NULL || op->graph != graph) return;
  pthread_mutex_lock(&graph->lock);
  rheos_status_free(rheos_operation_clear_control_inputs(capi_operation_of(op)));
  pthread_mutex_unlock(&graph->lock);
}

void TF_UpdateEdge(TF_Graph *graph, TF_Output new_src, TF_Input dst, TF_Status *status) {
  rheos_output from;
  capi_succeed(status);
  if (!capi_need(graph, "the graph", status) || !capi_output_get(graph, new_src, &from, status) ||
      !capi_need(dst.oper, "the operation", status)) {
    return;
  }
  if (dst.oper->graph != graph) {
    capi_fail(status, TF_INVALID_ARGUMENT, "operation '%s' is of another graph", dst.oper->name);
    return;
  }
  if (dst.index < 0 || dst.index >= TF_OperationNumInputs(dst.oper)) {
    capi_fail(status, TF_OUT_OF_RANGE,
              "Node '%s' (type: '%s', num of inputs: %d) does not have input %d", dst.oper->name,
              TF_OperationOpType(dst.oper), TF_OperationNumInputs(dst.oper), dst.index);
    return;
  }
  pthread_mutex_lock(&graph->lock);
  capi_take(status, rheos_operation_set_input(capi_operation_of(dst.oper), dst.index, from));
  pthread_mutex_unlock(&graph->lock);
}

// Shapes of every op are inferred anyway.
void TF_SetRequireShapeInferenceFns(TF_Graph *graph, bool require) {
  (void)graph;
  (void)require;
}
