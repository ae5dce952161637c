// What runs did, as TensorFlow's RunMetadata, as a trace for Chrome, and added up. (A trace is made
// and
// filled with the functions and the option of session.h.)
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
// shapes and bytes of its outputs. Operations that were folded, or whose output is an input's
// bytes, took no time. With RHEOS_TRACE_PARTITION_GRAPHS it has the graph that the latest run ran:
// `_Arg` nodes for feeds, `_Retval` nodes for fetches, constants for what was folded. Work that was
// split over threads has an entry of `step_stats` for each other thread, without outputs, before
// that of the whole. With RHEOS_TRACE_COST_GRAPH it has `cost_graph`: the operations of the latest
// run with their inputs, their outputs' sizes and shapes, and the microseconds that they took
// there. Of runs on a server it has what that told of the latest one, for all its tasks.
RHEOS_STATUS rheos_trace_to_run_metadata(const rheos_trace *trace, void **out_bytes,
                                         size_t *out_size_bytes);

// The runs as JSON in Chrome's trace event format, with a NUL behind it that does not count, for
// rheos_free(): open it in chrome://tracing or Perfetto. Times in microseconds from the first run.
RHEOS_STATUS rheos_trace_to_chrome(const rheos_trace *trace, char **out_text,
                                   size_t *out_text_bytes);

// ---- What operations and bodies took, added up over any number of traces

typedef struct rheos_profile rheos_profile;

RHEOS_API rheos_profile *rheos_profile_new(void);           // NULL when memory is short
RHEOS_API void rheos_profile_free(rheos_profile *profile);  // NULL is accepted

// Adds the runs of a trace with RHEOS_TRACE_STEPS, which may be cleared then. `*out_ns` (may be
// NULL): what
// their operations took together; what threads did side by side counts for each. After a failure,
// which is
// for want of memory, a part of the trace may have been added.
RHEOS_STATUS rheos_profile_add(rheos_profile *profile, const rheos_trace *trace, int64_t *out_ns);

// The operations of one op. Of those that call bodies, the time beside the bodies' own.
typedef struct rheos_profile_op {
  const char *op;       // "MatMul", "(variable read)"; NULL: there is none
  int64_t count;        // of runs of such operations
  int64_t ns;           // of all of them
  double flops, bytes;  // arithmetic and memory traffic of the kernels, by their estimates
} rheos_profile_op;

RHEOS_API size_t rheos_profile_num_ops(const rheos_profile *profile);
RHEOS_API rheos_profile_op rheos_profile_op_at(const rheos_profile *profile, size_t index);

// The calls of a body from one node.
typedef struct rheos_profile_body {
  const char
      *body;  // the function; "cond", "body", ... of a loop or conditional of version 1; NULL: none
  const char *node;  // that calls it
  const char *op;    // the node's
  int64_t runs;      // of the body
  int64_t ns;        // of all of them
} rheos_profile_body;

RHEOS_API size_t rheos_profile_num_bodies(const rheos_profile *profile);
RHEOS_API rheos_profile_body rheos_profile_body_at(const rheos_profile *profile, size_t index);

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_TRACE_H
