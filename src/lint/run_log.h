// What a log of runs keeps, for the rules that look at it.
#ifndef RHEOS_SRC_LINT_RUN_LOG_H
#define RHEOS_SRC_LINT_RUN_LOG_H

#include <rheos/lint.h>

#include "base/arena.h"
#include "lint/lint.h"

// Nodes that lines of the program added between runs.
typedef struct rheos__added {
  const char *file;
  int32_t line;
  int64_t num_nodes;
  int32_t num_runs;   // before which it added some
  int64_t latest;     // how many it added the last time
  int32_t num_alike;  // of the latest times, how many it added as many
} rheos__added;

// What runs asked for, each set of feeds, fetches and targets once.
typedef struct rheos__asked {
  uint64_t hash;
  int32_t *ids;  // of fetches and targets
  int32_t num_ids;
  int64_t num_runs;
} rheos__asked;

// Runs that one line asked for.
typedef struct rheos__run_line {
  const char *file;
  int32_t line;
  int64_t num_runs, num_new;  // of these, how many asked for what none had asked for
  int64_t num_in_row;         // of the latest runs, how many without one between that did not
} rheos__run_line;

enum { RHEOS__FED_SHAPES = 16 };

// A tensor that was fed.
typedef struct rheos__fed {
  int32_t id, index;
  int64_t num_feeds;
  rheos_shape shapes[RHEOS__FED_SHAPES];  // the first ones that differ
  int64_t times[RHEOS__FED_SHAPES];
  int32_t num_shapes;  // may be one more than are kept
  // Of the first value, if it has real numbers.
  bool has_numbers, is_whole;  // all are whole numbers
  bool sums_to_one;            // most rows, along the last axis
  double least, most;
  bool is_constant;  // every value was one scalar, the same
  double scalar;
} rheos__fed;

struct rheos_run_log {
  rheos_graph *graph;
  rheos__arena arena;
  int32_t num_nodes;  // before the latest run
  int64_t num_runs;
  rheos__added *added;
  size_t num_added, added_capacity;
  rheos__asked *asked;
  size_t num_asked, asked_capacity;
  rheos__run_line *lines;
  size_t num_lines, lines_capacity;
  rheos__fed *fed;
  size_t num_fed, fed_capacity;
};

rheos_graph *rheos__run_log_graph(const rheos_run_log *log);
// Marks what the runs asked for and fed; whether there was any.
bool rheos__run_log_mark(const rheos_run_log *log, const rheos__lint_graph *g);

#endif  // RHEOS_SRC_LINT_RUN_LOG_H
