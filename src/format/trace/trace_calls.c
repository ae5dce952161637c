// A visit lies inside of the event that called it, and both visits and events of one outer visit are in
// the order of their times: one look at each.
#include "format/trace/trace_calls.h"

size_t *rheos__trace_callers(const rheos_trace *trace, const rheos__trace_order *order) {
  size_t *callers = rheos__alloc_array(trace->num_visits, sizeof *callers);
  size_t *next = rheos__alloc_array(trace->num_visits, sizeof *next);  // by outer visit: its event
  if (callers == NULL || next == NULL) {
    rheos__free(callers);
    rheos__free(next);
    return NULL;
  }
  for (size_t v = 0; v < trace->num_visits; ++v) next[v] = order->starts[v];
  for (size_t v = 0; v < trace->num_visits; ++v) {
    const rheos__trace_visit *visit = &trace->visits[v];
    callers[v] = RHEOS__NO_EVENT;
    if (visit->outer < 0) continue;
    size_t *at = &next[visit->outer];
    const size_t end = order->starts[visit->outer + 1];
    while (*at < end && trace->events[order->events[*at]].end_ns < visit->end_ns) ++*at;
    if (*at < end && trace->events[order->events[*at]].start_ns <= visit->start_ns) {
      callers[v] = order->events[*at];
    }
  }
  rheos__free(next);
  return callers;
}
