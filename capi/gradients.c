// Gradients as operations of the graph.
#include "handles.h"

#include <stdlib.h>
#include <string.h>

// Sums rows into a dense tensor: what TensorFlow's C interface gives is always dense.
static rheos_output densify(rheos_scope *scope, rheos_gradient gradient) {
  if (gradient.values.graph == NULL || gradient.indices.graph == NULL) return gradient.values;
  rheos_output inputs[4] = {gradient.dense_shape};
  inputs[1] = rheos_constant_values(scope, RHEOS_INT32, RHEOS_SHAPE(1), (int32_t[]){0}, NULL);
  inputs[2] = rheos_constant_values(scope, RHEOS_INT32, RHEOS_SHAPE(1), (int32_t[]){1}, NULL);
  inputs[3] = inputs[2];
  rheos_operation rows =
      rheos_op(scope, &(rheos_op_args){
                          .type = "StridedSlice",
                          .inputs = inputs,
                          .num_inputs = 4,
                          .attrs = (rheos_attr[]){rheos_attr_int("shrink_axis_mask", 1)},
                          .num_attrs = 1,
                      });
  rheos_output sum[3] = {gradient.values, gradient.indices, rheos_operation_output(rows, 0)};
  return rheos_operation_output(
      rheos_op(scope,
               &(rheos_op_args){.type = "UnsortedSegmentSum", .inputs = sum, .num_inputs = 3}),
      0);
}

static bool read_outputs(TF_Graph *graph, const TF_Output *from, int count, rheos_output *to,
                         TF_Status *status) {
  for (int i = 0; i < count; i++) {
    if (!capi_output_get(graph, from[i], &to[i], status)) return false;
  }
  return true;
}

// Every x has to be on the way to a y.
static bool are_reached(TF_Graph *graph, const rheos_output *ys, int ny, const rheos_output *xs,
                        int nx, TF_Status *status) {
  bool *needed = capi_needed_by(graph, ys, (size_t)ny);
  if (needed == NULL) {
    capi_fail_for_memory(status);
    return false;
  }
  bool all = true;
  for (int i = 0; all && i < nx; i++) {
    all = needed[xs[i].id];
    if (all) continue;
    const TF_Operation *oper = capi_operation(graph, rheos_output_operation(xs[i]));
    capi_fail(status, TF_INVALID_ARGUMENT,
              "Cannot compute the partial derivative for node '%s' as it's unreachable from the "
              "output node(s).",
              oper == NULL ? "" : oper->name);
  }
  free(needed);
  return all;
}

// Ops past which TensorFlow's C interface says itself that no gradient flows. Other ops without a
// gradient, as ArgMax, are an error to it; Rheos's gradients end there too.
static const char *const ENDS[] = {
    "ApproximateEqual",
    "BroadcastGradientArgs",
    "ConcatOffset",
    "Const",
    "EditDistance",
    "Equal",
    "Greater",
    "GreaterEqual",
    "InvertPermutation",
    "Less",
    "LessEqual",
    "LogicalAnd",
    "LogicalNot",
    "LogicalOr",
    "NotEqual",
    "OneHot",
    "Rank",
    "Shape",
    "ShapeN",
    "Size",
    "StopGradient",
    "ZerosLike",
};

static bool ends_gradients(rheos_operation operation) {
  for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
    if (strcmp(rheos_operation_type(operation), ENDS[i]) == 0) return true;
  }
  return false;
}

// Whether one that ends gradients takes something, on some way from the ys back. It need not be the
// way to an x.
static bool may_end(TF_Graph *graph, const rheos_output *ys, int ny) {
  bool *needed = capi_needed_by(graph, ys, (size_t)ny), found = needed == NULL;
  for (int32_t id = 0; !found && id < rheos_graph_num_operations(graph->graph); id++) {
    rheos_operation operation = {.graph = graph->graph, .id = id};
    found = needed[id] && rheos_operation_num_inputs(operation) > 0 && ends_gradients(operation);
  }
  free(needed);
  return found;
}

static void add(TF_Graph *graph, const char *prefix, const rheos_output *ys, int ny,
                const rheos_output *xs, int nx, const rheos_output *grad_ys, TF_Output *dy,
                TF_Status *status) {
  rheos_gradient *gradients = calloc((size_t)nx + 1, sizeof *gradients);
  if (gradients == NULL) {
    capi_fail_for_memory(status);
    return;
  }
  rheos_gradients_options options = {.grad_ys = grad_ys, .name = prefix, .flat_names = true};
  pthread_mutex_lock(&graph->lock);
  rheos_gradients(graph->scope, ys, (size_t)ny, xs, (size_t)nx, &options, gradients);
  for (int i = 0; i < nx; i++) {
    if (gradients[i].values.graph == NULL && rheos_scope_status(graph->scope) == NULL &&
        !may_end(graph, ys, ny)) {
      rheos_scope_fail_take(
          graph->scope, rheos_status_new(RHEOS_NOT_FOUND,
                                         "No gradient defined for an op between the outputs and "
                                         "input %d of the gradient",
                                         i));
    }
    dy[i] = (TF_Output){0};
    if (rheos_scope_status(graph->scope) != NULL) continue;
    rheos_output dense = densify(graph->scope, gradients[i]);
    if (dense.graph != NULL) dy[i] = capi_output(graph, dense);
  }
  capi_take(status, rheos_scope_finish(graph->scope));
  pthread_mutex_unlock(&graph->lock);
  free(gradients);
}

void TF_AddGradientsWithPrefix(TF_Graph *g, const char *prefix, TF_Output *y, int ny, TF_Output *x,
                               int nx, TF_Output *dx, TF_Status *status, TF_Output *dy) {
  capi_succeed(status);
  if (!capi_need(g, "the graph", status)) return;
  if (ny < 0 || nx < 0) {
    capi_fail(status, TF_INVALID_ARGUMENT, "there are %d ys and %d xs", ny, nx);
    return;
  }
  if ((ny > 0 && !capi_need(y, "the list of ys", status)) ||
      (nx > 0 && !capi_need(x, "the list of xs", status)) ||
      (nx > 0 && !capi_need(dy, "the list of gradients", status))) {
    return;
  }
  if (prefix != NULL && capi_prefix_is_in_use(g, prefix)) {
    capi_fail(status, TF_INVALID_ARGUMENT, "prefix [%s] conflicts with existing node in the graph.",
              prefix);
    return;
  }
  rheos_output *all = calloc(2 * (size_t)ny + (size_t)nx + 1, sizeof *all);
  if (all == NULL) {
    capi_fail_for_memory(status);
    return;
  }
  rheos_output *xs = all + ny, *grad_ys = xs + nx;
  if (read_outputs(g, y, ny, all, status) && read_outputs(g, x, nx, xs, status) &&
      (dx == NULL || read_outputs(g, dx, ny, grad_ys, status)) &&
      are_reached(g, all, ny, xs, nx, status)) {
    add(g, prefix, all, ny, xs, nx, dx == NULL ? NULL : grad_ys, dy, status);
  }
  free(all);
}

void TF_AddGradients(TF_Graph *g, TF_Output *y, int ny, TF_Output *x, int nx, TF_Output *dx,
                     TF_Status *status, TF_Output *dy) {
  TF_AddGradientsWithPrefix(g, NULL, y, ny, x, nx, dx, status, dy);
}
