// What lies in files of events, for the page: curves, histograms, pictures, traces and the graph.
// There is room for so many of each; of more, some are left out evenly (of pictures and traces the
// first).
#ifndef RHEOS_CLI_PAGE_LOGS_H
#define RHEOS_CLI_PAGE_LOGS_H

#include <rheos/base.h>

#include "../options.h"
#include "../text.h"
#include "trace.h"

enum {
  LOGS_MOST_POINTS = 1000,
  LOGS_MOST_HISTOGRAMS = 40,
  LOGS_MOST_PICTURES = 6,
  LOGS_MOST_TRACES = 4,
};

typedef struct log_point {
  int64_t step;
  double wall_time;
  double value;    // of a scalar
  double *limits;  // of a histogram; counts follow
  size_t num_buckets;
  char *picture;  // the file
  size_t picture_bytes;
} log_point;

typedef enum log_kind { LOG_SCALAR, LOG_HISTOGRAM, LOG_PICTURE } log_kind;

typedef struct log_tag {
  char *name;
  log_kind kind;
  log_point *points;
  size_t count, capacity;
  size_t stride, passed;  // each so manieth is kept; how many came since the one that was kept
} log_tag;

// The files of one folder.
typedef struct log_run {
  char *name;  // "train"; of the folder itself ""
  log_tag *tags;
  size_t num_tags, tag_capacity;
  trace *traces;
  size_t num_traces;
} log_run;

typedef struct logs {
  log_run *runs;
  size_t num_runs, run_capacity;
  char *graph;  // a GraphDef; NULL: there is none
  size_t graph_bytes;
  char **problems;  // what could not be read
  size_t num_problems;
} logs;

// Whether a folder, or one in it, has files of events.
bool logs_are_in(const char *folder);
// Reads a file, or all below a folder. What cannot be read goes to `problems`.
rheos_status *logs_read(const char *path, logs *out_logs);
void logs_deinit(logs *l);

void logs_json(const logs *l, json *j, const char *key);

#endif  // RHEOS_CLI_PAGE_LOGS_H
