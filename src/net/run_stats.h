// What a step did, as the tasks that ran it tell: put together by the master, sent on to the
// client.
#ifndef RHEOS_SRC_NET_RUN_STATS_H
#define RHEOS_SRC_NET_RUN_STATS_H

#include <rheos/session.h>

#include "config.pb-c.h"
#include "net/message.h"
#include "worker.pb-c.h"

// Starts as zeros. Once memory is short it stays failed.
typedef struct rheos__run_stats {
  rheos__buffer steps;   // the bytes of a StepStats
  rheos__buffer costs;   // those of a CostGraphDef
  rheos__buffer graphs;  // the field `partition_graphs` of a RunMetadata
} rheos__run_stats;

void rheos__run_stats_deinit(rheos__run_stats *stats);

// What RHEOS_TRACE_* are asked for, 0 for nothing.
uint32_t rheos__traced_by_run_options(const Tensorflow__RunOptions *options);
uint32_t rheos__traced_by_executor_options(const Tensorflow__ExecutorOpts *options);

// Adds what a trace in this process has, and what a worker's reply says.
rheos_status *rheos__run_stats_add_trace(rheos__run_stats *stats, const rheos_trace *trace);
void rheos__run_stats_add_reply(rheos__run_stats *stats, const Tensorflow__RunGraphResponse *reply);

// Appends them to a RunGraphResponse, and as the field of that number, a RunMetadata.
void rheos__run_stats_put_reply(const rheos__run_stats *stats, rheos__message *reply);
void rheos__run_stats_put_metadata(const rheos__run_stats *stats, rheos__message *reply, int field);

#endif  // RHEOS_SRC_NET_RUN_STATS_H
