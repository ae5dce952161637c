// A trace for chrome://tracing and Perfetto: one process a device, one row a thread, each step a
// region with its operations inside.
#include <rheos/trace.h>

#include <stdio.h>

#include "format/trace/trace_calls.h"
#include "format/trace/trace_text.h"

typedef struct chrome {
  const rheos_trace *trace;
  rheos__buffer out, text;
  int64_t zero_ns;
  bool any;
} chrome;

static void put(chrome *c, const char *text) { rheos__trace_put_text(&c->out, text); }

// As a JSON string. Names are ASCII; a byte that is not becomes "?".
static void put_quoted(chrome *c, const char *data, size_t size_bytes) {
  put(c, "\"");
  for (size_t i = 0; i < size_bytes; i++) {
    const unsigned char byte = (unsigned char)data[i];
    if (byte == '"' || byte == '\\') put(c, "\\");
    const char plain = byte >= 0x20 && byte < 0x7f ? (char)byte : '?';
    rheos__buffer_put(&c->out, &plain, 1);
  }
  put(c, "\"");
}

static void put_text_member(chrome *c, const char *key, const char *text) {
  put(c, key);
  put_quoted(c, text, strlen(text));
}

static void put_micros(chrome *c, const char *key, int64_t nanos) {
  char text[48];
  snprintf(text, sizeof text, "%lld.%03d", (long long)(nanos / 1000), (int)(nanos % 1000));
  put(c, key);
  put(c, text);
}

static void put_int(chrome *c, const char *key, int64_t value) {
  put(c, key);
  rheos__trace_put_number(&c->out, value);
}

static void begin_event(chrome *c, const char *ph, int64_t pid, int64_t tid) {
  put(c, c->any ? ",\n" : "\n");
  c->any = true;
  put_text_member(c, "{\"ph\": ", ph);
  put_int(c, ", \"pid\": ", pid);
  put_int(c, ", \"tid\": ", tid);
}

static void put_region(chrome *c, const char *category, int64_t pid, int64_t tid, int64_t start_ns,
                       int64_t end_ns) {
  begin_event(c, "X", pid, tid);
  put_text_member(c, ", \"cat\": ", category);
  put_micros(c, ", \"ts\": ", start_ns - c->zero_ns);
  put_micros(c, ", \"dur\": ", end_ns - start_ns);
}

// Of a process or one of its threads.
static void put_title(chrome *c, const char *kind, int64_t pid, int64_t tid, const char *name) {
  begin_event(c, "M", pid, tid);
  put_text_member(c, ", \"name\": ", kind);
  put(c, ", \"args\": {");
  put_text_member(c, "\"name\": ", name);
  put(c, "}}");
}

// What the buffer `text` has been filled with.
static void put_member(chrome *c, const char *key) {
  if (c->text.failed) c->out.failed = true;
  put(c, key);
  put_quoted(c, c->text.data, c->text.size_bytes);
  c->text.size_bytes = 0;
}

static void put_outputs(chrome *c, const rheos__traced_segment *segment,
                        const rheos__trace_event *event) {
  const rheos__traced_op *op = &segment->ops[event->op];
  put(c, ", \"outputs\": \"");
  for (int32_t i = 0; i < op->num_outputs; i++) {
    const rheos__traced_output *output = &segment->outputs[op->first_output + i];
    const bool is_late = output->shape.rank < 0 && event->dynamic >= 0;
    rheos__shape_text text;
    if (i > 0) put(c, ", ");
    put(c, rheos_dtype_name((rheos_dtype)output->dtype));
    put(c, rheos__shape_text_of(
               is_late ? &c->trace->dynamic[event->dynamic + i].shape : &output->shape, &text));
  }
  put(c, "\"");
}

// What the kernel estimates of its arithmetic and memory traffic.
static void put_work(chrome *c, const rheos__traced_op *op) {
  if (op->flops > 0) put_int(c, ", \"flops\": ", (int64_t)op->flops);
  if (op->bytes > 0) put_int(c, ", \"bytes\": ", (int64_t)op->bytes);
}

static const char *name_of(const rheos__traced_op *op) {
  if (op->is_copy) return "copy";
  return op->is_read ? "read variable" : op->signature->op->name;
}

static void put_op(chrome *c, const rheos__traced_segment *segment, const rheos__trace_names *names,
                   const rheos__trace_event *event) {
  const rheos__traced_op *op = &segment->ops[event->op];
  put_region(c, "Op", op->device + 1, event->thread, event->start_ns, event->end_ns);
  put_text_member(c, ", \"name\": ", name_of(op));
  put(c, ", \"args\": {");
  rheos__trace_put_name(&c->text, names->segment, op->id);
  put_member(c, "\"name\": ");
  rheos__trace_put_inputs(&c->text, names, segment, op);
  put_member(c, ", \"inputs\": ");
  put_outputs(c, segment, event);
  put_work(c, op);
  put(c, "}}");
}

// What another thread did of an event's work.
static void put_part(chrome *c, const rheos__traced_segment *segment,
                     const rheos__trace_part *part) {
  const rheos__traced_op *op = &segment->ops[c->trace->events[part->event].op];
  put_region(c, "Part", op->device + 1, part->thread, part->start_ns, part->end_ns);
  put_text_member(c, ", \"name\": ", name_of(op));
  put(c, ", \"args\": {");
  rheos__trace_put_name(&c->text, segment, op->id);
  put_member(c, "\"name\": ");
  put(c, "}}");
}

static void put_step(chrome *c, size_t visit) {
  const rheos__trace_visit *at = &c->trace->visits[visit];
  if (visit > 0 && at[-1].run == at->run) return;
  size_t last = visit;
  while (last + 1 < c->trace->num_visits && at[last + 1 - visit].run == at->run) last++;
  put_region(c, "Step", 1, 0, at->start_ns, c->trace->visits[last].end_ns);
  put_int(c, ", \"name\": \"step ", at->run);
  put(c, "\"}");
}

// A body between the call and what it runs: each trip of a loop is one.
static void put_body(chrome *c, size_t visit, size_t caller) {
  const rheos_trace *trace = c->trace;
  const rheos__trace_visit *at = &trace->visits[visit];
  const rheos__traced_segment *segment = &trace->segments[at->segment];
  if (segment->body == NULL || caller == RHEOS__NO_EVENT) return;
  const rheos__trace_event *event = &trace->events[caller];
  const rheos__traced_segment *outer = &trace->segments[trace->visits[event->visit].segment];
  const rheos__traced_op *op = &outer->ops[event->op];
  put_region(c, "Body", op->device + 1, event->thread, at->start_ns, at->end_ns);
  put_text_member(c, ", \"name\": ", segment->body);
  put(c, ", \"args\": {");
  rheos__trace_put_name(&c->text, outer, op->id);
  put_member(c, "\"called by\": ");
  put(c, "}}");
}

static void put_event(chrome *c, const rheos__traced_segment *segment,
                      const rheos__trace_names *names, size_t event) {
  const rheos_trace *trace = c->trace;
  put_op(c, segment, names, &trace->events[event]);
  for (size_t part = rheos__trace_first_part(trace, event);
       part < trace->num_parts && trace->parts[part].event == event; part++) {
    put_part(c, segment, &trace->parts[part]);
  }
}

static void put_runs(chrome *c) {
  const rheos_trace *trace = c->trace;
  rheos__trace_order order = {NULL, NULL};
  if (!rheos__trace_order_init(&order, trace)) c->out.failed = true;
  size_t *callers = c->out.failed ? NULL : rheos__trace_callers(trace, &order);
  if (callers == NULL) c->out.failed = true;
  for (size_t v = 0; v < trace->num_visits && !c->out.failed; v++) {
    const rheos__trace_visit *visit = &trace->visits[v];
    const rheos__trace_names names = rheos__trace_names_of(trace, visit);
    put_step(c, v);
    put_body(c, v, callers[v]);
    for (size_t i = order.starts[v]; i < order.starts[v + 1]; i++) {
      put_event(c, &trace->segments[visit->segment], &names, order.events[i]);
    }
  }
  rheos__free(callers);
  rheos__trace_order_deinit(&order);
}

// Stages of pipelines, as the step met them: under their consumers, which they hold up.
static void put_notes(chrome *c) {
  for (size_t i = 0; i < c->trace->num_notes; i++) {
    const rheos__trace_note *note = &c->trace->notes[i];
    put_region(c, "Stage", 1, 0, note->start_ns, note->end_ns);
    rheos__trace_put_text(&c->text, "Iterator::");
    rheos__trace_put_text(&c->text, note->name);
    put_member(c, ", \"name\": ");
    put(c, "}");
  }
}

static int64_t first_ns(const rheos_trace *trace) {
  int64_t first = trace->num_visits > 0 ? trace->visits[0].start_ns : INT64_MAX;
  for (size_t i = 0; i < trace->num_notes; i++) {
    if (trace->notes[i].start_ns < first) first = trace->notes[i].start_ns;
  }
  return first < INT64_MAX ? first : 0;
}

rheos_status *rheos_trace_to_chrome(const rheos_trace *trace, char **out_text,
                                    size_t *out_text_bytes) {
  RHEOS_OUT(out_text);
  RHEOS_OUT(out_text_bytes);
  RHEOS_NEED(trace);
  if (trace->failed) return rheos__out_of_memory();
  chrome c = {.trace = trace, .zero_ns = first_ns(trace)};
  put(&c, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
  for (size_t d = 0; d < trace->num_devices; d++) {
    put_title(&c, "process_name", (int64_t)d + 1, 0, trace->devices[d]);
    for (uint32_t thread = 0; thread <= rheos__trace_last_thread(trace); thread++) {
      char name[32];
      put_title(&c, "thread_name", (int64_t)d + 1, thread, rheos__trace_thread_name(thread, name));
    }
  }
  put_runs(&c);
  put_notes(&c);
  put(&c, "\n]}\n");
  rheos__buffer_put(&c.out, "", 1);
  rheos__buffer_deinit(&c.text);
  if (c.out.failed) {
    rheos__buffer_deinit(&c.out);
    return rheos__out_of_memory();
  }
  *out_text = c.out.data;
  *out_text_bytes = c.out.size_bytes - 1;
  return NULL;
}
