// Something that can be run: a frozen graph, a graph or meta graph with a checkpoint, a saved
// model.
#ifndef RHEOS_CLI_RUNNER_H
#define RHEOS_CLI_RUNNER_H

#include <rheos/saved_model.h>
#include <rheos/session.h>

#include "options.h"
#include "source.h"

typedef struct runner_options {
  const char *tags;        // of a saved model, "a,b"; NULL: those of its first graph
  const char *checkpoint;  // any name of one; NULL: the one that lies beside a meta graph
  const char *signature;   // NULL: "serving_default" if there is one
  int32_t num_threads;     // 0: one for each core
} runner_options;

typedef struct runner {
  source source;
  rheos_graph *graph;                    // borrowed from the model, if there is one
  rheos_session *session;                // likewise
  rheos_saved_model *model;              // NULL: a graph or a meta graph
  rheos_meta_graph *own_meta_graph;      // of a meta graph file
  const rheos_meta_graph *meta_graph;    // NULL: a plain graph
  const rheos_signature_def *signature;  // NULL: names are those of tensors
} runner;

// Makes graph and session, restores variables. After a failure the runner holds nothing.
rheos_status *runner_open(const char *path, const runner_options *options, runner *out_runner);
void runner_close(runner *r);

// What a graph says by itself of its ends, in arrays for free(): its placeholders, and the
// first outputs of what no operation takes anything from.
void runner_ends(const runner *r, rheos_output **out_inputs, int32_t *out_num_inputs,
                 rheos_output **out_results, int32_t *out_num_results);
// "'a', 'b', ...": the outputs of the signature, or, without one, the results; for free().
char *runner_output_names(const runner *r);

// A tensor by the signature's name for it or by its own. The message names those that are there.
rheos_status *runner_input(const runner *r, const char *name, rheos_output *out_output);
rheos_status *runner_output(const runner *r, const char *name, rheos_output *out_output);

#endif  // RHEOS_CLI_RUNNER_H
