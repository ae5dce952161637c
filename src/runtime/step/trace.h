// Traces: what runs did and when, op by op.
//
// A trace is an observer of steps. A run leaves one event an instruction, with one look at the
// clock: where an instruction ends, the next one begins. What the events are about (nodes, inputs,
// outputs) is described once for each segment, in numbers and shapes only; names and messages are
// made when a trace is written (format/trace/run_metadata.c). Memory that is short marks the trace
// as failed, which its writers report.
#ifndef RHEOS_SRC_RUNTIME_STEP_TRACE_H
#define RHEOS_SRC_RUNTIME_STEP_TRACE_H

#include <rheos/session.h>

#include "plan/segment/segment.h"
#include "runtime/step/observer.h"
#include "runtime/threads/pool.h"

typedef struct rheos__traced_output {
  rheos_shape shape;  // rank -1: each event tells
  size_t size_bytes;
  rheos_tensor *constant;  // counted; of a folded node, where graphs are asked for
  uint8_t dtype, kind;     // a rheos__value_kind
  bool is_alias;           // the bytes are those of an input
} rheos__traced_output;

typedef struct rheos__traced_op {
  const rheos__signature *signature;
  const rheos__attrs *attrs;  // in the graph's memory; only where graphs are asked for
  int32_t id;                 // of the node that it stands for
  bool is_read;               // no node: the value behind the node's reference `read_index`, or
  bool is_copy;               // its output of that number in another memory
  bool runs;                  // or it was folded, is an alias, or there is nothing to do
  bool has_late_shapes;
  int32_t read_index, device;
  int32_t first_edge, num_edges;  // what it takes, as it was run
  int32_t first_output, num_outputs;
  size_t scratch_bytes;
  float flops, bytes;  // of its kernel
} rheos__traced_op;

// A segment, or a plan on tokens, as far as a trace needs it; it may be gone.
typedef struct rheos__traced_segment {
  const void *what;  // the segment, or the plan's flow
  int64_t made_ns;
  rheos_graph *graph;       // counted
  rheos__inlined *inlined;  // calls in the plan, counted: ids of nodes may be of their bodies
  char *body;  // the function, or the part of a loop or conditional, that it is of; NULL: of none
  rheos__traced_op *ops;  // of the entries from `first_entry`
  rheos__traced_output *outputs;
  rheos__edge *edges;
  int32_t first_entry, num_ops, num_outputs;
  // Of a root: what is fed; of the last one, what is fetched. Else 0 of each.
  rheos__edge *feeds, *fetches;
  int32_t num_feeds, num_fetches;
  rheos__traced_output *fed;
} rheos__traced_segment;

typedef struct rheos__trace_event {
  int32_t visit, op;
  int32_t dynamic;  // the first of its outputs in `dynamic`, or -1
  uint32_t thread;
  int64_t start_ns, end_ns;
} rheos__trace_event;

// Work on an event's instruction that another thread did.
typedef struct rheos__trace_part {
  size_t event;
  uint32_t thread;
  int64_t start_ns, end_ns;
} rheos__trace_part;

typedef struct rheos__trace_visit {  // of a segment or of a plan on tokens, by a run
  int32_t segment, run;
  int32_t outer;   // the visit that calls the body it is of; -1: none
  int32_t caller;  // the op of it that does, if it is one on tokens; else -1: the times tell
  int64_t start_ns, end_ns;
} rheos__trace_visit;

typedef struct rheos__trace_dynamic {
  rheos_shape shape;
  size_t size_bytes;
} rheos__trace_dynamic;

// A part of what a kernel did, such as a stage of a pipeline.
typedef struct rheos__trace_note {
  const char *name;  // stays
  int64_t start_ns, end_ns;
} rheos__trace_note;

// A batch has many elements; those that come later are left out.
enum { RHEOS__MOST_TRACE_NOTES = 1 << 16 };

struct rheos_trace {
  uint32_t what;
  bool failed;
  int64_t epoch_ns;  // what to add to the times for those since 1970
  char (*devices)[128];
  size_t num_devices, device_capacity;
  rheos__traced_segment *segments;
  size_t num_segments, segment_capacity;
  rheos__trace_visit *visits;
  size_t num_visits, visit_capacity;
  rheos__trace_event *events;
  size_t num_events, event_capacity;
  rheos__trace_part *parts;  // in the order of their events
  size_t num_parts, part_capacity;
  rheos__trace_dynamic *dynamic;
  size_t num_dynamic, dynamic_capacity;
  rheos__trace_note *notes;
  size_t num_notes, note_capacity;
  rheos__observer observer;
  rheos__observers observers;  // of the step under way
  rheos__pool_watch watch;
  int32_t num_runs;
  int32_t first_visit;  // of the run under way
  // What a server told of the latest run that it ran, the bytes of a RunMetadata.
  void *told;
  size_t told_bytes;
};

// Keeps a copy of what a server told of a run.
rheos_status *rheos__trace_keep_told(rheos_trace *trace, const void *metadata, size_t size_bytes);

// The trace becomes an observer of the step: of one at a time.
void rheos__step_observe_by_trace(rheos__step *step, rheos_trace *trace);

#endif  // RHEOS_SRC_RUNTIME_STEP_TRACE_H
