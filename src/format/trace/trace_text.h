// The names by which a trace speaks of nodes, shared by its writers.
#ifndef RHEOS_SRC_FORMAT_TRACE_TRACE_TEXT_H
#define RHEOS_SRC_FORMAT_TRACE_TRACE_TEXT_H

#include "codec/buffer.h"
#include "runtime/step/trace.h"

// A segment, and what the edges of its graph are called in the run: fed ones are `_Arg` nodes.
typedef struct rheos__trace_names {
  const rheos__traced_segment *segment;
  const rheos__edge *feeds;
  int32_t num_feeds;
} rheos__trace_names;

// All append to the buffer.
void rheos__trace_put_text(rheos__buffer *buffer, const char *text);
void rheos__trace_put_number(rheos__buffer *buffer, int64_t number);
void rheos__trace_put_name(rheos__buffer *buffer, const rheos__traced_segment *segment, int32_t id);
// "_arg_NAME_OUTPUT_INDEX", or the same with "_retval_" before it.
void rheos__trace_put_end(rheos__buffer *buffer, const rheos__traced_segment *segment,
                          const char *before, rheos__edge edge, int32_t index);
// The node that an operation stands for, and how many control inputs are named: of an inlined body
// none are.
const rheos__node *rheos__traced_node(const rheos__traced_segment *segment, int32_t id,
                                      int32_t *out_num_controls);
// As a node's input: "x", "x:1", "^x", or the name of the `_Arg` node.
void rheos__trace_put_input(rheos__buffer *buffer, const rheos__trace_names *names,
                            rheos__edge edge);
// All inputs of an operation, control inputs last, ", " between them.
void rheos__trace_put_inputs(rheos__buffer *buffer, const rheos__trace_names *names,
                             const rheos__traced_segment *segment, const rheos__traced_op *op);

// The highest number of a thread; what threads are called, in `text` if need be.
uint32_t rheos__trace_last_thread(const rheos_trace *trace);
const char *rheos__trace_thread_name(uint32_t thread, char text[32]);

// Where the feeds of a visit are described: the first segment of its run, or of the body's.
rheos__trace_names rheos__trace_names_of(const rheos_trace *trace, const rheos__trace_visit *visit);

#endif  // RHEOS_SRC_FORMAT_TRACE_TRACE_TEXT_H
