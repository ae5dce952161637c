// The way from an output to who takes it. An edge of an older node changes seldom: then all is
// found anew.
#include "graph/consumers.h"

#include "graph/graph_impl.h"
#include "graph/handles.h"

void rheos__consumers_deinit(rheos__consumers *consumers) {
  rheos__free(consumers->nodes);
  rheos__free(consumers->uses);
}

static void add_use(rheos__consumers *c, rheos__edge edge, int32_t id, int32_t input) {
  rheos__use_list *list = &c->nodes[edge.id];
  c->uses[c->num_uses] = (rheos__use){id, input, edge.index, -1};
  if (list->last < 0) {
    list->first = c->num_uses;
  } else {
    c->uses[list->last].next = c->num_uses;
  }
  list->last = c->num_uses++;
}

static rheos_status *reserve_uses(rheos__consumers *c, const rheos__node *node) {
  const size_t count =
      (size_t)c->num_uses + (size_t)node->num_inputs + (size_t)node->num_control_inputs;
  if (count > INT32_MAX || !RHEOS_RESERVE(c->uses, c->use_capacity, count)) {
    return rheos__out_of_memory();
  }
  return NULL;
}

// Looks at what the graph has and was not looked at yet. The graph is locked.
static rheos_status *catch_up(rheos_graph *graph) {
  rheos__consumers *c = &graph->consumers;
  if (c->is_stale) c->num_nodes = c->num_uses = 0;
  const int32_t count = rheos_graph_num_operations(graph);
  if (!RHEOS_RESERVE(c->nodes, c->node_capacity, (size_t)count)) return rheos__out_of_memory();
  // An edge of a loop goes to a node that came before where it begins.
  for (int32_t id = c->num_nodes; id < count; id++) c->nodes[id] = (rheos__use_list){-1, -1};
  // Until all is there it is stale: memory may end in between.
  c->is_stale = true;
  for (int32_t id = c->num_nodes; id < count; id++) {
    const rheos__node *node = rheos__graph_node(graph, id);
    RHEOS_TRY(reserve_uses(c, node));
    for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; i++) {
      add_use(c, node->edges[i], id, i < node->num_inputs ? i : i - node->num_inputs);
    }
  }
  c->num_nodes = count;
  c->is_stale = false;
  return NULL;
}

// The next use of output `index` (-1: by control edges) from `at` on, -1 if there is none.
static int32_t next_use(const rheos__consumers *c, int32_t at, int32_t index) {
  while (at >= 0 && c->uses[at].index != index) at = c->uses[at].next;
  return at;
}

static rheos_status *list_consumers(rheos_output output, rheos_consumer *out_consumers,
                                    size_t capacity, size_t *out_count) {
  RHEOS_TRY(catch_up(output.graph));
  const rheos__consumers *c = &output.graph->consumers;
  for (int32_t at = next_use(c, c->nodes[output.id].first, output.index); at >= 0;
       at = next_use(c, c->uses[at].next, output.index), ++*out_count) {
    if (*out_count >= capacity) continue;
    out_consumers[*out_count] = (rheos_consumer){{output.graph, c->uses[at].id}, c->uses[at].input};
  }
  return NULL;
}

rheos_status *rheos_output_consumers(rheos_output output, rheos_consumer *out_consumers,
                                     size_t capacity, size_t *out_count) {
  RHEOS_OUT(out_count);
  RHEOS_NEED_LIST(out_consumers, capacity);
  RHEOS_TRY(rheos__check_output(output.graph, output, "the output"));
  rheos__graph_lock(output.graph);
  rheos_status *status = list_consumers(output, out_consumers, capacity, out_count);
  rheos__graph_unlock(output.graph);
  return status;
}

static rheos_status *list_control_outputs(rheos_operation operation,
                                          rheos_operation *out_operations, size_t capacity,
                                          size_t *out_count) {
  RHEOS_TRY(catch_up(operation.graph));
  const rheos__consumers *c = &operation.graph->consumers;
  for (int32_t at = next_use(c, c->nodes[operation.id].first, -1); at >= 0;
       at = next_use(c, c->uses[at].next, -1), ++*out_count) {
    if (*out_count >= capacity) continue;
    out_operations[*out_count] = (rheos_operation){operation.graph, c->uses[at].id};
  }
  return NULL;
}

rheos_status *rheos_operation_control_outputs(rheos_operation operation,
                                              rheos_operation *out_operations, size_t capacity,
                                              size_t *out_count) {
  RHEOS_OUT(out_count);
  RHEOS_NEED_LIST(out_operations, capacity);
  RHEOS_TRY(rheos__check_operation(operation.graph, operation, "the operation"));
  rheos__graph_lock(operation.graph);
  rheos_status *status = list_control_outputs(operation, out_operations, capacity, out_count);
  rheos__graph_unlock(operation.graph);
  return status;
}
