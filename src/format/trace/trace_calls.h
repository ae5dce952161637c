// Which event of a trace called the body that a visit is of.
#ifndef RHEOS_SRC_FORMAT_TRACE_TRACE_CALLS_H
#define RHEOS_SRC_FORMAT_TRACE_TRACE_CALLS_H

#include "format/trace/trace_order.h"

#define RHEOS__NO_EVENT SIZE_MAX

// By visit, for rheos__free(): the number of the event that called it, RHEOS__NO_EVENT for those
// that a step itself made, and where the call failed before it left an event. NULL when memory is
// short.
size_t *rheos__trace_callers(const rheos_trace *trace, const rheos__trace_order *order);

#endif  // RHEOS_SRC_FORMAT_TRACE_TRACE_CALLS_H
