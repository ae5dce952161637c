// A trace's CostGraphDef: what each operation of the latest run takes.
#ifndef RHEOS_SRC_FORMAT_TRACE_COST_GRAPH_H
#define RHEOS_SRC_FORMAT_TRACE_COST_GRAPH_H

#include "codec/buffer.h"
#include "runtime/step/trace.h"

// Appends it as the field of a RunMetadata. The trace has at least one visit.
void rheos__put_cost_graph(const rheos_trace *trace, rheos__buffer *out);

#endif  // RHEOS_SRC_FORMAT_TRACE_COST_GRAPH_H
