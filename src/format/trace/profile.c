// Sums over the events of traces. The time of an operation that calls bodies is shared out: what
// lies
// inside of a body's visits is the body's.
#include <rheos/trace.h>

#include <string.h>

#include "base/status.h"
#include "format/trace/trace_calls.h"
#include "plan/entries/inline.h"

typedef struct body {
  rheos_profile_body sums;  // whose texts are the profile's
  rheos_graph *graph;       // counted: of the caller, which is node `id` there
  int32_t id;
} body;

struct rheos_profile {
  rheos_profile_op *ops;
  size_t num_ops, op_capacity;
  body *bodies;
  size_t num_bodies, body_capacity;
};

rheos_profile *rheos_profile_new(void) { return rheos__alloc_zeroed(sizeof(rheos_profile)); }

static void body_deinit(body *b) {
  rheos__free((char *)(uintptr_t)b->sums.body);
  rheos__free((char *)(uintptr_t)b->sums.node);
  rheos__free((char *)(uintptr_t)b->sums.op);
  rheos_graph_unref(b->graph);
}

void rheos_profile_free(rheos_profile *profile) {
  if (profile == NULL) return;
  for (size_t i = 0; i < profile->num_ops; i++) {
    rheos__free((char *)(uintptr_t)profile->ops[i].op);
  }
  for (size_t i = 0; i < profile->num_bodies; i++) body_deinit(&profile->bodies[i]);
  rheos__free(profile->ops);
  rheos__free(profile->bodies);
  rheos__free(profile);
}

// ---- Adding

// The sums of an op; NULL when memory is short.
static rheos_profile_op *sums_of(rheos_profile *profile, const char *name) {
  for (size_t i = 0; i < profile->num_ops; i++) {
    if (strcmp(profile->ops[i].op, name) == 0) return &profile->ops[i];
  }
  if (!RHEOS_RESERVE(profile->ops, profile->op_capacity, profile->num_ops + 1)) return NULL;
  const char *copy = rheos__strdup(name);
  if (copy == NULL) return NULL;
  profile->ops[profile->num_ops] = (rheos_profile_op){.op = copy};
  return &profile->ops[profile->num_ops++];
}

static const rheos__traced_segment *segment_of(const rheos_trace *trace, int32_t visit) {
  return &trace->segments[trace->visits[visit].segment];
}

static bool add_events(rheos_profile *profile, const rheos_trace *trace, const int64_t *own_ns) {
  for (size_t i = 0; i < trace->num_events; i++) {
    const rheos__trace_event *event = &trace->events[i];
    const rheos__traced_op *op = &segment_of(trace, event->visit)->ops[event->op];
    rheos_profile_op *sums =
        sums_of(profile, op->is_read ? "(variable read)" : op->signature->op->name);
    if (sums == NULL) return false;
    sums->count++;
    sums->ns += own_ns[i];
    sums->flops += (double)op->flops;
    sums->bytes += (double)op->bytes;
  }
  return true;
}

// The body of that name that an operation of `outer` calls; NULL when memory is short.
static body *body_of(rheos_profile *profile, const rheos__traced_segment *outer,
                     const rheos__traced_op *op, const char *name) {
  for (size_t i = 0; i < profile->num_bodies; i++) {
    body *at = &profile->bodies[i];
    if (at->graph == outer->graph && at->id == op->id && strcmp(at->sums.body, name) == 0) {
      return at;
    }
  }
  if (!RHEOS_RESERVE(profile->bodies, profile->body_capacity, profile->num_bodies + 1)) return NULL;
  body made = {.sums = {.body = rheos__strdup(name),
                        .node = rheos__inlined_name(outer->inlined, outer->graph, op->id),
                        .op = rheos__strdup(op->signature->op->name)},
               .graph = rheos_graph_ref(outer->graph),
               .id = op->id};
  if (made.sums.body == NULL || made.sums.node == NULL || made.sums.op == NULL) {
    body_deinit(&made);
    return NULL;
  }
  profile->bodies[profile->num_bodies] = made;
  return &profile->bodies[profile->num_bodies++];
}

// Gives bodies their time, which goes from that of the events which called them.
static bool add_bodies(rheos_profile *profile, const rheos_trace *trace, const size_t *callers,
                       int64_t *own_ns) {
  for (size_t v = 0; v < trace->num_visits; v++) {
    const rheos__trace_visit *visit = &trace->visits[v];
    const rheos__traced_segment *segment = &trace->segments[visit->segment];
    if (callers[v] == RHEOS__NO_EVENT || segment->body == NULL) continue;
    const rheos__trace_event *event = &trace->events[callers[v]];
    const rheos__traced_segment *outer = segment_of(trace, event->visit);
    body *called = body_of(profile, outer, &outer->ops[event->op], segment->body);
    if (called == NULL) return false;
    called->sums.runs += segment->first_entry == 0;
    called->sums.ns += visit->end_ns - visit->start_ns;
    own_ns[callers[v]] -= visit->end_ns - visit->start_ns;
  }
  return true;
}

static bool add(rheos_profile *profile, const rheos_trace *trace, int64_t *own_ns) {
  for (size_t i = 0; i < trace->num_events; i++) {
    own_ns[i] = trace->events[i].end_ns - trace->events[i].start_ns;
  }
  rheos__trace_order order = {NULL, NULL};
  const bool ordered = rheos__trace_order_init(&order, trace);
  size_t *callers = ordered ? rheos__trace_callers(trace, &order) : NULL;
  const bool added = callers != NULL && add_bodies(profile, trace, callers, own_ns) &&
                     add_events(profile, trace, own_ns);
  rheos__free(callers);
  rheos__trace_order_deinit(&order);
  return added;
}

rheos_status *rheos_profile_add(rheos_profile *profile, const rheos_trace *trace, int64_t *out_ns) {
  if (out_ns != NULL) *out_ns = 0;
  RHEOS_NEED(profile, trace);
  if (trace->failed) return rheos__out_of_memory();
  int64_t *own_ns = rheos__alloc_array(trace->num_events, sizeof *own_ns);
  const bool added = own_ns != NULL && add(profile, trace, own_ns);
  for (size_t i = 0; added && out_ns != NULL && i < trace->num_events; i++) *out_ns += own_ns[i];
  rheos__free(own_ns);
  return added ? NULL : rheos__out_of_memory();
}

// ---- Looking at it

size_t rheos_profile_num_ops(const rheos_profile *profile) {
  return profile != NULL ? profile->num_ops : 0;
}

rheos_profile_op rheos_profile_op_at(const rheos_profile *profile, size_t index) {
  if (index >= rheos_profile_num_ops(profile)) return (rheos_profile_op){.op = NULL};
  return profile->ops[index];
}

size_t rheos_profile_num_bodies(const rheos_profile *profile) {
  return profile != NULL ? profile->num_bodies : 0;
}

rheos_profile_body rheos_profile_body_at(const rheos_profile *profile, size_t index) {
  if (index >= rheos_profile_num_bodies(profile)) return (rheos_profile_body){.body = NULL};
  return profile->bodies[index].sums;
}
