// The values of outputs that depend on constants alone.
#include "handles.h"

#include <stdlib.h>
#include <string.h>

// Whether an operation gives the same whenever it runs, as far as that can be told.
static bool is_steady(rheos_operation operation) {
  const rheos_op_def *op = rheos_operation_op_def(operation);
  const char *type = rheos_operation_type(operation);
  return !rheos_op_def_is_stateful(op) && rheos_op_def_has_kernel(op) &&
         strncmp(type, "Placeholder", 11) != 0;
}

static bool evaluate(TF_Graph *graph, rheos_output output, TF_Tensor **result, TF_Status *status) {
  bool *needed = capi_needed_by(graph, &output, 1);
  if (needed == NULL) {
    capi_fail_for_memory(status);
    return false;
  }
  bool is_constant = true;
  for (int32_t id = 0; is_constant && id < rheos_graph_num_operations(graph->graph); id++) {
    if (needed[id]) is_constant = is_steady((rheos_operation){.graph = graph->graph, .id = id});
  }
  free(needed);
  if (!is_constant) return false;
  rheos_session *session = NULL;
  rheos_fetch fetch = {.output = output};
  rheos_status *error =
      rheos_session_new(graph->graph, &(rheos_session_options){.num_threads = 1}, &session);
  if (error == NULL) error = rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL);
  if (error == NULL) error = capi_tensor_of(fetch.value, result);
  rheos_tensor_unref(fetch.value);
  rheos_session_free(session);
  return capi_take(status, error);
}

unsigned char TF_TryEvaluateConstant(TF_Graph *graph, TF_Output output, TF_Tensor **result,
                                     TF_Status *status) {
  rheos_output of;
  capi_succeed(status);
  if (!capi_need(result, "the result", status)) return 0;
  *result = NULL;
  if (!capi_need(graph, "the graph", status) || !capi_output_get(graph, output, &of, status)) {
    return 0;
  }
  pthread_mutex_lock(&graph->lock);
  bool is_known = evaluate(graph, of, result, status);
  pthread_mutex_unlock(&graph->lock);
  return is_known;
}
