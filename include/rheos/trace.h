// What runs did, as TensorFlow's RunMetadata and as a trace for Chrome. (A trace is made and filled
// with the functions and the option of session.h.)
#ifndef RHEOS_TRACE_H
#define RHEOS_TRACE_H

#include <rheos/session.h>

#ifdef __cplusplus
extern "C" {
#endif

// With the RHEOS_TRACE_* of session.h: what each operation takes in time and memory.
enum { RHEOS_TRACE_COST_GRAPH = 4 };

// The bytes of a RunMetadata message, for rheos_free(). With RHEOS_TRACE_STEPS it has `step_stats`
// of all runs: for each operation its start, its end, the thread, the label "name = Op(inputs)",
// shapes and bytes of its outputs. Operations that were folded, or whose output is an input's bytes,
// took no time. With RHEOS_TRACE_PARTITION_GRAPHS it has the graph that the latest run ran: `_Arg`
// nodes for feeds, `_Retval` nodes for fetches, constants for what was folded. Work that was split
// over threads has an entry of `step_stats` for each other thread, without outputs, before that of
// the whole. With RHEOS_TRACE_COST_GRAPH it has `cost_graph`: the operations of the latest run with
// their inputs, their outputs' sizes and shapes, and the microseconds that they took there.
RHEOS_STATUS rheos_trace_to_run_metadata(const rheos_trace *trace, void **out_bytes,
                                         size_t *out_size_bytes);

// The runs as JSON in Chrome's trace event format, with a NUL behind it that does not count, for
// rheos_free(): open it in chrome://tracing or Perfetto. Times in microseconds from the first run.
RHEOS_STATUS rheos_trace_to_chrome(const rheos_trace *trace, char **out_text,
                                   size_t *out_text_bytes);

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_TRACE_H
