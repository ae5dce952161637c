// Nodes are numbered as in the graph. A variable and what reads it in a step are one node there, so
// the time of the reads is added to the variable's.
#include "format/trace/cost_graph.h"

#include <string.h>

#include "codec/wire.h"
#include "format/trace/trace_order.h"
#include "format/trace/trace_text.h"

enum { METADATA_COST_GRAPH = 2, GRAPH_NODE = 1 };
enum {
  NODE_NAME = 1,
  NODE_DEVICE = 2,
  NODE_ID = 3,
  NODE_INPUT = 4,
  NODE_OUTPUT = 5,
  NODE_TEMPORARY = 6,
  NODE_FINAL = 7,
  NODE_CONTROL_INPUT = 8,
  NODE_COMPUTE_COST = 9,
  NODE_PERSISTENT = 12,
};
enum { INPUT_NODE = 1, INPUT_PORT = 2 };
enum { OUTPUT_SIZE = 1, OUTPUT_ALIAS = 2, OUTPUT_SHAPE = 3, OUTPUT_DTYPE = 4 };

typedef struct writer {
  const rheos_trace *trace;
  rheos__buffer *out, graph, name;
  int64_t *ns;  // by node: what it took
  bool *is_final;
  int32_t num_nodes;
} writer;

static void put_inputs(const rheos__traced_segment *segment, const rheos__traced_op *op,
                       rheos__buffer *node) {
  for (int32_t i = 0; i < op->num_edges; i++) {
    const rheos__edge edge = segment->edges[op->first_edge + i];
    rheos__buffer input = {0};
    rheos__wire_put_unless_0(&input, INPUT_NODE, edge.id);
    rheos__wire_put_unless_0(&input, INPUT_PORT, edge.index);
    rheos__wire_put_message(node, NODE_INPUT, &input);
  }
}

static void put_outputs(const writer *w, const rheos__traced_segment *segment,
                        const rheos__traced_op *op, int32_t late, rheos__buffer *node) {
  for (int32_t i = 0; i < op->num_outputs; i++) {
    const rheos__traced_output *output = &segment->outputs[op->first_output + i];
    const bool is_late = output->shape.rank < 0 && late >= 0;
    const rheos__trace_dynamic *told = is_late ? &w->trace->dynamic[late + i] : NULL;
    rheos__buffer bytes = {0};
    rheos__wire_put_unless_0(&bytes, OUTPUT_SIZE,
                             (int64_t)(is_late ? told->size_bytes : output->size_bytes));
    // 0 is an input; ops whose output is an input's bytes have it first
    rheos__wire_put_varint(&bytes, OUTPUT_ALIAS, output->is_alias ? 0 : (uint64_t)-1);
    rheos__wire_put_shape(&bytes, OUTPUT_SHAPE, is_late ? &told->shape : &output->shape);
    rheos__wire_put_unless_0(&bytes, OUTPUT_DTYPE, output->dtype);
    rheos__wire_put_message(node, NODE_OUTPUT, &bytes);
  }
}

static void put_controls(const rheos__traced_segment *segment, const rheos__traced_op *op,
                         rheos__buffer *out) {
  int32_t num_controls;
  const rheos__node *node = rheos__traced_node(segment, op->id, &num_controls);
  for (int32_t i = 0; i < num_controls; i++) {
    rheos__wire_put_varint(out, NODE_CONTROL_INPUT, (uint64_t)node->edges[node->num_inputs + i].id);
  }
}

static void put_op(writer *w, const rheos__traced_segment *segment, const rheos__traced_op *op,
                   int32_t late) {
  rheos__buffer node = {0};
  int64_t persistent = 0;
  for (int32_t i = 0; i < op->num_outputs; i++) {
    const rheos__traced_output *output = &segment->outputs[op->first_output + i];
    if (output->kind == RHEOS__VALUE_CONSTANT) persistent += (int64_t)output->size_bytes;
  }
  w->name.size_bytes = 0;
  rheos__trace_put_name(&w->name, segment, op->id);
  if (w->name.failed) w->graph.failed = true;
  rheos__wire_put_bytes(&node, NODE_NAME, w->name.data, w->name.size_bytes);
  const char *device = w->trace->devices[op->device];
  rheos__wire_put_bytes(&node, NODE_DEVICE, device, strlen(device));
  rheos__wire_put_unless_0(&node, NODE_ID, op->id);
  put_inputs(segment, op, &node);
  put_outputs(w, segment, op, late, &node);
  rheos__wire_put_unless_0(&node, NODE_TEMPORARY, (int64_t)op->scratch_bytes);
  rheos__wire_put_unless_0(&node, NODE_FINAL, w->is_final[op->id]);
  put_controls(segment, op, &node);
  rheos__wire_put_unless_0(&node, NODE_COMPUTE_COST, w->ns[op->id] / 1000);
  rheos__wire_put_unless_0(&node, NODE_PERSISTENT, persistent);
  rheos__wire_put_message(&w->graph, GRAPH_NODE, &node);
}

static void put_visit(writer *w, int32_t index, const rheos__trace_order *order, int32_t *late) {
  const rheos_trace *trace = w->trace;
  const rheos__traced_segment *segment = &trace->segments[trace->visits[index].segment];
  for (int32_t i = 0; i < segment->num_ops; i++) late[i] = -1;
  for (size_t i = order->starts[index]; i < order->starts[index + 1]; i++) {
    const rheos__trace_event *event = &trace->events[order->events[i]];
    late[event->op] = event->dynamic;
  }
  for (int32_t i = 0; i < segment->num_ops; i++) {
    if (!segment->ops[i].is_read) put_op(w, segment, &segment->ops[i], late[i]);
  }
}

// Whether what the visit ran are nodes of the graph, not those of a body that one of them calls.
static bool is_of_graph(const rheos_trace *trace, int32_t visit) {
  return trace->visits[visit].outer < 0;
}

// Times by node, and what is fetched, of the visits from `first` on. Gives the longest segment.
static int32_t collect(writer *w, int32_t first) {
  const rheos_trace *trace = w->trace;
  int32_t most_ops = 0;
  for (int32_t v = first; v < (int32_t)trace->num_visits; v++) {
    if (!is_of_graph(trace, v)) continue;
    const rheos__traced_segment *segment = &trace->segments[trace->visits[v].segment];
    if (segment->num_ops > most_ops) most_ops = segment->num_ops;
    for (int32_t i = 0; i < segment->num_fetches; i++) w->is_final[segment->fetches[i].id] = true;
  }
  for (size_t e = 0; e < trace->num_events; e++) {
    const rheos__trace_event *event = &trace->events[e];
    if (event->visit < first || !is_of_graph(trace, event->visit)) continue;
    const int32_t id = trace->segments[trace->visits[event->visit].segment].ops[event->op].id;
    w->ns[id] += event->end_ns - event->start_ns;
  }
  return most_ops;
}

void rheos__put_cost_graph(const rheos_trace *trace, rheos__buffer *out) {
  int32_t first = (int32_t)trace->num_visits - 1;
  const int32_t run = trace->visits[first].run;
  while (first > 0 && trace->visits[first - 1].run == run) --first;
  size_t num_nodes = 0;  // plans of one step may have inlined differently
  for (size_t v = (size_t)first; v < trace->num_visits; v++) {
    const size_t end = (size_t)trace->segments[trace->visits[v].segment].inlined->end;
    if (is_of_graph(trace, (int32_t)v) && end > num_nodes) num_nodes = end;
  }
  writer w = {.trace = trace,
              .ns = rheos__alloc_array(num_nodes, sizeof *w.ns),
              .is_final = rheos__alloc_array(num_nodes, sizeof *w.is_final)};
  int32_t *late = NULL;
  if (w.ns != NULL && w.is_final != NULL) {
    late = rheos__alloc_array((size_t)collect(&w, first), sizeof *late);
  }
  rheos__trace_order order = {NULL, NULL};
  if (late != NULL && rheos__trace_order_init(&order, trace)) {
    for (int32_t v = first; v < (int32_t)trace->num_visits; v++) {
      if (is_of_graph(trace, v)) put_visit(&w, v, &order, late);
    }
    rheos__wire_put_message(out, METADATA_COST_GRAPH, &w.graph);
  } else {
    out->failed = true;
  }
  rheos__trace_order_deinit(&order);
  rheos__free(late);
  rheos__free(w.ns);
  rheos__free(w.is_final);
  rheos__buffer_deinit(&w.name);
}
