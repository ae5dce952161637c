// Loads what is shown, and writes it as the page's data.
#include "shown.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../command.h"
#include "../files.h"
#include "../message.h"
#include "../peaks.h"
#include "../plan_view.h"
#include "../status.h"
#include "graph_data.h"

// A model is one even if events lie beside it.
static bool is_model(const char *folder) {
  static const char *const names[] = {"saved_model.pb", "saved_model.pbtxt"};
  bool found = false;
  for (size_t i = 0; i < 2; i++) {
    char *path = command_format("%s/%s", folder, names[i]);
    found = found || is_file(path);
    free(path);
  }
  return found;
}

static const Tensorflow__GraphDef empty = TENSORFLOW__GRAPH_DEF__INIT;

static rheos_status *load_logged_graph(shown *s) {
  const Tensorflow__GraphDef *def = &empty;
  if (s->logs.graph != NULL) {
    ProtobufCMessage *message;
    TRY(message_unpack(&tensorflow__graph_def__descriptor, s->logs.graph, s->logs.graph_bytes,
                       &s->memory, &message));
    def = (const Tensorflow__GraphDef *)message;
  }
  if (def->n_node > INT32_MAX / 4) return INVALID("the graph has too many nodes");
  view_init(&s->view, def, s->logs.graph, s->logs.graph_bytes);
  s->has_view = true;
  return NULL;
}

static rheos_status *load_logs(shown *s) {
  TRY(logs_read(s->path, &s->logs));
  s->has_logs = true;
  return load_logged_graph(s);
}

static rheos_status *load(shown *s, const char *tags, const option *rows, size_t num_rows,
                          bool *out_is_misuse) {
  const Tensorflow__MetaGraphDef *meta_graph;
  if (is_folder(s->path) && !is_model(s->path) && logs_are_in(s->path)) {
    if (tags == NULL) return load_logs(s);
    *out_is_misuse = true;
    command_usage_error("view: --tags does not apply to events");
    return INVALID("wrong usage");
  }
  s->has_source = true;
  TRY(source_open(s->path, &s->source));
  if (!source_fits_options(&s->source, "view", rows, num_rows)) {
    *out_is_misuse = true;
    return INVALID("wrong usage");
  }
  if (s->source.kind == SOURCE_EVENTS) return load_logs(s);
  if ((1 << s->source.kind & SOURCE_MODELS) == 0) {
    return INVALID("it is no graph and has none (%s)", source_kind_name(s->source.kind));
  }
  TRY(view_open(&s->view, &s->source, tags, &meta_graph));
  s->has_view = true;
  return NULL;
}

rheos_status *shown_load(shown *s, const char *path, const char *tags, const option *rows,
                         size_t num_rows, bool *out_is_misuse) {
  *s = (shown){.path = path};
  *out_is_misuse = false;
  rheos_status *status = load(s, tags, rows, num_rows, out_is_misuse);
  if (status != NULL) shown_free(s);
  return status;
}

rheos_status *shown_plan(shown *s, const show_options *options) {
  if (s->has_logs) return INVALID("--plan wants a graph or a saved model, not events");
  return plan_view_json(s->path, options, &s->plan);
}

rheos_status *shown_trace(shown *s, const char *path) {
  if (s->has_logs)
    return INVALID("--trace goes with a graph or a saved model, events have their own");
  TRY(file_read(path, &s->trace, &s->trace_bytes));
  if (strstr(s->trace, "traceEvents") != NULL) return NULL;
  return INVALID("it is no trace in Chrome's form");
}

// The trace as a text of JSON, whatever it holds: the page reads it.
static void trace_text_json(const shown *s, json *j) {
  const long num_threads = sysconf(_SC_NPROCESSORS_ONLN);
  const peaks most = peaks_measure(num_threads > 0 ? (int)num_threads : 1);
  json_begin(j, "traced", '{');
  json_number(j, "gflops", most.gflops, false);
  json_number(j, "gbytes", most.gbytes, false);
  json_bytes(j, "text", s->trace, s->trace_bytes);
  json_end(j, '}');
}

void shown_empty(shown *s, const char *path, const char *problem) {
  *s = (shown){.path = path, .has_view = true, .problem = command_format("%s", problem)};
  view_init(&s->view, &empty, NULL, 0);
}

void shown_free(shown *s) {
  free(s->problem);
  rheos_free(s->plan);
  free(s->diff);
  free(s->trace);
  if (s->has_view) view_deinit(&s->view);
  if (s->has_source) source_close(&s->source);
  if (s->has_logs) logs_deinit(&s->logs);
  message_memory_free(&s->memory);
}

void shown_json(const shown *s, const char *state, FILE *out) {
  json j = {.out = out, .is_compact = true};
  graph_data data;
  graph_data_init(&data, &s->view);
  json_begin(&j, NULL, '{');
  json_text(&j, "format", "rheos-view");
  json_int(&j, "version", 1);
  json_text(&j, "title", s->path);
  if (state != NULL) json_text(&j, "live", state);
  if (s->problem != NULL) json_text(&j, "missing", s->problem);
  if (s->view.problem != NULL) json_text(&j, "problem", s->view.problem);
  if (s->plan != NULL) json_value(&j, "plan", s->plan);
  if (s->diff != NULL) json_value(&j, "diff", s->diff);
  if (s->trace != NULL) trace_text_json(s, &j);
  graph_data_json(&data, &j);
  if (s->has_logs) logs_json(&s->logs, &j, "logs");
  json_end(&j, '}');
  graph_data_deinit(&data);
}
