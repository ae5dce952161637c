// Graphs: how long they live, handles of their operations, going over them, messages of them.
#include "handles.h"

#include <stdlib.h>
#include <string.h>

// ---- How long they live

TF_Graph *TF_NewGraph(void) {
  TF_Graph *graph = calloc(1, sizeof *graph);
  if (graph == NULL) return NULL;
  graph->graph = rheos_graph_new();
  graph->scope = graph->graph == NULL ? NULL : rheos_scope_new(graph->graph);
  rheos_scope_take_any_name(graph->scope, true);
  if (graph->scope == NULL) {
    rheos_graph_unref(graph->graph);
    free(graph);
    return NULL;
  }
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&graph->lock, &recursive);
  pthread_mutexattr_destroy(&recursive);
  return graph;
}

static void free_graph(TF_Graph *graph) {
  for (size_t i = 0; i < graph->num_operations; i++) {
    if (graph->operations[i] != NULL) free(graph->operations[i]->device);
    free(graph->operations[i]);
  }
  free(graph->operations);
  rheos_scope_free(graph->scope);
  rheos_graph_unref(graph->graph);
  pthread_mutex_destroy(&graph->lock);
  free(graph);
}

void TF_DeleteGraph(TF_Graph *graph) {
  if (graph == NULL) return;
  pthread_mutex_lock(&graph->lock);
  graph->is_deleted = true;
  bool is_last = graph->num_users == 0;
  pthread_mutex_unlock(&graph->lock);
  if (is_last) free_graph(graph);
}

void capi_graph_use(TF_Graph *graph) {
  pthread_mutex_lock(&graph->lock);
  graph->num_users++;
  pthread_mutex_unlock(&graph->lock);
}

void capi_graph_leave(TF_Graph *graph) {
  pthread_mutex_lock(&graph->lock);
  bool is_last = --graph->num_users == 0 && graph->is_deleted;
  pthread_mutex_unlock(&graph->lock);
  if (is_last) free_graph(graph);
}

rheos_status *capi_graph_replace(TF_Graph *graph, rheos_graph *by) {
  if (rheos_graph_num_operations(graph->graph) > 0) {
    return rheos_status_new(RHEOS_INVALID_ARGUMENT, "Graph is non-empty.");
  }
  rheos_scope *scope = rheos_scope_new(by);
  if (scope == NULL) return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
  rheos_scope_take_any_name(scope, true);
  rheos_scope_free(graph->scope);
  rheos_graph_unref(graph->graph);
  graph->graph = rheos_graph_ref(by);
  graph->scope = scope;
  return NULL;
}

// ---- Handles

static bool make_room(TF_Graph *graph, int32_t id) {
  if ((size_t)id < graph->num_operations) return true;
  size_t count = 2 * graph->num_operations;
  if (count <= (size_t)id) count = (size_t)id + 16;
  TF_Operation **grown = realloc(graph->operations, count * sizeof *grown);
  if (grown == NULL) return false;
  memset(grown + graph->num_operations, 0, (count - graph->num_operations) * sizeof *grown);
  graph->operations = grown;
  graph->num_operations = count;
  return true;
}

static TF_Operation *make_operation(TF_Graph *graph, rheos_operation operation) {
  size_t length = rheos_operation_name(operation, NULL, 0);
  TF_Operation *oper = malloc(sizeof *oper + length + 1);
  if (oper == NULL) return NULL;
  oper->graph = graph;
  oper->id = operation.id;
  oper->device = NULL;
  rheos_operation_name(operation, oper->name, length + 1);
  return oper;
}

TF_Operation *capi_operation(TF_Graph *graph, rheos_operation operation) {
  if (operation.graph == NULL || operation.id < 0) return NULL;
  pthread_mutex_lock(&graph->lock);
  TF_Operation *oper = NULL;
  if (make_room(graph, operation.id)) {
    TF_Operation **place = &graph->operations[operation.id];
    if (*place == NULL) *place = make_operation(graph, operation);
    oper = *place;
  }
  pthread_mutex_unlock(&graph->lock);
  return oper;
}

TF_Output capi_output(TF_Graph *graph, rheos_output output) {
  TF_Operation *oper = capi_operation(graph, rheos_output_operation(output));
  return (TF_Output){.oper = oper, .index = oper == NULL ? -1 : output.index};
}

rheos_output capi_output_of(TF_Output output) {
  rheos_operation operation = capi_operation_of(output.oper);
  if (operation.graph == NULL || output.index < 0 ||
      output.index >= rheos_operation_num_outputs(operation)) {
    return (rheos_output){0};
  }
  return rheos_operation_output(operation, output.index);
}

bool capi_output_get(TF_Graph *graph, TF_Output output, rheos_output *out_output,
                     TF_Status *status) {
  *out_output = capi_output_of(output);
  if (output.oper == NULL) {
    capi_fail(status, TF_INVALID_ARGUMENT, "an output is of no operation");
  } else if (out_output->graph == NULL) {
    capi_fail(status, TF_OUT_OF_RANGE,
              "Node '%s' (type: '%s', num of outputs: %d) does not have output %d",
              output.oper->name, TF_OperationOpType(output.oper),
              TF_OperationNumOutputs(output.oper), output.index);
  } else if (output.oper->graph != graph) {
    capi_fail(status, TF_INVALID_ARGUMENT, "operation '%s' is of another graph", output.oper->name);
  } else {
    return true;
  }
  return false;
}

void capi_operation_set_device(TF_Operation *oper, const char *device) {
  rheos_status *error = rheos_operation_set_device(capi_operation_of(oper), device);
  free(oper->device);
  oper->device = error == NULL ? NULL : strdup(device);
  rheos_status_free(error);
}

bool capi_prefix_is_in_use(TF_Graph *graph, const char *prefix) {
  size_t length = strlen(prefix);
  int32_t count = rheos_graph_num_operations(graph->graph);
  for (int32_t id = 0; id < count; id++) {
    const TF_Operation *oper =
        capi_operation(graph, (rheos_operation){.graph = graph->graph, .id = id});
    if (oper == NULL || strncmp(oper->name, prefix, length) != 0) continue;
    if (oper->name[length] == '\0' || oper->name[length] == '/') return true;
  }
  return false;
}

bool *capi_needed_by(TF_Graph *graph, const rheos_output *outputs, size_t count) {
  size_t num_operations = (size_t)rheos_graph_num_operations(graph->graph), num_left = 0;
  bool *needed = calloc(num_operations + 1, sizeof *needed);
  int32_t *left = calloc(num_operations + 1, sizeof *left);  // whose inputs are not looked at yet
  if (needed == NULL || left == NULL) {
    free(needed);
    free(left);
    return NULL;
  }
  for (size_t i = 0; i < count; i++) {
    if (!needed[outputs[i].id]) left[num_left++] = outputs[i].id;
    needed[outputs[i].id] = true;
  }
  while (num_left > 0) {
    rheos_operation at = {.graph = graph->graph, .id = left[--num_left]};
    for (int32_t i = 0; i < rheos_operation_num_inputs(at); i++) {
      int32_t id = rheos_operation_input(at, i).id;
      if (!needed[id]) left[num_left++] = id;
      needed[id] = true;
    }
  }
  free(left);
  return needed;
}

TF_Operation *TF_GraphOperationByName(TF_Graph *graph, const char *oper_name) {
  if (graph == NULL || oper_name == NULL) return NULL;
  pthread_mutex_lock(&graph->lock);
  TF_Operation *oper = capi_operation(graph, rheos_graph_operation(graph->graph, oper_name));
  pthread_mutex_unlock(&graph->lock);
  return oper;
}

TF_Operation *TF_GraphNextOperation(TF_Graph *graph, size_t *pos) {
  if (graph == NULL || pos == NULL) return NULL;
  pthread_mutex_lock(&graph->lock);
  TF_Operation *oper = NULL;
  if (*pos < (size_t)rheos_graph_num_operations(graph->graph)) {
    rheos_operation operation = {.graph = graph->graph, .id = (int32_t)(*pos)++};
    oper = capi_operation(graph, operation);
  }
  pthread_mutex_unlock(&graph->lock);
  return oper;
}

// ---- Shapes

void TF_GraphSetTensorShape(TF_Graph *graph, TF_Output output, const int64_t *dims,
                            const int num_dims, TF_Status *status) {
  rheos_output to;
  rheos_shape shape;
  capi_succeed(status);
  if (!capi_need(graph, "the graph", status) || !capi_output_get(graph, output, &to, status)) {
    return;
  }
  if (!capi_shape(dims, num_dims, &shape)) {
    capi_fail(status, TF_INVALID_ARGUMENT, "a shape of %d dimensions is none that Rheos can have",
              num_dims);
    return;
  }
  pthread_mutex_lock(&graph->lock);
  capi_take(status, rheos_output_set_shape(to, shape));
  pthread_mutex_unlock(&graph->lock);
}

static rheos_shape shape_of(TF_Graph *graph, TF_Output output, TF_Status *status) {
  rheos_output of;
  rheos_shape shape = RHEOS_UNKNOWN_SHAPE;
  capi_succeed(status);
  if (!capi_need(graph, "the graph", status) || !capi_output_get(graph, output, &of, status)) {
    return shape;
  }
  pthread_mutex_lock(&graph->lock);
  shape = rheos_output_shape(of);
  pthread_mutex_unlock(&graph->lock);
  return shape;
}

int TF_GraphGetTensorNumDims(TF_Graph *graph, TF_Output output, TF_Status *status) {
  return shape_of(graph, output, status).rank;
}

void TF_GraphGetTensorShape(TF_Graph *graph, TF_Output output, int64_t *dims, int num_dims,
                            TF_Status *status) {
  rheos_shape shape = shape_of(graph, output, status);
  if (TF_GetCode(status) != TF_OK) return;
  if (shape.rank < 0 && num_dims == -1) return;
  if (shape.rank != num_dims) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Expected rank is %d but actual rank is %d", num_dims,
              shape.rank);
  } else if (num_dims > 0 && capi_need(dims, "dims", status)) {
    memcpy(dims, shape.dims, (size_t)num_dims * sizeof *dims);
  }
}

// ---- Messages

void TF_GraphToGraphDef(TF_Graph *graph, TF_Buffer *output_graph_def, TF_Status *status) {
  void *bytes = NULL;
  size_t size = 0;
  capi_succeed(status);
  if (!capi_need(graph, "the graph", status)) return;
  pthread_mutex_lock(&graph->lock);
  rheos_status *error = rheos_graph_to_graph_def(graph->graph, &bytes, &size);
  pthread_mutex_unlock(&graph->lock);
  if (capi_take(status, error)) capi_buffer_take(output_graph_def, bytes, size, status);
}

void TF_OperationToNodeDef(TF_Operation *oper, TF_Buffer *output_node_def, TF_Status *status) {
  void *bytes = NULL;
  size_t size = 0;
  capi_succeed(status);
  if (!capi_need(oper, "the operation", status)) return;
  rheos_status *error = rheos_operation_to_node_def(capi_operation_of(oper), &bytes, &size);
  if (capi_take(status, error)) capi_buffer_take(output_node_def, bytes, size, status);
}

// What a function's FunctionDef says of it as an op: its first field.
static rheos_status *function_op_def(TF_Graph *graph, const char *name, TF_Buffer *buffer,
                                     TF_Status *status) {
  void *bytes = NULL;
  size_t size = 0;
  capi_wire signature = {0};
  rheos_status *error = rheos_graph_function_def(graph->graph, name, &bytes, &size);
  if (error == NULL) {
    capi_wire_find(capi_wire_of(bytes, size), 1, &signature);
    capi_buffer_copy(buffer, signature.at, capi_wire_size(signature), status);
  }
  rheos_free(bytes);
  return error;
}

void TF_GraphGetOpDef(TF_Graph *graph, const char *op_name, TF_Buffer *output_op_def,
                      TF_Status *status) {
  void *bytes = NULL;
  size_t size = 0;
  capi_succeed(status);
  if (!capi_need(op_name, "the name of the op", status)) return;
  rheos_status *error = rheos_op_to_op_def(op_name, &bytes, &size);
  if (error != NULL && graph != NULL) {
    pthread_mutex_lock(&graph->lock);
    rheos_status *of_function = function_op_def(graph, op_name, output_op_def, status);
    pthread_mutex_unlock(&graph->lock);
    rheos_status_free(of_function != NULL ? of_function : error);
    if (of_function == NULL) return;
  }
  if (capi_take(status, error)) capi_buffer_take(output_op_def, bytes, size, status);
}

void TF_GraphVersions(TF_Graph *graph, TF_Buffer *output_version_def, TF_Status *status) {
  void *bytes = NULL;
  size_t size = 0;
  capi_wire versions = {0};
  capi_succeed(status);
  if (!capi_need(graph, "the graph", status)) return;
  pthread_mutex_lock(&graph->lock);
  int32_t end = rheos_graph_num_operations(graph->graph);
  rheos_status *error = rheos_graph_to_graph_def_from(graph->graph, end, &bytes, &size);
  pthread_mutex_unlock(&graph->lock);
  if (capi_take(status, error)) {
    capi_wire_find(capi_wire_of(bytes, size), 4, &versions);
    capi_buffer_copy(output_version_def, versions.at, capi_wire_size(versions), status);
  }
  rheos_free(bytes);
}
