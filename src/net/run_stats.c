#include "net/run_stats.h"

#include <assert.h>

#include <rheos/trace.h>

#include "codec/wire.h"

enum { METADATA_STEPS = 1, METADATA_COSTS = 2, METADATA_GRAPHS = 3 };
enum { REPLY_STEPS = 2, REPLY_COSTS = 3, REPLY_GRAPHS = 4 };

void rheos__run_stats_deinit(rheos__run_stats *stats) {
  rheos__buffer_deinit(&stats->steps);
  rheos__buffer_deinit(&stats->costs);
  rheos__buffer_deinit(&stats->graphs);
}

uint32_t rheos__traced_by_run_options(const Tensorflow__RunOptions *options) {
  if (options == NULL) return 0;
  return (options->trace_level != TENSORFLOW__RUN_OPTIONS__TRACE_LEVEL__NO_TRACE ? RHEOS_TRACE_STEPS
                                                                                 : 0) |
         (options->output_partition_graphs ? RHEOS_TRACE_PARTITION_GRAPHS : 0);
}

uint32_t rheos__traced_by_executor_options(const Tensorflow__ExecutorOpts *options) {
  if (options == NULL) return 0;
  return (options->record_timeline ? RHEOS_TRACE_STEPS : 0) |
         (options->record_costs ? RHEOS_TRACE_COST_GRAPH : 0) |
         (options->record_partition_graphs ? RHEOS_TRACE_PARTITION_GRAPHS : 0);
}

// ---- In

// Messages whose fields are lists are joined by joining their bytes.
static void add_graphs(rheos__run_stats *stats, Tensorflow__GraphDef *const *graphs, size_t count) {
  for (size_t i = 0; i < count; i++) {
    rheos__buffer graph = {0};
    rheos__proto_pack(&graphs[i]->base, &graph);
    rheos__wire_put_message(&stats->graphs, METADATA_GRAPHS, &graph);
  }
}

static void add_parts(rheos__run_stats *stats, const Tensorflow__StepStats *steps,
                      const Tensorflow__CostGraphDef *costs) {
  if (steps != NULL) rheos__proto_pack(&steps->base, &stats->steps);
  if (costs != NULL) rheos__proto_pack(&costs->base, &stats->costs);
}

void rheos__run_stats_add_reply(rheos__run_stats *stats,
                                const Tensorflow__RunGraphResponse *reply) {
  add_parts(stats, reply->step_stats, reply->cost_graph);
  add_graphs(stats, reply->partition_graph, reply->n_partition_graph);
}

// A message that was written in this process.
static void add_metadata(rheos__run_stats *stats, const void *bytes, size_t size_bytes) {
  rheos__wire wire = rheos__wire_of(bytes, size_bytes);
  rheos__wire_field field;
  bool sound;
  while (rheos__wire_next(&wire, &field, &sound)) {
    const size_t size = rheos__wire_size(field.data);
    if (field.number == METADATA_STEPS) rheos__buffer_put(&stats->steps, field.data.at, size);
    if (field.number == METADATA_COSTS) rheos__buffer_put(&stats->costs, field.data.at, size);
    if (field.number == METADATA_GRAPHS) {
      rheos__wire_put_bytes(&stats->graphs, METADATA_GRAPHS, field.data.at, size);
    }
  }
  assert(sound);
}

rheos_status *rheos__run_stats_add_trace(rheos__run_stats *stats, const rheos_trace *trace) {
  void *bytes;
  size_t size_bytes;
  RHEOS_TRY(rheos_trace_to_run_metadata(trace, &bytes, &size_bytes));
  add_metadata(stats, bytes, size_bytes);
  rheos_free(bytes);
  return NULL;
}

// ---- Out

static bool failed(const rheos__run_stats *stats) {
  return stats->steps.failed || stats->costs.failed || stats->graphs.failed;
}

static void put(rheos__message *reply, int field, const rheos__buffer *bytes) {
  if (bytes->size_bytes == 0) return;
  rheos__message_put_bytes(reply, field, bytes->data, bytes->size_bytes);
}

void rheos__run_stats_put_reply(const rheos__run_stats *stats, rheos__message *reply) {
  if (failed(stats)) reply->bytes.failed = true;
  put(reply, REPLY_STEPS, &stats->steps);
  put(reply, REPLY_COSTS, &stats->costs);
  rheos__wire wire = rheos__wire_of(stats->graphs.data, stats->graphs.size_bytes);
  rheos__wire_field graph;
  bool sound;
  while (rheos__wire_next(&wire, &graph, &sound)) {
    rheos__message_put_bytes(reply, REPLY_GRAPHS, graph.data.at, rheos__wire_size(graph.data));
  }
}

void rheos__run_stats_put_metadata(const rheos__run_stats *stats, rheos__message *reply,
                                   int field) {
  rheos__buffer metadata = {0};
  if (stats->steps.size_bytes > 0) {
    rheos__wire_put_bytes(&metadata, METADATA_STEPS, stats->steps.data, stats->steps.size_bytes);
  }
  if (stats->costs.size_bytes > 0) {
    rheos__wire_put_bytes(&metadata, METADATA_COSTS, stats->costs.data, stats->costs.size_bytes);
  }
  rheos__buffer_put(&metadata, stats->graphs.data, stats->graphs.size_bytes);
  if (metadata.failed || failed(stats)) reply->bytes.failed = true;
  rheos__message_put_bytes(reply, field, metadata.data, metadata.size_bytes);
  rheos__buffer_deinit(&metadata);
}
