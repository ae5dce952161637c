// A counting sort, which keeps the events of a visit in their order.
#include "format/trace/trace_order.h"

bool rheos__trace_order_init(rheos__trace_order *order, const rheos_trace *trace) {
  order->events = rheos__alloc_array(trace->num_events, sizeof *order->events);
  order->starts = rheos__alloc_array(trace->num_visits + 2, sizeof *order->starts);
  if (order->events == NULL || order->starts == NULL) return false;
  size_t *next =
      order->starts + 1;  // by visit, where its next event goes; at the end where it ends
  for (size_t i = 0; i < trace->num_events; i++) ++next[trace->events[i].visit + 1];
  for (size_t v = 0; v < trace->num_visits; v++) next[v + 1] += next[v];
  for (size_t i = 0; i < trace->num_events; i++) order->events[next[trace->events[i].visit]++] = i;
  return true;
}

void rheos__trace_order_deinit(rheos__trace_order *order) {
  rheos__free(order->events);
  rheos__free(order->starts);
}

size_t rheos__trace_first_part(const rheos_trace *trace, size_t event) {
  size_t first = 0, end = trace->num_parts;
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (trace->parts[middle].event < event) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}
