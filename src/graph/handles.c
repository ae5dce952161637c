// Handles that a program gives.
#include "graph/handles.h"

static rheos_status *check(const rheos_graph *graph, const rheos_graph *of, bool is_there,
                           const char *what, const char *kind) {
  if (of == NULL) return RHEOS_INVALID("%s is no %s", what, kind);
  if (of != graph) return RHEOS_INVALID("%s is from another graph", what);
  return is_there ? NULL : RHEOS_INVALID("%s is not in the graph", what);
}

rheos_status *rheos__check_output(const rheos_graph *graph, rheos_output output, const char *what) {
  const bool is_there = rheos_output_dtype(output) != RHEOS_INVALID_DTYPE;
  return check(graph, output.graph, is_there, what, "tensor");
}

rheos_status *rheos__check_operation(const rheos_graph *graph, rheos_operation operation,
                                     const char *what) {
  const bool is_there = rheos_operation_type(operation)[0] != '\0';
  return check(graph, operation.graph, is_there, what, "operation");
}

rheos_status *rheos__check_outputs(const rheos_graph *graph, const rheos_output *outputs,
                                   size_t count, const char *what, bool may_be_none) {
  RHEOS_TRY(rheos__is_list(outputs, count, sizeof *outputs) ? NULL : rheos__no_list(what, count));
  for (size_t i = 0; i < count; i++) {
    if (outputs[i].graph == NULL && may_be_none) continue;
    rheos_status *status = rheos__check_output(graph, outputs[i], "");
    if (status == NULL) continue;
    rheos_status *named = RHEOS_INVALID("%s[%zu]%s", what, i, rheos_status_message(status));
    rheos_status_free(status);
    return named;
  }
  return NULL;
}

bool rheos__scope_goes_on(rheos_scope *scope, rheos_status *status) {
  rheos_scope_fail_take(scope, status);
  return rheos_scope_status(scope) == NULL;
}
