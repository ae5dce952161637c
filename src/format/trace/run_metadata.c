// A trace as TensorFlow's RunMetadata. Written field by field, since a step may have a million ops.
#include <rheos/trace.h>

#include "codec/wire.h"
#include "format/graph/graph_def.h"
#include "format/message/protobuf.h"
#include "format/trace/cost_graph.h"
#include "format/trace/trace_order.h"
#include "format/trace/trace_text.h"

enum { METADATA_STEP_STATS = 1, METADATA_PARTITION_GRAPHS = 3 };
enum { STEP_DEVICE = 1, DEVICE_NAME = 1, DEVICE_NODE = 2, DEVICE_THREAD_NAME = 3 };
enum {
  NODE_NAME = 1,
  NODE_ALL_START_MICROS = 2,
  NODE_OP_END_MICROS = 4,
  NODE_ALL_END_MICROS = 5,
  NODE_MEMORY = 6,
  NODE_OUTPUT = 7,
  NODE_LABEL = 8,
  NODE_SCHEDULED_MICROS = 9,
  NODE_THREAD = 10,
  NODE_MEMORY_STATS = 12,
  NODE_ALL_START_NANOS = 13,
  NODE_OP_END_NANOS = 15,
  NODE_ALL_END_NANOS = 16,
  NODE_SCHEDULED_NANOS = 17,
};
enum {
  MEMORY_ALLOCATOR = 1,
  MEMORY_TOTAL = 2,
  MEMORY_PEAK = 3,
  MEMORY_LIVE = 4,
  MEMORY_RECORD = 6
};
enum { RECORD_MICROS = 1, RECORD_BYTES = 2 };
enum { OUTPUT_SLOT = 1, OUTPUT_TENSOR = 3 };
enum { TENSOR_DTYPE = 1, TENSOR_SHAPE = 2, TENSOR_ALLOCATION = 4 };
enum { ALLOCATION_REQUESTED = 1, ALLOCATION_ALLOCATED = 2, ALLOCATION_ALLOCATOR = 3 };
enum { STATS_TEMP = 1, STATS_PERSISTENT = 3 };
static const char ALLOCATOR[] = "cpu";

typedef struct writer {
  const rheos_trace *trace;
  rheos__buffer name, label;  // emptied for each node
} writer;

static void put_text(rheos__buffer *buffer, int field, const char *text) {
  rheos__wire_put_bytes(buffer, field, text, strlen(text));
}

static void put_written(rheos__buffer *buffer, int field, const rheos__buffer *text) {
  if (text->failed) buffer->failed = true;
  rheos__wire_put_bytes(buffer, field, text->data, text->size_bytes);
}

// ---- What a node did

// An output, as its description or the event's own shape has it.
typedef struct output_facts {
  rheos_dtype dtype;
  const rheos_shape *shape;
  size_t size_bytes;
  bool allocated;  // by the run
} output_facts;

static output_facts output_at(const writer *w, const rheos__traced_output *output, int32_t late,
                              int32_t slot) {
  output_facts facts = {(rheos_dtype)output->dtype, &output->shape, output->size_bytes, false};
  if (facts.shape->rank < 0 && late >= 0) {
    const rheos__trace_dynamic *told = &w->trace->dynamic[late + slot];
    facts.shape = &told->shape;
    facts.size_bytes = told->size_bytes;
  }
  facts.allocated = !output->is_alias &&
                    (output->kind == RHEOS__VALUE_ARENA || output->kind == RHEOS__VALUE_HEAP ||
                     output->kind == RHEOS__VALUE_TENSOR);
  return facts;
}

static void put_output(rheos__buffer *node, int32_t slot, const output_facts *facts) {
  rheos__buffer output = {0}, tensor = {0}, allocation = {0};
  rheos__wire_put_unless_0(&allocation, ALLOCATION_REQUESTED, (int64_t)facts->size_bytes);
  if (facts->allocated) {
    rheos__wire_put_unless_0(&allocation, ALLOCATION_ALLOCATED, (int64_t)facts->size_bytes);
  }
  put_text(&allocation, ALLOCATION_ALLOCATOR, ALLOCATOR);
  rheos__wire_put_unless_0(&tensor, TENSOR_DTYPE, (int64_t)facts->dtype);
  rheos__wire_put_shape(&tensor, TENSOR_SHAPE, facts->shape);
  rheos__wire_put_message(&tensor, TENSOR_ALLOCATION, &allocation);
  rheos__wire_put_unless_0(&output, OUTPUT_SLOT, slot);
  rheos__wire_put_message(&output, OUTPUT_TENSOR, &tensor);
  rheos__wire_put_message(node, NODE_OUTPUT, &output);
}

static void put_memory(rheos__buffer *node, int64_t bytes, int64_t micros) {
  if (bytes == 0) return;
  rheos__buffer memory = {0}, record = {0};
  put_text(&memory, MEMORY_ALLOCATOR, ALLOCATOR);
  rheos__wire_put_unless_0(&memory, MEMORY_TOTAL, bytes);
  rheos__wire_put_unless_0(&memory, MEMORY_PEAK, bytes);
  rheos__wire_put_unless_0(&memory, MEMORY_LIVE, bytes);
  rheos__wire_put_unless_0(&record, RECORD_MICROS, micros);
  rheos__wire_put_unless_0(&record, RECORD_BYTES, bytes);
  rheos__wire_put_message(&memory, MEMORY_RECORD, &record);
  rheos__wire_put_message(node, NODE_MEMORY, &memory);
}

// The fields of the node in the order of their numbers; `outputs` are `num_outputs` descriptions.
static void put_node(writer *w, rheos__buffer *device, const rheos__traced_output *outputs,
                     int32_t num_outputs, const rheos__trace_event *event, size_t scratch_bytes) {
  const int64_t start = event->start_ns + w->trace->epoch_ns;
  const int64_t duration = event->end_ns - event->start_ns;
  rheos__buffer node = {0}, stats = {0};
  put_written(&node, NODE_NAME, &w->name);
  rheos__wire_put_unless_0(&node, NODE_ALL_START_MICROS, start / 1000);
  rheos__wire_put_unless_0(&node, NODE_OP_END_MICROS, duration / 1000);
  rheos__wire_put_unless_0(&node, NODE_ALL_END_MICROS, duration / 1000);
  int64_t allocated = 0, persistent = 0;
  for (int32_t i = 0; i < num_outputs; i++) {
    const output_facts facts = output_at(w, &outputs[i], event->dynamic, i);
    if (facts.allocated) allocated += (int64_t)facts.size_bytes;
    if (outputs[i].kind == RHEOS__VALUE_CONSTANT) persistent += (int64_t)facts.size_bytes;
  }
  put_memory(&node, allocated, start / 1000);
  for (int32_t i = 0; i < num_outputs; i++) {
    const output_facts facts = output_at(w, &outputs[i], event->dynamic, i);
    if (outputs[i].kind != RHEOS__VALUE_NONE) put_output(&node, i, &facts);
  }
  put_written(&node, NODE_LABEL, &w->label);
  rheos__wire_put_unless_0(&node, NODE_SCHEDULED_MICROS, start / 1000);
  rheos__wire_put_unless_0(&node, NODE_THREAD, event->thread);
  rheos__wire_put_unless_0(&stats, STATS_TEMP, (int64_t)scratch_bytes);
  rheos__wire_put_unless_0(&stats, STATS_PERSISTENT, persistent);
  rheos__wire_put_message(&node, NODE_MEMORY_STATS, &stats);
  rheos__wire_put_unless_0(&node, NODE_ALL_START_NANOS, start);
  rheos__wire_put_unless_0(&node, NODE_OP_END_NANOS, duration);
  rheos__wire_put_unless_0(&node, NODE_ALL_END_NANOS, duration);
  rheos__wire_put_unless_0(&node, NODE_SCHEDULED_NANOS, start);
  rheos__wire_put_message(device, DEVICE_NODE, &node);
  w->name.size_bytes = w->label.size_bytes = 0;
}

static void start_label(writer *w, const char *op) {
  rheos__buffer_put(&w->label, w->name.data, w->name.size_bytes);
  rheos__trace_put_text(&w->label, " = ");
  rheos__trace_put_text(&w->label, op);
  rheos__trace_put_text(&w->label, "(");
}

// The outputs and memory of the op are left out where it is only a part of its work.
static void put_op(writer *w, rheos__buffer *device, const rheos__trace_names *names,
                   const rheos__traced_segment *segment, const rheos__trace_event *event,
                   bool is_part) {
  const rheos__traced_op *op = &segment->ops[event->op];
  rheos__trace_put_name(&w->name, segment, op->id);
  start_label(
      w, op->is_read
             ? rheos__inlined_node(segment->inlined, segment->graph, op->id)->signature->op->name
             : op->signature->op->name);
  if (!op->is_read) rheos__trace_put_inputs(&w->label, names, segment, op);
  rheos__trace_put_text(&w->label, ")");
  put_node(w, device, segment->outputs + op->first_output, is_part ? 0 : op->num_outputs, event,
           is_part ? 0 : op->scratch_bytes);
}

static void put_args(writer *w, rheos__buffer *device, const rheos__traced_segment *segment,
                     const rheos__trace_event *now) {
  for (int32_t i = 0; i < segment->num_feeds; i++) {
    rheos__trace_put_end(&w->name, segment, "_arg_", segment->feeds[i], i);
    start_label(w, "_Arg");
    rheos__trace_put_text(&w->label, ")");
    put_node(w, device, &segment->fed[i], 1, now, 0);
  }
}

static void put_retvals(writer *w, rheos__buffer *device, const rheos__trace_names *names,
                        const rheos__traced_segment *segment, const rheos__trace_event *now) {
  for (int32_t i = 0; i < segment->num_fetches; i++) {
    rheos__trace_put_end(&w->name, segment, "_retval_", segment->fetches[i], i);
    start_label(w, "_Retval");
    rheos__trace_put_input(&w->label, names, segment->fetches[i]);
    rheos__trace_put_text(&w->label, ")");
    put_node(w, device, NULL, 0, now, 0);
  }
}

// ---- The steps

// What other threads did of the event's work.
static void put_parts(writer *w, rheos__buffer *device, int32_t device_index,
                      const rheos__trace_names *names, const rheos__traced_segment *segment,
                      size_t event) {
  const rheos_trace *trace = w->trace;
  rheos__trace_event at = trace->events[event];
  if (segment->ops[at.op].device != device_index) return;
  for (size_t part = rheos__trace_first_part(trace, event);
       part < trace->num_parts && trace->parts[part].event == event; part++) {
    at.thread = trace->parts[part].thread;
    at.start_ns = trace->parts[part].start_ns;
    at.end_ns = trace->parts[part].end_ns;
    put_op(w, device, names, segment, &at, true);
  }
}

// One visit's nodes on a device: what took no time, at its beginning, then what ran, its parts
// before the whole, so that who looks nodes up by name finds that.
static void put_visit(writer *w, rheos__buffer *device, int32_t device_index, size_t visit_index,
                      const rheos__trace_order *order) {
  const rheos_trace *trace = w->trace;
  const rheos__trace_visit *visit = &trace->visits[visit_index];
  const rheos__traced_segment *segment = &trace->segments[visit->segment];
  const rheos__trace_names names = rheos__trace_names_of(trace, visit);
  rheos__trace_event now = {.dynamic = -1, .start_ns = visit->start_ns, .end_ns = visit->start_ns};
  if (device_index == 0) put_args(w, device, segment, &now);
  for (int32_t i = 0; i < segment->num_ops; i++) {
    if (segment->ops[i].runs || segment->ops[i].device != device_index) continue;
    now.op = i;
    put_op(w, device, &names, segment, &now, false);
  }
  for (size_t i = order->starts[visit_index]; i < order->starts[visit_index + 1]; i++) {
    const rheos__trace_event *event = &trace->events[order->events[i]];
    put_parts(w, device, device_index, &names, segment, order->events[i]);
    if (segment->ops[event->op].device == device_index) {
      put_op(w, device, &names, segment, event, false);
    }
  }
  now.start_ns = now.end_ns = visit->end_ns;
  if (device_index == 0) put_retvals(w, device, &names, segment, &now);
}

static void put_thread_names(const rheos_trace *trace, rheos__buffer *device) {
  const uint32_t last = rheos__trace_last_thread(trace);
  for (uint32_t thread = 0; thread <= last; thread++) {
    rheos__buffer entry = {0};
    char name[32];
    rheos__wire_put_unless_0(&entry, 1, thread);
    put_text(&entry, 2, rheos__trace_thread_name(thread, name));
    rheos__wire_put_message(device, DEVICE_THREAD_NAME, &entry);
  }
}

static void put_steps(writer *w, rheos__buffer *out) {
  rheos__buffer steps = {0};
  rheos__trace_order order = {NULL, NULL};
  if (!rheos__trace_order_init(&order, w->trace)) {
    rheos__trace_order_deinit(&order);
    out->failed = true;
    return;
  }
  for (size_t d = 0; d < w->trace->num_devices; d++) {
    rheos__buffer device = {0};
    put_text(&device, DEVICE_NAME, w->trace->devices[d]);
    for (size_t v = 0; v < w->trace->num_visits; v++) {
      put_visit(w, &device, (int32_t)d, v, &order);
    }
    put_thread_names(w->trace, &device);
    rheos__wire_put_message(&steps, STEP_DEVICE, &device);
  }
  rheos__trace_order_deinit(&order);
  rheos__wire_put_message(out, METADATA_STEP_STATS, &steps);
}

// ---- The graph as it was run

enum { GRAPH_NODE = 1, GRAPH_VERSIONS = 4, VERSIONS_PRODUCER = 1 };

typedef struct graph_writer {
  rheos__trace_names names;
  rheos__arena arena;  // for one node
  rheos__buffer text;
  bool *needed;  // by node
} graph_writer;

static char *take_text(graph_writer *g) {
  if (g->text.failed) return NULL;
  char *text = rheos__arena_alloc(&g->arena, g->text.size_bytes + 1);
  if (text != NULL) {
    if (g->text.size_bytes > 0) memcpy(text, g->text.data, g->text.size_bytes);
    text[g->text.size_bytes] = '\0';
  }
  g->text.size_bytes = 0;
  return text;
}

static rheos_status *put_def(graph_writer *g, rheos__buffer *out, const Tensorflow__NodeDef *def) {
  rheos__buffer bytes = {0};
  rheos__proto_pack(&def->base, &bytes);
  rheos__wire_put_message(out, GRAPH_NODE, &bytes);
  rheos__arena_reset(&g->arena);
  return NULL;
}

static bool add_attr(graph_writer *g, Tensorflow__NodeDef *def, const char *name,
                     rheos_attr_value value, rheos_status **status) {
  Tensorflow__NodeDef__AttrEntry *entry = rheos__arena_alloc(&g->arena, sizeof *entry);
  if (entry == NULL || *status != NULL) return false;
  tensorflow__node_def__attr_entry__init(entry);
  entry->key = (char *)(uintptr_t)name;
  *status = rheos__attr_to_proto(&value, &g->arena, &entry->value);
  def->attr[def->n_attr++] = entry;
  return *status == NULL;
}

// A node of two attributes: `dtype_name`, and `name` with a value.
static rheos_status *put_made(graph_writer *g, rheos__buffer *out, Tensorflow__NodeDef *def,
                              const char *dtype_name, rheos_dtype dtype, const char *name,
                              rheos_attr_value value) {
  def->attr = rheos__arena_alloc(&g->arena, 2 * sizeof *def->attr);
  rheos_status *status = NULL;
  const rheos_attr_value type = {.kind = RHEOS_ATTR_TYPE, .type = dtype};
  if (def->name == NULL || def->attr == NULL || !add_attr(g, def, dtype_name, type, &status) ||
      !add_attr(g, def, name, value, &status)) {
    return status != NULL ? status : rheos__out_of_memory();
  }
  return put_def(g, out, def);
}

static bool is_folded(const rheos__traced_segment *segment, const rheos__traced_op *op) {
  return op->num_outputs == 1 && segment->outputs[op->first_output].constant != NULL &&
         strcmp(op->signature->op->name, "Const") != 0;
}

static rheos_status *put_graph_node(graph_writer *g, rheos__buffer *out, const char *device,
                                    const rheos__traced_segment *segment,
                                    const rheos__traced_op *op) {
  int32_t num_controls;
  const rheos__node *node = rheos__traced_node(segment, op->id, &num_controls);
  Tensorflow__NodeDef def = TENSORFLOW__NODE_DEF__INIT;
  rheos__trace_put_name(&g->text, segment, op->id);
  def.name = take_text(g);
  def.op = (char *)(uintptr_t)op->signature->op->name;
  def.device = (char *)(uintptr_t)device;
  if (is_folded(segment, op)) {
    const rheos__traced_output *output = &segment->outputs[op->first_output];
    def.op = (char *)(uintptr_t)"Const";
    const rheos_attr_value value = {.kind = RHEOS_ATTR_TENSOR, .tensor = output->constant};
    return put_made(g, out, &def, "dtype", (rheos_dtype)output->dtype, "value", value);
  }
  const int32_t num_edges = op->num_edges + num_controls;
  def.input = rheos__arena_alloc(&g->arena, (size_t)num_edges * sizeof *def.input);
  if (def.name == NULL || def.input == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < num_edges; i++) {
    const rheos__edge edge = i < op->num_edges ? segment->edges[op->first_edge + i]
                                               : node->edges[node->num_inputs + i - op->num_edges];
    if (edge.index < 0 && !g->needed[edge.id]) continue;
    rheos__trace_put_input(&g->text, &g->names, edge);
    def.input[def.n_input] = take_text(g);
    if (def.input[def.n_input++] == NULL) return rheos__out_of_memory();
  }
  RHEOS_TRY(rheos__attrs_to_proto(op->signature, op->attrs, &g->arena, &def));
  return put_def(g, out, &def);
}

// Marks what the run needed: what ran, what had an order to keep, and the inputs of these.
static void mark_needed(graph_writer *g, const rheos__traced_segment *segment) {
  for (int32_t i = 0; i < segment->num_fetches; i++) g->needed[segment->fetches[i].id] = true;
  for (int32_t i = segment->num_ops; i-- > 0;) {
    const rheos__traced_op *op = &segment->ops[i];
    if (op->runs || op->num_outputs == 0) g->needed[op->id] = true;
    if (!g->needed[op->id] || op->is_read || is_folded(segment, op)) continue;
    for (int32_t k = 0; k < op->num_edges; k++) {
      g->needed[segment->edges[op->first_edge + k].id] = true;
    }
  }
}

static rheos_status *put_graph_ends(graph_writer *g, rheos__buffer *out, const char *device,
                                    const rheos__traced_segment *segment, bool feeds) {
  const int32_t count = feeds ? segment->num_feeds : segment->num_fetches;
  for (int32_t i = 0; i < count; i++) {
    const rheos__edge edge = feeds ? segment->feeds[i] : segment->fetches[i];
    const rheos__node *node = rheos__inlined_node(segment->inlined, segment->graph, edge.id);
    Tensorflow__NodeDef def = TENSORFLOW__NODE_DEF__INIT;
    def.op = (char *)(uintptr_t)(feeds ? "_Arg" : "_Retval");
    def.device = (char *)(uintptr_t)device;
    rheos__trace_put_end(&g->text, segment, feeds ? "_arg_" : "_retval_", edge, i);
    def.name = take_text(g);
    char *input[1] = {NULL};
    if (!feeds) {
      rheos__trace_put_input(&g->text, &g->names, edge);
      input[0] = take_text(g);
      if (input[0] == NULL) return rheos__out_of_memory();
      def.input = input;
      def.n_input = 1;
    }
    const rheos_attr_value index = {.kind = RHEOS_ATTR_INT, .i = i};
    RHEOS_TRY(put_made(g, out, &def, "T", rheos_dtype_base(node->outputs[edge.index].dtype),
                       "index", index));
  }
  return NULL;
}

static rheos_status *put_graph(const rheos_trace *trace, const rheos__trace_visit *first,
                               const rheos__trace_visit *end, graph_writer *g, rheos__buffer *out) {
  const rheos__traced_segment *segments = trace->segments;
  g->names = rheos__trace_names_of(trace, first);
  g->needed = rheos__alloc_array((size_t)segments[first->segment].inlined->end, sizeof *g->needed);
  if (g->needed == NULL) return rheos__out_of_memory();
  for (const rheos__trace_visit *at = end; at-- > first;) {
    if (at->outer < 0) mark_needed(g, &segments[at->segment]);
  }
  RHEOS_TRY(put_graph_ends(g, out, trace->devices[0], &segments[first->segment], true));
  const rheos__trace_visit *last = first;
  for (const rheos__trace_visit *at = first; at < end; ++at) {
    if (at->outer >= 0) continue;  // a body's nodes are not the graph's
    last = at;
    const rheos__traced_segment *segment = &segments[at->segment];
    for (int32_t i = 0; i < segment->num_ops; i++) {
      const rheos__traced_op *op = &segment->ops[i];
      if (op->is_read || !g->needed[op->id]) continue;
      RHEOS_TRY(put_graph_node(g, out, trace->devices[op->device], segment, op));
    }
  }
  return put_graph_ends(g, out, trace->devices[0], &segments[last->segment], false);
}

static rheos_status *put_partition_graph(const rheos_trace *trace, rheos__buffer *out) {
  const rheos__trace_visit *end = trace->visits + trace->num_visits, *first = end - 1;
  while (first > trace->visits && first[-1].run == end[-1].run) --first;
  graph_writer g = {.text = {0}};
  rheos__arena_init(&g.arena);
  rheos__buffer graph = {0}, versions = {0};
  rheos_status *status = put_graph(trace, first, end, &g, &graph);
  rheos__arena_deinit(&g.arena);
  rheos__buffer_deinit(&g.text);
  rheos__free(g.needed);
  rheos__wire_put_unless_0(&versions, VERSIONS_PRODUCER, RHEOS__GRAPH_PRODUCER);
  rheos__wire_put_message(&graph, GRAPH_VERSIONS, &versions);
  rheos__wire_put_message(out, METADATA_PARTITION_GRAPHS, &graph);
  return status;
}

rheos_status *rheos_trace_to_run_metadata(const rheos_trace *trace, void **out_bytes,
                                          size_t *out_size_bytes) {
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED(trace);
  rheos__buffer out = {0};
  rheos_status *status = trace->failed ? rheos__out_of_memory() : NULL;
  if (status == NULL && trace->num_visits > 0) {
    writer w = {.trace = trace};
    if ((trace->what & RHEOS_TRACE_STEPS) != 0) put_steps(&w, &out);
    if ((trace->what & RHEOS_TRACE_COST_GRAPH) != 0) rheos__put_cost_graph(trace, &out);
    if ((trace->what & RHEOS_TRACE_PARTITION_GRAPHS) != 0)
      status = put_partition_graph(trace, &out);
    rheos__buffer_deinit(&w.name);
    rheos__buffer_deinit(&w.label);
  }
  rheos__buffer_put(&out, trace->told, trace->told_bytes);  // lists grow by what comes behind them
  if (status == NULL && out.failed) status = rheos__out_of_memory();
  if (status == NULL && out.size_bytes > RHEOS__MAX_MESSAGE_BYTES) {
    status = RHEOS_INVALID("RunMetadata cannot be larger than 2GB: it would have %zu bytes",
                           out.size_bytes);
  }
  if (status == NULL) rheos__buffer_extend(&out, 1);  // never NULL, also if it has no bytes
  if (status == NULL && out.failed) status = rheos__out_of_memory();
  if (status != NULL) {
    rheos__buffer_deinit(&out);
    return status;
  }
  *out_bytes = out.data;
  *out_size_bytes = out.size_bytes - 1;
  return NULL;
}
