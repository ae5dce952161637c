// The events of a trace by visit: a body's visits lie inside of that of its caller, whose events go
// on behind theirs.
#ifndef RHEOS_SRC_FORMAT_TRACE_TRACE_ORDER_H
#define RHEOS_SRC_FORMAT_TRACE_TRACE_ORDER_H

#include "runtime/step/trace.h"

typedef struct rheos__trace_order {
  size_t *events;  // their numbers; those of visit v are from starts[v] to before starts[v + 1]
  size_t *starts;
} rheos__trace_order;

// False when memory is short; deinit takes what there is.
bool rheos__trace_order_init(rheos__trace_order *order, const rheos_trace *trace);
void rheos__trace_order_deinit(rheos__trace_order *order);

// The first part of the event, or of a later one.
size_t rheos__trace_first_part(const rheos_trace *trace, size_t event);

#endif  // RHEOS_SRC_FORMAT_TRACE_TRACE_ORDER_H
