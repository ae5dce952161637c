// What a run took, from a RunMetadata message.
#ifndef RHEOS_CLI_PAGE_TRACE_H
#define RHEOS_CLI_PAGE_TRACE_H

#include "../table.h"
#include "../text.h"

enum { TRACE_MOST_SLICES = 20000 };

// One operation on one thread.
typedef struct trace_slice {
  int32_t name, device;  // rows of names
  int64_t thread;
  int64_t start_ns, duration_ns;
  int64_t bytes;  // of its outputs
} trace_slice;

typedef struct trace {
  char *tag;
  int64_t step;
  trace_slice *slices;
  size_t count, capacity, left_out;
  name_table names;
} trace;

// Reads bytes that may be hostile; of damaged ones what comes before the damage. `t` gets a copy of
// the tag.
void trace_read(trace *t, const char *tag, int64_t step, const void *bytes, size_t size_bytes);
void trace_deinit(trace *t);
void trace_json(const trace *t, json *j);

// The graph in it that ran, borrowed from the bytes; false: there is none.
bool trace_graph(const void *bytes, size_t size_bytes, const void **out_graph,
                 size_t *out_graph_bytes);

#endif  // RHEOS_CLI_PAGE_TRACE_H
