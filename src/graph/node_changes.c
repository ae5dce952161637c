// Changes to operations that are there: shapes, inputs, outputs, control inputs, devices. All but
// those of a node that is being built count as changes of the graph, which plans look at.
#include "graph/graph.h"

#include <string.h>

#include "graph/graph_impl.h"

static bool has_output(const rheos_graph *graph, rheos__edge edge) {
  return edge.id >= 0 && edge.id < rheos_graph_num_operations(graph) && edge.index >= 0 &&
         edge.index < rheos__graph_node(graph, edge.id)->num_outputs;
}

static rheos_status *check_output(const rheos_graph *graph, rheos__edge edge) {
  if (has_output(graph, edge)) return NULL;
  const int32_t count = rheos_graph_num_operations(graph);
  if (edge.id < 0 || edge.id >= count) {
    return RHEOS_INVALID("there is no such tensor: operation %d of %d", (int)edge.id, (int)count);
  }
  const rheos__node *node = rheos__graph_node(graph, edge.id);
  return RHEOS_INVALID("there is no such tensor: output %d of a %s, which has %d", (int)edge.index,
                       node->signature->op->name, (int)node->num_outputs);
}

rheos_status *rheos_output_set_shape(rheos_output output, rheos_shape shape) {
  rheos__node_output *o = rheos__output_of(output);
  if (o == NULL && output.graph != NULL) {
    return check_output(output.graph, (rheos__edge){output.id, output.index});
  }
  if (o == NULL) return RHEOS_INVALID("there is no such tensor: it is none");
  if (shape.rank > RHEOS_MAX_RANK) {
    return RHEOS_INVALID("rank %d is more than the maximum of %d", shape.rank, RHEOS_MAX_RANK);
  }
  for (int32_t i = 0; i < shape.rank; i++) {
    if (shape.dims[i] < -1) {
      return RHEOS_INVALID("dimension %d of a shape is %lld", i, (long long)shape.dims[i]);
    }
  }
  rheos_shape merged;
  rheos__graph_lock(output.graph);
  rheos_status *status = rheos__shape_merge(o->shape, &shape, &merged);
  if (status == NULL) {
    const rheos_shape *interned = rheos__intern_shape(output.graph, &merged);
    if (interned == NULL) {
      status = rheos__out_of_memory();
    } else if (interned != o->shape) {
      __atomic_store_n(&o->shape, interned, __ATOMIC_RELEASE);
      rheos__graph_changed(output.graph);
    }
  }
  rheos__graph_unlock(output.graph);
  return rheos__status_at_take(status, output.graph, output.id);
}

static rheos_status *set_input(rheos_graph *graph, int32_t id, int32_t input, rheos__edge edge) {
  rheos__node *node = rheos__node_at(graph, id);
  if (input < 0 || input >= node->num_inputs) {
    return RHEOS_INVALID("there is no input %d: the operation has %d", input, node->num_inputs);
  }
  RHEOS_TRY(check_output(graph, edge));
  rheos__edge old = node->edges[input];
  rheos_dtype before = rheos__graph_node(graph, old.id)->outputs[old.index].dtype;
  rheos_dtype after = rheos__graph_node(graph, edge.id)->outputs[edge.index].dtype;
  if (rheos_dtype_base(before) != rheos_dtype_base(after)) {
    return RHEOS_INVALID("input %d has dtype %s, cannot be replaced by one of dtype %s", input,
                         rheos_dtype_name(before), rheos_dtype_name(after));
  }
  node->edges[input] = edge;
  graph->consumers.is_stale = true;
  rheos__graph_changed(graph);
  return NULL;
}

static rheos_status *close_loop(rheos_graph *graph, int32_t id, int32_t input, rheos__edge next) {
  if (rheos__graph_node(graph, id)->signature->op->flow != RHEOS__FLOW_MERGE) {
    return RHEOS_INVALID("a loop is closed at a Merge, not at a %s",
                         rheos__graph_node(graph, id)->signature->op->name);
  }
  RHEOS_TRY(check_output(graph, next));
  const rheos__op_def *from = rheos__graph_node(graph, next.id)->signature->op;
  if (from->flow != RHEOS__FLOW_NEXT_ITERATION) {
    return RHEOS_INVALID("a loop goes back from a NextIteration, not from a %s", from->name);
  }
  RHEOS_TRY(set_input(graph, id, input, next));
  return rheos__graph_relax(graph, id, input);
}

rheos_status *rheos__graph_close_loop(rheos_graph *graph, int32_t id, int32_t input,
                                      rheos__edge next) {
  rheos__graph_lock(graph);
  rheos_status *status = close_loop(graph, id, input, next);
  rheos__graph_unlock(graph);
  return rheos__status_at_take(status, graph, id);
}

rheos_status *rheos_operation_close_loop(rheos_operation merge, int32_t input, rheos_output next) {
  if (rheos__node_of(merge) == NULL)
    return RHEOS_INVALID("there is no operation to close a loop at");
  if (next.graph != merge.graph) return RHEOS_INVALID("what comes back is of another graph");
  return rheos__graph_close_loop(merge.graph, merge.id, input, (rheos__edge){next.id, next.index});
}

rheos_status *rheos__graph_set_input(rheos_graph *graph, int32_t id, int32_t input,
                                     rheos__edge edge) {
  rheos__graph_lock(graph);
  rheos_status *status = set_input(graph, id, input, edge);
  rheos__graph_unlock(graph);
  return rheos__status_at_take(status, graph, id);
}

rheos_status *rheos_operation_set_input(rheos_operation operation, int32_t input,
                                        rheos_output output) {
  rheos_graph *graph = operation.graph;
  if (rheos__node_of(operation) == NULL) return RHEOS_INVALID("there is no such operation");
  if (output.graph != graph) return RHEOS_INVALID("what it is to take is of another graph");
  if (output.id >= operation.id) {
    return RHEOS_INVALID("an operation takes outputs of those that were made before it only");
  }
  rheos__graph_lock(graph);
  rheos_status *status =
      set_input(graph, operation.id, input, (rheos__edge){output.id, output.index});
  if (status == NULL) status = rheos__graph_relax_from(graph, operation.id);
  rheos__graph_unlock(graph);
  return rheos__status_at_take(status, graph, operation.id);
}

// The node's attributes with those values in the place of its own.
static const rheos__attrs *changed_attrs(rheos_graph *graph, const rheos__attrs *attrs,
                                         const rheos_attr *values, size_t num_values) {
  rheos_attr *items = rheos__alloc_array((size_t)attrs->count + 1, sizeof *items);
  if (items == NULL) return NULL;
  for (int32_t i = 0; i < attrs->count; i++) {
    items[i] = attrs->items[i];
    for (size_t k = 0; k < num_values; k++) {
      if (strcmp(items[i].name, values[k].name) == 0) items[i].value = values[k].value;
    }
  }
  const rheos__attrs *interned = rheos__intern_attrs(graph, items, attrs->count);
  rheos__free(items);
  return interned;
}

static rheos_status *extend_node(rheos_graph *graph, int32_t id, const rheos__extension *e) {
  rheos__node *node = rheos__node_at(graph, id);
  const size_t num_inputs = (size_t)node->num_inputs, num_outputs = (size_t)node->num_outputs;
  const size_t num_controls = (size_t)node->num_control_inputs;
  rheos__edge *edges = rheos__arena_alloc(
      &graph->arena, (num_inputs + e->num_inputs + num_controls + 1) * sizeof *edges);
  rheos__node_output *outputs =
      rheos__arena_alloc(&graph->arena, (num_outputs + e->num_outputs + 1) * sizeof *outputs);
  const rheos__attrs *attrs = changed_attrs(graph, node->attrs, e->attrs, e->num_attrs);
  if (edges == NULL || outputs == NULL || attrs == NULL) return rheos__out_of_memory();
  if (num_inputs > 0) memcpy(edges, node->edges, num_inputs * sizeof *edges);
  for (size_t i = 0; i < e->num_inputs; i++) {
    edges[num_inputs + i] = (rheos__edge){e->inputs[i].id, e->inputs[i].index};
  }
  if (num_controls > 0) {
    memcpy(edges + num_inputs + e->num_inputs, node->edges + num_inputs,
           num_controls * sizeof *edges);
  }
  if (num_outputs > 0) memcpy(outputs, node->outputs, num_outputs * sizeof *outputs);
  for (size_t i = 0; i < e->num_outputs; i++) {
    rheos__node_output *output = &outputs[num_outputs + i];
    output->dtype = e->output_dtypes[i];
    output->shape = rheos__intern_shape(graph, &e->output_shapes[i]);
    if (output->shape == NULL) return rheos__out_of_memory();
  }
  node->edges = edges;
  graph->consumers.is_stale = true;
  node->outputs = outputs;
  node->attrs = attrs;
  node->num_inputs += (int32_t)e->num_inputs;
  node->num_outputs += (int32_t)e->num_outputs;
  rheos__graph_changed(graph);
  return NULL;
}

rheos_status *rheos__graph_extend_node(rheos_graph *graph, int32_t id,
                                       const rheos__extension *extension) {
  pthread_mutex_lock(&graph->extending);
  while (graph->num_readers > 0) pthread_cond_wait(&graph->no_reader, &graph->extending);
  rheos__graph_lock(graph);
  rheos_status *status = extend_node(graph, id, extension);
  rheos__graph_unlock(graph);
  pthread_mutex_unlock(&graph->extending);
  return rheos__status_at_take(status, graph, id);
}

void rheos__graph_rewire(rheos_graph *graph, int32_t id, int32_t input, rheos__edge edge) {
  rheos__node_at(graph, id)->edges[input] = edge;
  graph->consumers.is_stale = true;
}

static bool has_control(const rheos__node *node, const rheos__edge *edges, int32_t count,
                        int32_t from) {
  for (int32_t i = 0; i < count; i++) {
    if (edges[node->num_inputs + i].id == from) return true;
  }
  return false;
}

bool rheos__graph_add_controls(rheos_graph *graph, int32_t id, const int32_t *ids, size_t count) {
  rheos__node *node = rheos__node_at(graph, id);
  size_t before = (size_t)node->num_inputs + (size_t)node->num_control_inputs;
  if (count == 0) return true;
  rheos__edge *edges = rheos__arena_alloc(&graph->arena, (before + count) * sizeof *edges);
  if (edges == NULL) return false;
  if (before != 0) memcpy(edges, node->edges, before * sizeof *edges);
  int32_t num_controls = node->num_control_inputs;
  for (size_t i = 0; i < count; i++) {
    if (has_control(node, edges, num_controls, ids[i])) continue;
    edges[node->num_inputs + num_controls++] = (rheos__edge){ids[i], -1};
  }
  node->edges = edges;
  graph->consumers.is_stale = true;
  node->num_control_inputs = num_controls;
  return true;
}

void rheos__graph_keep_controls(rheos_graph *graph, int32_t id, const int32_t *ids, size_t count) {
  rheos__node *node = rheos__node_at(graph, id);
  for (size_t i = 0; i < count; i++) {
    node->edges[(size_t)node->num_inputs + i] = (rheos__edge){ids[i], -1};
  }
  node->num_control_inputs = (int32_t)count;
  graph->consumers.is_stale = true;
}

rheos_status *rheos__graph_become_no_op(rheos_graph *graph, int32_t id, const int32_t *ids,
                                        size_t count) {
  rheos__node *node = rheos__node_at(graph, id);
  const rheos__signature *signature = rheos__signature_by_name("NoOp");
  const rheos__attrs *attrs = rheos__intern_attrs(graph, NULL, 0);
  if (signature == NULL || attrs == NULL) return rheos__out_of_memory();
  node->edges += node->num_inputs;
  node->num_inputs = 0;
  node->num_outputs = 0;
  node->signature = signature;
  node->attrs = attrs;
  graph->consumers.is_stale = true;
  rheos__graph_changed(graph);
  return rheos__graph_add_controls(graph, id, ids, count) ? NULL : rheos__out_of_memory();
}

static rheos_status *set_device(rheos_graph *graph, int32_t id, const char *device) {
  rheos__device_name name;
  RHEOS_TRY(rheos__device_name_parse(device, &name));
  const char *interned = rheos__intern_text(graph, device, strlen(device));
  if (interned == NULL) return rheos__out_of_memory();
  rheos__node_at(graph, id)->device = interned;
  rheos__graph_changed(graph);
  return NULL;
}

rheos_status *rheos_operation_set_device(rheos_operation operation, const char *device) {
  RHEOS_NEED(device);
  rheos_graph *graph = operation.graph;
  if (rheos__node_of(operation) == NULL) {
    return RHEOS_INVALID("there is no such operation: %d of %d", (int)operation.id,
                         graph != NULL ? (int)rheos_graph_num_operations(graph) : 0);
  }
  rheos__graph_lock(graph);
  rheos_status *status = set_device(graph, operation.id, device);
  rheos__graph_unlock(graph);
  return rheos__status_at_take(status, graph, operation.id);
}

static rheos_status *add_control_input(rheos_graph *graph, int32_t id, int32_t from) {
  rheos__node *node = rheos__node_at(graph, id);
  size_t count = (size_t)node->num_inputs + (size_t)node->num_control_inputs;
  for (size_t i = (size_t)node->num_inputs; i < count; i++) {
    if (node->edges[i].id == from) return NULL;
  }
  rheos__edge *edges = rheos__arena_alloc(&graph->arena, (count + 1) * sizeof *edges);
  if (edges == NULL) return rheos__out_of_memory();
  if (count != 0) memcpy(edges, node->edges, count * sizeof *edges);
  edges[count] = (rheos__edge){from, -1};
  node->edges = edges;
  graph->consumers.is_stale = true;
  node->num_control_inputs++;
  rheos__graph_changed(graph);
  return NULL;
}

rheos_status *rheos_operation_add_control_input(rheos_operation operation, rheos_operation from) {
  rheos_graph *graph = operation.graph;
  if (rheos__node_of(operation) == NULL || rheos__node_of(from) == NULL) {
    return RHEOS_INVALID("there is no such operation: %d and %d of %d", (int)operation.id,
                         (int)from.id, graph != NULL ? (int)rheos_graph_num_operations(graph) : 0);
  }
  if (from.graph != graph) return RHEOS_INVALID("what it is to wait for is of another graph");
  if (from.id >= operation.id) {
    return RHEOS_INVALID("an operation waits for those that were made before it only");
  }
  rheos__graph_lock(graph);
  rheos_status *status = add_control_input(graph, operation.id, from.id);
  rheos__graph_unlock(graph);
  return rheos__status_at_take(status, graph, operation.id);
}

rheos_status *rheos_operation_clear_control_inputs(rheos_operation operation) {
  rheos_graph *graph = operation.graph;
  if (rheos__node_of(operation) == NULL) return RHEOS_INVALID("there is no such operation");
  rheos__graph_lock(graph);
  rheos__graph_keep_controls(graph, operation.id, NULL, 0);
  rheos__graph_changed(graph);
  rheos__graph_unlock(graph);
  return NULL;
}
