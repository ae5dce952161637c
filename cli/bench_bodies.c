// `rheos bench`: what functions, loops and branches take.
#include "bench_bodies.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "command.h"
#include "format/trace/trace_calls.h"
#include "graph/graph.h"

enum { MOST_BODIES_SHOWN = 20, NAME_WIDTH = 32 };

static void give_up(void) {
  command_fail_take("bench", rheos__out_of_memory());
  exit(EXIT_FAILURE);
}

// The calling op's body of that name.
static bench_body *body_of(bench_bodies *bodies, const rheos__traced_segment *outer,
                           const rheos__traced_op *op, const char *name) {
  for (size_t i = 0; i < bodies->count; i++) {
    bench_body *at = &bodies->items[i];
    if (at->graph == outer->graph && at->id == op->id && strcmp(at->body, name) == 0) return at;
  }
  char *caller = rheos__inlined_name(outer->inlined, outer->graph, op->id);
  if (caller == NULL) give_up();
  bodies->items = command_realloc(bodies->items, (bodies->count + 1) * sizeof *bodies->items);
  bodies->items[bodies->count] = (bench_body){.body = command_format("%s", name),
                                              .caller = command_format("%s", caller),
                                              .op = command_format("%s", op->signature->op->name),
                                              .graph = outer->graph,
                                              .id = op->id};
  rheos__free(caller);
  return &bodies->items[bodies->count++];
}

static void add_visits(bench_bodies *bodies, const rheos_trace *trace, const size_t *callers,
                       double *own_ns) {
  for (size_t v = 0; v < trace->num_visits; v++) {
    const rheos__trace_visit *visit = &trace->visits[v];
    const rheos__traced_segment *segment = &trace->segments[visit->segment];
    if (callers[v] == RHEOS__NO_EVENT || segment->body == NULL) continue;
    const rheos__trace_event *event = &trace->events[callers[v]];
    const rheos__traced_segment *outer = &trace->segments[trace->visits[event->visit].segment];
    bench_body *body = body_of(bodies, outer, &outer->ops[event->op], segment->body);
    const double ns = (double)(visit->end_ns - visit->start_ns);
    body->runs += segment->first_entry == 0;
    body->ns += ns;
    own_ns[callers[v]] -= ns;
  }
}

void bench_bodies_add(bench_bodies *bodies, const rheos_trace *trace, double *own_ns) {
  for (size_t i = 0; i < trace->num_events; i++) {
    own_ns[i] = (double)(trace->events[i].end_ns - trace->events[i].start_ns);
  }
  rheos__trace_order order = {NULL, NULL};
  if (!rheos__trace_order_init(&order, trace)) give_up();
  size_t *callers = rheos__trace_callers(trace, &order);
  if (callers == NULL) give_up();
  add_visits(bodies, trace, callers, own_ns);
  rheos__free(callers);
  rheos__trace_order_deinit(&order);
}

static int by_time(const void *a, const void *b) {
  const double x = ((const bench_body *)a)->ns, y = ((const bench_body *)b)->ns;
  return (x < y) - (x > y);
}

void bench_bodies_finish(bench_bodies *bodies, size_t num_runs, double scale) {
  for (size_t i = 0; i < bodies->count; i++) {
    bodies->items[i].runs /= (int64_t)num_runs;
    bodies->items[i].ns *= scale / (double)num_runs;
  }
  if (bodies->count > 1) qsort(bodies->items, bodies->count, sizeof *bodies->items, by_time);
}

void bench_bodies_print(const bench_bodies *bodies) {
  if (bodies->count == 0) return;
  printf("\n%-32s %7s %10s %10s  %s\n", "body", "runs", "us", "ns a run", "called by");
  for (size_t i = 0; i < bodies->count && i < MOST_BODIES_SHOWN; i++) {
    const bench_body *at = &bodies->items[i];
    text_print(stdout, at->body, strlen(at->body));
    printf("%*s %7lld %10.1f %10.0f  ",
           strlen(at->body) < NAME_WIDTH ? NAME_WIDTH - (int)strlen(at->body) : 0, "",
           (long long)at->runs, at->ns / 1e3, at->runs > 0 ? at->ns / (double)at->runs : at->ns);
    text_print(stdout, at->caller, strlen(at->caller));
    printf(" (%s)\n", at->op);
  }
  if (bodies->count > MOST_BODIES_SHOWN) {
    printf("and %zu more\n", bodies->count - MOST_BODIES_SHOWN);
  }
}

void bench_bodies_print_json(const bench_bodies *bodies, json *j) {
  json_begin(j, "bodies", '[');
  for (size_t i = 0; i < bodies->count; i++) {
    const bench_body *at = &bodies->items[i];
    json_begin(j, NULL, '{');
    json_text(j, "body", at->body);
    json_text(j, "node", at->caller);
    json_text(j, "op", at->op);
    json_int(j, "runs", at->runs);
    json_number(j, "us", at->ns / 1e3, false);
    json_end(j, '}');
  }
  json_end(j, ']');
}

void bench_bodies_deinit(bench_bodies *bodies) {
  for (size_t i = 0; i < bodies->count; i++) {
    free(bodies->items[i].body);
    free(bodies->items[i].caller);
    free(bodies->items[i].op);
  }
  free(bodies->items);
}
