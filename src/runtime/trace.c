// Collecting a trace. Nothing here allocates for an event but by doubling an array.
#include "runtime/trace.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#include "graph/graph_impl.h"
#include "plan/flow.h"

static int64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// ---- The trace

// Of the event that is added next; the pool calls this from one thread at a time.
static void note_part(void *argument, uint32_t thread, int64_t start_ns, int64_t end_ns) {
  rheos_trace *trace = argument;
  if (!RHEOS_RESERVE(trace->parts, trace->part_capacity, trace->num_parts + 1)) {
    trace->failed = true;
    return;
  }
  trace->parts[trace->num_parts++] =
      (rheos__trace_part){trace->num_events, thread, start_ns, end_ns};
}

rheos_trace *rheos_trace_new(uint32_t what) {
  rheos_trace *trace = rheos__alloc_zeroed(sizeof *trace);
  if (trace == NULL) return NULL;
  trace->what = what;
  trace->epoch_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
  trace->visit = trace->op = -1;
  trace->watch = (rheos__pool_watch){note_part, trace};
  return trace;
}

static void segment_deinit(rheos__traced_segment *segment) {
  for (int32_t i = 0; i < segment->num_outputs; ++i) {
    rheos_tensor_unref(segment->outputs[i].constant);
  }
  rheos__inlined_unref(segment->inlined);
  rheos_graph_unref(segment->graph);
  rheos__free(segment->body);
  rheos__free(segment->ops);
  rheos__free(segment->outputs);
  rheos__free(segment->edges);
  rheos__free(segment->feeds);
  rheos__free(segment->fetches);
  rheos__free(segment->fed);
}

void rheos_trace_clear(rheos_trace *trace) {
  if (trace == NULL) return;
  trace->failed = false;
  trace->num_events = trace->num_visits = trace->num_dynamic = trace->num_parts = 0;
  trace->num_notes = 0;
  trace->num_runs = 0;
  trace->visit = trace->op = -1;
}

void rheos_trace_free(rheos_trace *trace) {
  if (trace == NULL) return;
  for (size_t i = 0; i < trace->num_segments; ++i) segment_deinit(&trace->segments[i]);
  rheos__free(trace->segments);
  rheos__free(trace->devices);
  rheos__free(trace->visits);
  rheos__free(trace->events);
  rheos__free(trace->parts);
  rheos__free(trace->notes);
  rheos__free(trace->marks);
  rheos__free(trace->dynamic);
  rheos__free(trace);
}

void rheos__trace_begin_run(rheos_trace *trace) { ++trace->num_runs; }

// ---- Descriptions

static int32_t device_index(rheos_trace *trace, const char *name) {
  for (size_t i = 0; i < trace->num_devices; ++i) {
    if (strcmp(trace->devices[i], name) == 0) return (int32_t)i;
  }
  if (!RHEOS_RESERVE(trace->devices, trace->device_capacity, trace->num_devices + 1)) return -1;
  char *device = trace->devices[trace->num_devices];
  size_t length = strnlen(name, sizeof trace->devices[0] - 1);
  memcpy(device, name, length);
  device[length] = '\0';
  return (int32_t)trace->num_devices++;
}

static void describe_value(const rheos__segment *segment, int32_t index, bool keep_constant,
                           rheos__traced_output *out) {
  const rheos__value *value = &segment->values[index - segment->first_value];
  *out = (rheos__traced_output){.shape = RHEOS_UNKNOWN_SHAPE,
                                .dtype = value->dtype,
                                .kind = value->kind,
                                .is_alias = value->root != index};
  const rheos_shape *shape = value->shape;
  if (shape == NULL && value->kind == RHEOS__VALUE_CONSTANT) shape = &value->constant->shape;
  if (shape != NULL) {
    int64_t count;
    out->shape = *shape;
    rheos_status *status =
        rheos__shape_size((rheos_dtype)value->dtype, shape, &count, &out->size_bytes);
    rheos_status_free(status);  // a size that is not known stays 0
  }
  if (keep_constant && value->kind == RHEOS__VALUE_CONSTANT) {
    out->constant = rheos_tensor_ref(value->constant);
  }
}

// On tokens nothing is known before the run.
static rheos__traced_output describe_token(const rheos__plan *plan, int32_t index) {
  const rheos_dtype dtype = (rheos_dtype)plan->dtypes[index];
  return (rheos__traced_output){
      .shape = RHEOS_UNKNOWN_SHAPE,
      .dtype = (uint8_t)rheos_dtype_base(dtype),
      .kind = rheos_dtype_is_ref(dtype) ? RHEOS__VALUE_NONE : RHEOS__VALUE_TENSOR};
}

// Attributes that a rule of the rewriter made live as long as the plan: the graph keeps equal ones.
static bool keep_attrs(rheos_graph *graph, const rheos__node *node, rheos__traced_op *op) {
  if (op->attrs == NULL || op->attrs == node->attrs) return true;
  rheos__graph_lock(graph);
  op->attrs = rheos__intern_attrs(graph, op->attrs->items, op->attrs->count);
  rheos__graph_unlock(graph);
  return op->attrs != NULL;
}

// `segment` NULL: the plan runs on tokens.
static bool describe_ops(rheos_trace *trace, const rheos__plan *plan, const rheos__segment *segment,
                         rheos__traced_segment *out) {
  const bool with_graph = (trace->what & RHEOS_TRACE_PARTITION_GRAPHS) != 0;
  const int32_t end = segment != NULL ? segment->end_entry : plan->num_entries;
  out->num_ops = end - out->first_entry;
  int32_t num_outputs = 0, num_edges = 0;
  for (int32_t i = 0; i < out->num_ops; ++i) {
    num_outputs += plan->entries[out->first_entry + i].num_outputs;
    num_edges += plan->entries[out->first_entry + i].num_inputs;
  }
  out->ops = rheos__alloc_array((size_t)out->num_ops, sizeof *out->ops);
  out->outputs = rheos__alloc_array((size_t)num_outputs, sizeof *out->outputs);
  out->edges = rheos__alloc_array((size_t)num_edges, sizeof *out->edges);
  if (out->ops == NULL || out->outputs == NULL || out->edges == NULL) return false;
  num_edges = 0;
  const rheos__device *described = NULL;
  int32_t device = 0;
  for (int32_t i = 0; i < out->num_ops; ++i) {
    const rheos__entry *entry = &plan->entries[out->first_entry + i];
    const int32_t id = rheos__entry_node(plan, entry);
    const rheos__node *node = rheos__plan_node(plan, id);
    if (rheos__entry_device(plan, entry) != described) {
      described = rheos__entry_device(plan, entry);
      device = device_index(trace, described->name);
    }
    if (device < 0) return false;
    out->ops[i] = (rheos__traced_op){.signature = entry->signature,
                                     .attrs = entry->attrs,
                                     .id = id,
                                     .is_read = entry->kind != RHEOS__ENTRY_NODE,
                                     .is_copy = entry->kind == RHEOS__ENTRY_COPY,
                                     .read_index = entry->read_index,
                                     .device = device,
                                     .first_edge = num_edges,
                                     .num_edges = entry->num_inputs,
                                     .first_output = out->num_outputs,
                                     .num_outputs = entry->num_outputs};
    if (with_graph && !keep_attrs(plan->graph, node, &out->ops[i])) return false;
    for (int32_t k = 0; k < entry->num_inputs; ++k) {
      out->edges[num_edges++] = plan->origins[plan->operands[entry->first_operand + k]];
    }
    for (int32_t k = 0; k < entry->num_outputs; ++k) {
      rheos__traced_output *output = &out->outputs[out->num_outputs++];
      if (segment != NULL) {
        describe_value(segment, entry->first_value + k, with_graph, output);
      } else {
        *output = describe_token(plan, entry->first_value + k);
      }
    }
  }
  return true;
}

static void describe_instructions(const rheos__segment *segment, rheos__traced_segment *out) {
  for (int32_t i = 0; i < segment->num_instructions; ++i) {
    const rheos__instruction *in = &segment->instructions[i];
    rheos__traced_op *op = &out->ops[in->entry - segment->first_entry];
    op->runs = true;
    op->scratch_bytes = in->scratch_bytes;
    op->flops = in->flops;
    op->bytes = in->bytes;
    for (int32_t k = 0; k < op->num_outputs; ++k) {
      const rheos__traced_output *output = &out->outputs[op->first_output + k];
      if (output->shape.rank < 0 && output->kind != RHEOS__VALUE_NONE) op->has_late_shapes = true;
    }
  }
}

static void describe_entries_on_tokens(rheos__traced_segment *out) {
  for (int32_t i = 0; i < out->num_ops; ++i) {
    out->ops[i].runs = true;
    out->ops[i].has_late_shapes = true;
  }
}

static bool describe_ends(const rheos__plan *plan, const rheos__segment *segment,
                          rheos__traced_segment *out) {
  const bool first = out->first_entry == 0;
  const bool last = out->first_entry + out->num_ops == plan->num_entries;
  const size_t num_feeds = first ? (size_t)plan->num_feeds : 0;
  const size_t num_fetches = last ? (size_t)plan->num_fetches : 0;
  out->feeds = rheos__alloc_array(num_feeds, sizeof *out->feeds);
  out->fed = rheos__alloc_array(num_feeds, sizeof *out->fed);
  out->fetches = rheos__alloc_array(num_fetches, sizeof *out->fetches);
  if (out->feeds == NULL || out->fed == NULL || out->fetches == NULL) return false;
  for (size_t i = 0; i < num_feeds; ++i) {
    out->feeds[i] = plan->feeds[i];
    if (segment != NULL) {
      describe_value(segment, (int32_t)i, false, &out->fed[i]);
    } else {
      out->fed[i] = describe_token(plan, (int32_t)i);
    }
  }
  for (size_t i = 0; i < num_fetches; ++i) {
    const rheos__edge origin = plan->origins[plan->fetch_values[i]];
    const bool is_inlined = rheos__inlined_call_of(plan->inlined, origin.id) != NULL;
    out->fetches[i] = is_inlined ? origin : plan->fetches[i];
  }
  out->num_feeds = (int32_t)num_feeds;
  out->num_fetches = (int32_t)num_fetches;
  return true;
}

static bool describe_body(const rheos__plan *plan, rheos__traced_segment *out) {
  const char *body = plan->context.body;
  if (body != NULL) out->body = rheos__strdup(body);
  return body == NULL || out->body != NULL;
}

static bool describe(rheos_trace *trace, const rheos__plan *plan, const rheos__segment *segment) {
  if (!RHEOS_RESERVE(trace->segments, trace->segment_capacity, trace->num_segments + 1)) {
    return false;
  }
  rheos__traced_segment *out = &trace->segments[trace->num_segments];
  *out = (rheos__traced_segment){
      .what = segment != NULL ? (const void *)segment : (const void *)plan->flow,
      .made_ns = segment != NULL ? segment->made_ns : plan->flow->made_ns,
      .graph = rheos_graph_ref(plan->graph),
      .inlined = rheos__inlined_ref(plan->inlined),
      .first_entry = segment != NULL ? segment->first_entry : 0};
  if (!describe_body(plan, out) || !describe_ops(trace, plan, segment, out) ||
      !describe_ends(plan, segment, out)) {
    segment_deinit(out);
    return false;
  }
  if (segment != NULL) {
    describe_instructions(segment, out);
  } else {
    describe_entries_on_tokens(out);
  }
  ++trace->num_segments;
  return true;
}

// The description, latest first; -1 when memory is short. Another segment may lie where one was freed, but it
// was not made in the same nanosecond.
static int32_t find_or_describe(rheos_trace *trace, const rheos__plan *plan,
                                const rheos__segment *segment) {
  const void *what = segment != NULL ? (const void *)segment : (const void *)plan->flow;
  const int64_t made_ns = segment != NULL ? segment->made_ns : plan->flow->made_ns;
  for (size_t i = trace->num_segments; i-- > 0;) {
    const rheos__traced_segment *at = &trace->segments[i];
    if (at->what == what && at->made_ns == made_ns) return (int32_t)i;
  }
  return describe(trace, plan, segment) ? (int32_t)trace->num_segments - 1 : -1;
}

// ---- Events

static int64_t enter(rheos_trace *trace, const rheos__plan *plan, const rheos__segment *segment) {
  // A run that failed left parts of an event that never was.
  while (trace->num_parts > 0 && trace->parts[trace->num_parts - 1].event == trace->num_events) {
    --trace->num_parts;
  }
  rheos__pool_set_watch(&trace->watch);
  const int32_t index = find_or_describe(trace, plan, segment);
  if (index < 0 || !RHEOS_RESERVE(trace->visits, trace->visit_capacity, trace->num_visits + 1)) {
    trace->failed = true;
    return 0;
  }
  const int64_t now = rheos__clock_ns();
  trace->visits[trace->num_visits] = (rheos__trace_visit){.segment = index,
                                                          .run = trace->num_runs - 1,
                                                          .outer = trace->visit,
                                                          .caller = trace->op,
                                                          .start_ns = now,
                                                          .end_ns = now};
  trace->visit = (int32_t)trace->num_visits++;
  trace->op = -1;
  return now;
}

int64_t rheos__trace_enter(rheos_trace *trace, const rheos__segment *segment) {
  return enter(trace, segment->plan, segment);
}

int64_t rheos__trace_enter_flow(rheos_trace *trace, const rheos__plan *plan) {
  return enter(trace, plan, NULL);
}

void rheos__trace_leave(rheos_trace *trace, int32_t outer) {
  trace->op = trace->visit >= 0 ? trace->visits[trace->visit].caller : -1;
  trace->visit = outer;
  if (outer < 0) rheos__pool_set_watch(NULL);
}

// An event of the visit under way.
static void add_event(rheos_trace *trace, rheos__trace_event event) {
  if (!RHEOS_RESERVE(trace->events, trace->event_capacity, trace->num_events + 1)) {
    trace->failed = true;
    return;
  }
  assert(trace->visit >= 0 && event.start_ns <= event.end_ns);
  event.visit = trace->visit;
  trace->events[trace->num_events++] = event;
}

static int32_t add_dynamic_shapes(rheos_trace *trace, size_t count, rheos_tensor *const *results) {
  const size_t first = trace->num_dynamic;
  if (!RHEOS_RESERVE(trace->dynamic, trace->dynamic_capacity, first + count)) {
    trace->failed = true;
    return -1;
  }
  for (size_t i = 0; i < count; ++i) {
    const rheos_tensor *tensor = results != NULL ? results[i] : NULL;
    rheos__trace_dynamic dynamic = {.shape = RHEOS_UNKNOWN_SHAPE};
    if (tensor != NULL) dynamic = (rheos__trace_dynamic){tensor->shape, tensor->size_bytes};
    trace->dynamic[trace->num_dynamic++] = dynamic;
  }
  return (int32_t)first;
}

int64_t rheos__trace_add(rheos_trace *trace, const rheos__segment *segment,
                         const rheos__instruction *in, rheos_tensor *const *tensors,
                         int64_t start_ns) {
  if (trace->failed) return 0;
  rheos__trace_visit *visit = &trace->visits[trace->visit];
  const int32_t op = in->entry - segment->first_entry;
  assert(op >= 0 && op < segment->end_entry - segment->first_entry);
  const bool is_dynamic = trace->segments[visit->segment].ops[op].has_late_shapes;
  rheos_tensor *const *results = tensors + in->first_value;
  const int32_t dynamic =
      is_dynamic ? add_dynamic_shapes(trace, (size_t)in->num_outputs, results) : -1;
  const int64_t now = rheos__clock_ns();
  visit->end_ns = now;
  add_event(trace, (rheos__trace_event){
                       .op = op, .dynamic = dynamic, .start_ns = start_ns, .end_ns = now});
  return now;
}

void rheos__trace_add_flow(rheos_trace *trace, const rheos__plan *plan, int32_t entry,
                           rheos_tensor *const *results, int64_t start_ns) {
  if (trace->failed) return;
  const int64_t now = rheos__clock_ns();
  trace->visits[trace->visit].end_ns = now;
  const size_t count = (size_t)plan->entries[entry].num_outputs;
  add_event(trace, (rheos__trace_event){.op = entry,
                                        .dynamic = add_dynamic_shapes(trace, count, results),
                                        .start_ns = start_ns,
                                        .end_ns = now});
}

void rheos__trace_note_part(rheos_trace *trace, const char *name, int64_t start_ns,
                            int64_t end_ns) {
  if (trace->failed || trace->num_notes >= RHEOS__MOST_TRACE_NOTES) return;
  if (!RHEOS_RESERVE(trace->notes, trace->note_capacity, trace->num_notes + 1)) {
    trace->failed = true;
    return;
  }
  trace->notes[trace->num_notes++] = (rheos__trace_note){name, start_ns, end_ns};
}

rheos__trace_mark *rheos__trace_begin_marks(rheos_trace *trace, size_t count) {
  rheos__pool_set_watch(NULL);
  if (trace->failed) return NULL;
  if (!RHEOS_RESERVE(trace->marks, trace->mark_capacity, count)) {
    trace->failed = true;
    return NULL;
  }
  memset(trace->marks, 0, count * sizeof *trace->marks);
  return trace->marks;
}

void rheos__trace_add_marks(rheos_trace *trace, const rheos__segment *segment,
                            const rheos__instruction *in, rheos__trace_mark *marks, size_t count,
                            int64_t start_ns) {
  if (trace->failed) return;
  size_t filled = 0;
  for (size_t i = 0; i < count; ++i) {
    if (marks[i].end_ns != 0) marks[filled++] = marks[i];
  }
  if (filled == 0) marks[filled++] = (rheos__trace_mark){0, start_ns, start_ns};
  for (size_t i = 1; i < filled; ++i) {
    note_part(trace, marks[i].thread, marks[i].start_ns, marks[i].end_ns);
  }
  add_event(trace, (rheos__trace_event){.op = in->entry - segment->first_entry,
                                        .dynamic = -1,
                                        .thread = marks[0].thread,
                                        .start_ns = marks[0].start_ns,
                                        .end_ns = marks[0].end_ns});
}

int64_t rheos__trace_end_marks(rheos_trace *trace) {
  rheos__pool_set_watch(&trace->watch);
  const int64_t now = rheos__clock_ns();
  if (!trace->failed) trace->visits[trace->visit].end_ns = now;
  return now;
}
