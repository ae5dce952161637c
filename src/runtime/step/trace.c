// Collecting a trace. Nothing here allocates for an event but by doubling an array.
#include "runtime/step/trace.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#include "graph/graph_impl.h"
#include "plan/entries/flow.h"

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
  trace->told_bytes = 0;
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
  rheos__free(trace->dynamic);
  rheos__free(trace->told);
  rheos__free(trace);
}

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
                                     .is_copy = rheos__is_moved(entry),
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

// The description, latest first; -1 when memory is short. Another segment may lie where one was
// freed, but it was not made in the same nanosecond.
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

// ---- Visits

static void begin_step(void *argument, const rheos__step *step) {
  (void)step;
  rheos_trace *trace = argument;
  ++trace->num_runs;
  trace->first_visit = (int32_t)trace->num_visits;
}

static int32_t visit_of(const rheos_trace *trace, const rheos__place *place) {
  return trace->first_visit + place->visit;
}

// The visit is described if it is new. Until it ends the trace watches what the calling thread
// hands out to a pool.
static void begin_visit(void *argument, const rheos__place *place) {
  rheos_trace *trace = argument;
  // A run that failed left parts of an event that never was.
  while (trace->num_parts > 0 && trace->parts[trace->num_parts - 1].event == trace->num_events) {
    --trace->num_parts;
  }
  rheos__pool_set_watch(&trace->watch);
  if (trace->failed) return;
  const int32_t index = find_or_describe(trace, place->plan, place->segment);
  if (index < 0 || !RHEOS_RESERVE(trace->visits, trace->visit_capacity, trace->num_visits + 1)) {
    trace->failed = true;
    return;
  }
  assert((int32_t)trace->num_visits == visit_of(trace, place));
  const rheos__place *outer = place->outer;
  const int64_t now = rheos__clock_ns();
  trace->visits[trace->num_visits++] =
      (rheos__trace_visit){.segment = index,
                           .run = trace->num_runs - 1,
                           .outer = outer != NULL ? visit_of(trace, outer) : -1,
                           .caller = outer != NULL && outer->segment == NULL ? outer->entry : -1,
                           .start_ns = now,
                           .end_ns = now};
}

static void end_visit(void *argument, const rheos__place *place) {
  (void)argument;
  if (place->outer == NULL) rheos__pool_set_watch(NULL);
}

// ---- Events

static void add_event(rheos_trace *trace, rheos__trace_event event) {
  if (!RHEOS_RESERVE(trace->events, trace->event_capacity, trace->num_events + 1)) {
    trace->failed = true;
    return;
  }
  assert(event.visit >= 0 && event.start_ns <= event.end_ns);
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

// The instruction ran as its shares say: an event with the first one, and parts. Where there is
// none, there was nothing to do, where the visit had come to.
static void add_shared(rheos_trace *trace, const rheos__observed *entry, rheos__trace_event event) {
  rheos__share *shares = entry->shares;
  rheos__trace_visit *visit = &trace->visits[event.visit];
  size_t filled = 0;
  for (size_t i = 0; i < entry->num_shares; ++i) {
    if (shares[i].end_ns != 0) shares[filled++] = shares[i];
  }
  const rheos__share none = {0, visit->end_ns, visit->end_ns};
  const rheos__share first = filled > 0 ? shares[0] : none;
  for (size_t i = 1; i < filled; ++i) {
    note_part(trace, shares[i].thread, shares[i].start_ns, shares[i].end_ns);
  }
  event.thread = first.thread;
  event.start_ns = first.start_ns;
  event.end_ns = first.end_ns;
  for (size_t i = 0; i < filled; ++i) {
    if (shares[i].end_ns > visit->end_ns) visit->end_ns = shares[i].end_ns;
  }
  add_event(trace, event);
}

static rheos_status *add_entry(void *argument, const rheos__observed *entry) {
  rheos_trace *trace = argument;
  if (trace->failed) return NULL;
  const rheos__place *place = entry->place;
  rheos__trace_visit *visit = &trace->visits[visit_of(trace, place)];
  const rheos__traced_segment *segment = &trace->segments[visit->segment];
  rheos__trace_event event = {
      .visit = visit_of(trace, place), .op = place->entry - segment->first_entry, .dynamic = -1};
  assert(event.op >= 0 && event.op < segment->num_ops);
  if (entry->shares != NULL) {
    add_shared(trace, entry, event);
    return NULL;
  }
  const rheos__traced_op *op = &segment->ops[event.op];
  if (op->has_late_shapes) {
    event.dynamic = add_dynamic_shapes(trace, (size_t)op->num_outputs, entry->results);
  }
  event.start_ns = place->segment != NULL ? visit->end_ns : place->begun_ns;
  event.end_ns = visit->end_ns = rheos__clock_ns();
  add_event(trace, event);
  return NULL;
}

static void add_note(void *argument, const char *name, int64_t start_ns, int64_t end_ns) {
  rheos_trace *trace = argument;
  if (trace->failed || trace->num_notes >= RHEOS__MOST_TRACE_NOTES) return;
  if (!RHEOS_RESERVE(trace->notes, trace->note_capacity, trace->num_notes + 1)) {
    trace->failed = true;
    return;
  }
  trace->notes[trace->num_notes++] = (rheos__trace_note){name, start_ns, end_ns};
}

// ---- The whole

rheos_trace *rheos_trace_new(uint32_t what) {
  rheos_trace *trace = rheos__alloc_zeroed(sizeof *trace);
  if (trace == NULL) return NULL;
  trace->what = what;
  trace->epoch_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
  trace->watch = (rheos__pool_watch){note_part, trace};
  trace->observer = (rheos__observer){.step_begins = begin_step,
                                      .visit_begins = begin_visit,
                                      .visit_ended = end_visit,
                                      .entry_ended = add_entry,
                                      .part_ended = add_note,
                                      .argument = trace};
  return trace;
}

rheos_status *rheos__trace_keep_told(rheos_trace *trace, const void *metadata, size_t size_bytes) {
  void *told = rheos__realloc(trace->told, size_bytes + 1);
  if (told == NULL) return rheos__out_of_memory();
  trace->told = told;
  trace->told_bytes = size_bytes;
  if (size_bytes > 0) memcpy(told, metadata, size_bytes);
  return NULL;
}

void rheos__step_observe_by_trace(rheos__step *step, rheos_trace *trace) {
  rheos__step_observe(step, &trace->observer, &trace->observers);
}
