// Names of nodes, made when a trace is written: a run only notes numbers.
#include "format/trace/trace_text.h"

#include <stdio.h>

void rheos__trace_put_text(rheos__buffer *buffer, const char *text) {
  rheos__buffer_put(buffer, text, strlen(text));
}

void rheos__trace_put_number(rheos__buffer *buffer, int64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)number);
  rheos__trace_put_text(buffer, text);
}

void rheos__trace_put_name(rheos__buffer *buffer, const rheos__traced_segment *segment,
                           int32_t id) {
  char *name = rheos__inlined_name(segment->inlined, segment->graph, id);
  if (name != NULL)
    rheos__trace_put_text(buffer, name);
  else
    buffer->failed = true;
  rheos__free(name);
}

const rheos__node *rheos__traced_node(const rheos__traced_segment *segment, int32_t id,
                                      int32_t *out_num_controls) {
  const rheos__node *node = rheos__inlined_node(segment->inlined, segment->graph, id);
  const bool is_inlined = rheos__inlined_call_of(segment->inlined, id) != NULL;
  *out_num_controls = is_inlined ? 0 : node->num_control_inputs;
  return node;
}

void rheos__trace_put_end(rheos__buffer *buffer, const rheos__traced_segment *segment,
                          const char *before, rheos__edge edge, int32_t index) {
  rheos__trace_put_text(buffer, before);
  rheos__trace_put_name(buffer, segment, edge.id);
  rheos__trace_put_text(buffer, "_");
  rheos__trace_put_number(buffer, edge.index);
  rheos__trace_put_text(buffer, "_");
  rheos__trace_put_number(buffer, index);
}

void rheos__trace_put_input(rheos__buffer *buffer, const rheos__trace_names *names,
                            rheos__edge edge) {
  for (int32_t i = 0; i < names->num_feeds; i++) {
    if (names->feeds[i].id == edge.id && names->feeds[i].index == edge.index) {
      rheos__trace_put_end(buffer, names->segment, "_arg_", edge, i);
      return;
    }
  }
  if (edge.index < 0) rheos__trace_put_text(buffer, "^");
  rheos__trace_put_name(buffer, names->segment, edge.id);
  if (edge.index <= 0) return;
  rheos__trace_put_text(buffer, ":");
  rheos__trace_put_number(buffer, edge.index);
}

void rheos__trace_put_inputs(rheos__buffer *buffer, const rheos__trace_names *names,
                             const rheos__traced_segment *segment, const rheos__traced_op *op) {
  int32_t num_controls;
  const rheos__node *node = rheos__traced_node(names->segment, op->id, &num_controls);
  if (op->is_read || node->signature != op->signature) num_controls = 0;
  for (int32_t i = 0; i < op->num_edges + num_controls; i++) {
    if (i > 0) rheos__trace_put_text(buffer, ", ");
    rheos__trace_put_input(buffer, names,
                           i < op->num_edges ? segment->edges[op->first_edge + i]
                                             : node->edges[node->num_inputs + i - op->num_edges]);
  }
}

uint32_t rheos__trace_last_thread(const rheos_trace *trace) {
  uint32_t last = 0;
  for (size_t i = 0; i < trace->num_events; i++) {
    if (trace->events[i].thread > last) last = trace->events[i].thread;
  }
  for (size_t i = 0; i < trace->num_parts; i++) {
    if (trace->parts[i].thread > last) last = trace->parts[i].thread;
  }
  return last;
}

const char *rheos__trace_thread_name(uint32_t thread, char text[32]) {
  if (thread == 0) return "step";
  snprintf(text, 32, "worker %u", (unsigned)thread);
  return text;
}

rheos__trace_names rheos__trace_names_of(const rheos_trace *trace,
                                         const rheos__trace_visit *visit) {
  const rheos__trace_visit *first = visit;
  for (const rheos__trace_visit *at = visit; at >= trace->visits && at->run == visit->run; --at) {
    if (at->outer != visit->outer) continue;  // of a body that one of these called
    if (trace->segments[at->segment].graph != trace->segments[visit->segment].graph) break;
    first = at;
    if (trace->segments[at->segment].first_entry == 0) break;
  }
  const rheos__traced_segment *segment = &trace->segments[first->segment];
  return (rheos__trace_names){segment, segment->feeds, segment->num_feeds};
}
