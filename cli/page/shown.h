// What `rheos view` shows: a graph, what was logged, or both.
#ifndef RHEOS_CLI_PAGE_SHOWN_H
#define RHEOS_CLI_PAGE_SHOWN_H

#include "../show.h"
#include "../source.h"
#include "../view.h"
#include "logs.h"

typedef struct shown {
  const char *path;  // borrowed
  source source;     // of a graph's file
  bool has_source;
  logs logs;
  bool has_logs;
  message_memory memory;  // of a graph that was logged
  view view;
  bool has_view;
  char *problem;  // why there is nothing
  char *plan;     // as JSON; NULL: none was asked for
  char *diff;     // to what it is compared, likewise
  char *trace;    // of runs, in Chrome's form; NULL: none was named
  size_t trace_bytes;
} shown;

// Finds out what lies at the path and reads it: for a folder with events all below it. `rows` are
// the command's options; `*out_is_misuse`: one does not apply, which was said. After a failure
// there is nothing to free.
rheos_status *shown_load(shown *s, const char *path, const char *tags, const option *rows,
                         size_t num_rows, bool *out_is_misuse);
// Adds what a step of the graph becomes: of the options `tags`, `feed_shapes` and `fetches` count.
rheos_status *shown_plan(shown *s, const show_options *options);
// Adds a trace in Chrome's form, and what the machine can do.
rheos_status *shown_trace(shown *s, const char *path);
// Nothing, and why.
void shown_empty(shown *s, const char *path, const char *problem);
void shown_free(shown *s);

// The page's data, one JSON object. `state` is a text that changes when what lies there does; NULL:
// nobody looks.
void shown_json(const shown *s, const char *state, FILE *out);

#endif  // RHEOS_CLI_PAGE_SHOWN_H
