// A visit lies inside of the event that called it. Both visits and events of one outer visit are in
// the order of their times: one look at each. On tokens several may be under way at once: there the
// visit tells the op, which runs once at a time, and events are in the order of their ends.
#include "format/trace/trace_calls.h"

// Of the outer visit's events, the one of the op that the visit names.
static size_t find_caller(const rheos_trace *trace, const rheos__trace_order *order,
                          const rheos__trace_visit *visit) {
  size_t first = order->starts[visit->outer], end = order->starts[visit->outer + 1];
  const size_t behind = end;
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (trace->events[order->events[middle]].end_ns < visit->end_ns) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  for (; first < behind; ++first) {
    const rheos__trace_event *event = &trace->events[order->events[first]];
    if (event->op == visit->caller) {
      return event->start_ns <= visit->start_ns ? order->events[first] : RHEOS__NO_EVENT;
    }
  }
  return RHEOS__NO_EVENT;
}

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
    if (visit->caller >= 0) {
      callers[v] = find_caller(trace, order, visit);
      continue;
    }
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
