// The values of outputs that depend on constants alone.
#include "handles.h"

#include <stdlib.h>
#include <string.h>

// What is looked at on the way from an output back to the constants.
typedef struct visit {
  bool *seen;      // by id
  int32_t *stack;  // operations whose inputs are not looked at yet
  size_t count;
} visit;

static void push(visit *v, rheos_operation operation) {
  if (v->seen[operation.id]) return;
  v->seen[operation.id] = true;
  v->stack[v->count++] = operation.id;
}

// Whether an operation gives the same whenever it runs, as far as that can be told.
static bool is_steady(rheos_operation operation) {
  const rheos_op_def *op = rheos_operation_op_def(operation);
  const char *type = rheos_operation_type(operation);
  return !rheos_op_def_is_stateful(op) && rheos_op_def_has_kernel(op) &&
         strncmp(type, "Placeholder", 11) != 0;
}

static bool depends_on_constants(visit *v, rheos_graph *graph, rheos_operation operation) {
  push(v, operation);
  while (v->count > 0) {
    rheos_operation at = {.graph = graph, .id = v->stack[--v->count]};
    if (!is_steady(at)) return false;
    for (int32_t i = 0; i < rheos_operation_num_inputs(at); i++) {
      push(v, rheos_output_operation(rheos_operation_input(at, i)));
    }
  }
  return true;
}

static bool evaluate(TF_Graph *graph, rheos_output output, TF_Tensor **result, TF_Status *status) {
  size_t count = (size_t)rheos_graph_num_operations(graph->graph);
  visit v = {.seen = calloc(count, sizeof *v.seen), .stack = calloc(count, sizeof *v.stack)};
  rheos_session *session = NULL;
  rheos_fetch fetch = {.output = output};
  bool is_known = false;
  if (v.seen == NULL || v.stack == NULL) {
    capi_fail_for_memory(status);
  } else if (depends_on_constants(&v, graph->graph, rheos_output_operation(output))) {
    rheos_status *error =
        rheos_session_new(graph->graph, &(rheos_session_options){.num_threads = 1}, &session);
    if (error == NULL) error = rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL);
    if (error == NULL) error = capi_tensor_of(fetch.value, result);
    is_known = capi_take(status, error);
  }
  rheos_tensor_unref(fetch.value);
  rheos_session_free(session);
  free(v.seen);
  free(v.stack);
  return is_known;
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
