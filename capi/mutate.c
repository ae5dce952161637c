// Changing operations that a graph has. The graph of Rheos only grows: what would take something
// away is not there.
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

// Shapes of every op are inferred anyway.
void TF_SetRequireShapeInferenceFns(TF_Graph *graph, bool require) {
  (void)graph;
  (void)require;
}
