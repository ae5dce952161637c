// Goes through files of events, each up to where it is damaged or still being written.
#include "logs.h"

#include <rheos/events.h>
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "../files.h"
#include "../status.h"
#include "../wire.h"

enum { MOST_DEPTH = 8, MOST_FILES = 1000 };

// ---- What is kept

static void free_point(log_point *point) {
  free(point->limits);
  free(point->picture);
}

void logs_deinit(logs *l) {
  for (size_t r = 0; r < l->num_runs; r++) {
    log_run *run = &l->runs[r];
    for (size_t t = 0; t < run->num_tags; t++) {
      for (size_t i = 0; i < run->tags[t].count; i++) free_point(&run->tags[t].points[i]);
      free(run->tags[t].points);
      free(run->tags[t].name);
    }
    for (size_t t = 0; t < run->num_traces; t++) trace_deinit(&run->traces[t]);
    free(run->tags);
    free(run->traces);
    free(run->name);
  }
  for (size_t i = 0; i < l->num_problems; i++) free(l->problems[i]);
  free(l->problems);
  free(l->runs);
  free(l->graph);
}

static void add_problem_take(logs *l, const char *path, rheos_status *status) {
  l->problems = command_realloc(l->problems, (l->num_problems + 1) * sizeof *l->problems);
  l->problems[l->num_problems++] = command_format("%s: %s", path, rheos_status_message(status));
  rheos_status_free(status);
}

static void set_graph(logs *l, const void *bytes, size_t size_bytes) {
  free(l->graph);
  l->graph = command_alloc(size_bytes);
  if (size_bytes > 0) memcpy(l->graph, bytes, size_bytes);
  l->graph_bytes = size_bytes;
}

static log_tag *tag_of(log_run *run, const char *name, log_kind kind) {
  for (size_t i = 0; i < run->num_tags; i++) {
    if (run->tags[i].kind == kind && strcmp(run->tags[i].name, name) == 0) return &run->tags[i];
  }
  if (run->num_tags == run->tag_capacity) {
    run->tag_capacity = 2 * run->tag_capacity + 8;
    run->tags = command_realloc(run->tags, run->tag_capacity * sizeof *run->tags);
  }
  log_tag *tag = &run->tags[run->num_tags++];
  *tag = (log_tag){.name = command_format("%s", name), .kind = kind, .stride = 1};
  return tag;
}

// Where there is no more room every second point goes, but the last one stays.
static void thin_out(log_tag *tag) {
  size_t kept = 0;
  for (size_t i = 0; i < tag->count; i++) {
    if (i % 2 == 0) {
      tag->points[kept++] = tag->points[i];
    } else {
      free_point(&tag->points[i]);
    }
  }
  tag->count = kept;
  tag->stride *= 2;
}

static void add_point(log_tag *tag, log_point point) {
  static const size_t most[] = {LOGS_MOST_POINTS, LOGS_MOST_HISTOGRAMS, LOGS_MOST_PICTURES};
  // The newest one is always there: one that is not to stay gives its place to the next.
  if (tag->count > 0 && tag->passed++ % tag->stride != 0) {
    free_point(&tag->points[--tag->count]);
  }
  if (tag->count == most[tag->kind] && tag->kind == LOG_PICTURE) {
    free_point(&tag->points[0]);
    memmove(tag->points, tag->points + 1, --tag->count * sizeof *tag->points);
  } else if (tag->count == most[tag->kind]) {
    thin_out(tag);
  }
  if (tag->count == tag->capacity) {
    tag->capacity = 2 * tag->capacity + 8;
    tag->points = command_realloc(tag->points, tag->capacity * sizeof *tag->points);
  }
  tag->points[tag->count++] = point;
}

// ---- Events

static void note_histogram(log_run *run, const rheos_event *event,
                           const rheos_summary_value *value) {
  const size_t count = value->histogram.num_buckets;
  log_point point = {.step = event->step, .wall_time = event->wall_time, .num_buckets = count};
  point.limits = command_alloc(2 * count * sizeof *point.limits);
  for (size_t i = 0; i < count; i++) {
    point.limits[i] = value->histogram.bucket_limits[i];
    point.limits[count + i] = value->histogram.buckets[i];
  }
  add_point(tag_of(run, value->tag, LOG_HISTOGRAM), point);
}

static void note_picture(log_run *run, const rheos_event *event, const char *tag,
                         const void *encoded, size_t size_bytes) {
  log_point point = {.step = event->step, .wall_time = event->wall_time};
  point.picture = command_alloc(size_bytes);
  point.picture_bytes = size_bytes;
  if (size_bytes > 0) memcpy(point.picture, encoded, size_bytes);
  add_point(tag_of(run, tag, LOG_PICTURE), point);
}

static void note_trace(logs *l, log_run *run, const char *tag, int64_t step, const void *bytes,
                       size_t size_bytes) {
  const void *graph;
  size_t graph_bytes;
  if (run->num_traces == LOGS_MOST_TRACES) {
    trace_deinit(&run->traces[0]);
    memmove(run->traces, run->traces + 1, --run->num_traces * sizeof *run->traces);
  }
  run->traces = command_realloc(run->traces, LOGS_MOST_TRACES * sizeof *run->traces);
  trace *t = &run->traces[run->num_traces];
  trace_read(t, tag, step, bytes, size_bytes);
  if (t->count > 0) {
    run->num_traces++;
  } else {
    trace_deinit(t);
  }
  if (l->graph == NULL && trace_graph(bytes, size_bytes, &graph, &graph_bytes)) {
    set_graph(l, graph, graph_bytes);
  }
}

// TensorFlow 2 writes histograms as [buckets, 3] of left, right, count; pictures as strings of
// width, height, files; what a function took as a RunMetadata in a string.
static void note_tensor(logs *l, log_run *run, const rheos_event *event,
                        const rheos_summary_value *value) {
  rheos_tensor *tensor;
  rheos_status *status = rheos_summary_value_tensor(value, &tensor);
  if (status != NULL) {
    rheos_status_free(status);
    return;
  }
  const int64_t count = rheos_tensor_num_elements(tensor);
  const rheos_shape shape = *rheos_tensor_shape(tensor);
  const rheos_dtype dtype = rheos_tensor_dtype(tensor);
  if (strcmp(value->plugin_name, "histograms") == 0 && dtype == RHEOS_DOUBLE && shape.rank == 2 &&
      shape.dims[1] == 3) {
    const double *at = rheos_tensor_data(tensor);
    const size_t buckets = (size_t)shape.dims[0];
    log_point point = {.step = event->step, .wall_time = event->wall_time, .num_buckets = buckets};
    point.limits = command_alloc(2 * buckets * sizeof *point.limits);
    for (size_t i = 0; i < buckets; i++) {
      point.limits[i] = at[3 * i + 1];
      point.limits[buckets + i] = at[3 * i + 2];
    }
    add_point(tag_of(run, value->tag, LOG_HISTOGRAM), point);
  } else if (strcmp(value->plugin_name, "images") == 0 && dtype == RHEOS_STRING && count >= 3) {
    const rheos_string file = ((const rheos_string *)rheos_tensor_data(tensor))[2];
    note_picture(run, event, value->tag, file.data, file.size_bytes);
  } else if (strncmp(value->plugin_name, "graph_run_metadata", 18) == 0 && count >= 1 &&
             dtype == RHEOS_STRING) {
    const rheos_string bytes = *(const rheos_string *)rheos_tensor_data(tensor);
    note_trace(l, run, value->tag, event->step, bytes.data, bytes.size_bytes);
  }
  rheos_tensor_unref(tensor);
}

static void note_value(logs *l, log_run *run, const rheos_event *event,
                       const rheos_summary_value *value) {
  const bool is_scalar_plugin = strcmp(value->plugin_name, "scalars") == 0;
  switch (value->kind) {
    case RHEOS_SUMMARY_SCALAR:
      add_point(
          tag_of(run, value->tag, LOG_SCALAR),
          (log_point){.step = event->step, .wall_time = event->wall_time, .value = value->scalar});
      break;
    case RHEOS_SUMMARY_IMAGE:
      note_picture(run, event, value->tag, value->image.encoded, value->image.encoded_bytes);
      break;
    case RHEOS_SUMMARY_HISTOGRAM: note_histogram(run, event, value); break;
    case RHEOS_SUMMARY_TENSOR:
      if (is_scalar_plugin) {
        add_point(tag_of(run, value->tag, LOG_SCALAR),
                  (log_point){
                      .step = event->step, .wall_time = event->wall_time, .value = value->scalar});
      } else {
        note_tensor(l, run, event, value);
      }
      break;
    default: break;
  }
}

// The field of a message that is itself one.
static wire field_of(const void *bytes, size_t size_bytes, uint32_t number) {
  wire message = wire_of(bytes, size_bytes), found = wire_of(NULL, 0);
  wire_field field;
  bool is_sound;
  while (wire_next(&message, &field, &is_sound)) {
    if (field.number == number && field.type == WIRE_BYTES) found = field.data;
  }
  return found;
}

static rheos_status *note_event(logs *l, log_run *run, rheos_event_reader *reader,
                                const rheos_event *event) {
  const rheos_summary_value *values;
  size_t count;
  if (event->kind == RHEOS_EVENT_GRAPH_DEF) {
    set_graph(l, event->content, event->content_bytes);
  } else if (event->kind == RHEOS_EVENT_META_GRAPH_DEF && l->graph == NULL) {
    const wire graph = field_of(event->content, event->content_bytes, 2);
    set_graph(l, graph.at, wire_size(graph));
  } else if (event->kind == RHEOS_EVENT_TAGGED_RUN_METADATA) {
    const wire tag = field_of(event->content, event->content_bytes, 1);
    const wire metadata = field_of(event->content, event->content_bytes, 2);
    char *name = command_format("%.*s", (int)wire_size(tag), tag.at);
    note_trace(l, run, name, event->step, metadata.at, wire_size(metadata));
    free(name);
  } else if (event->kind == RHEOS_EVENT_SUMMARY) {
    TRY(rheos_event_reader_values(reader, &values, &count));
    for (size_t i = 0; i < count; i++) note_value(l, run, event, &values[i]);
  }
  return NULL;
}

static void read_file(logs *l, log_run *run, const char *path) {
  rheos_event_reader *reader = NULL;
  rheos_event event;
  rheos_status *status = rheos_event_reader_open(path, &reader);
  while (status == NULL) {
    status = rheos_event_reader_next(reader, &event);
    if (status == NULL) status = note_event(l, run, reader, &event);
  }
  rheos_event_reader_close(reader);
  if (rheos_status_code(status) == RHEOS_OUT_OF_RANGE) {
    rheos_status_free(status);
  } else {
    add_problem_take(l, path, status);
  }
}

// ---- Folders

static log_run *add_run(logs *l, const char *name) {
  if (l->num_runs == l->run_capacity) {
    l->run_capacity = 2 * l->run_capacity + 4;
    l->runs = command_realloc(l->runs, l->run_capacity * sizeof *l->runs);
  }
  l->runs[l->num_runs] = (log_run){.name = command_format("%s", name)};
  return &l->runs[l->num_runs++];
}

typedef struct walk {
  logs *logs;  // NULL: it is only looked whether there are files
  size_t num_files;
} walk;

static rheos_status *walk_folder(walk *w, const char *folder, const char *run_name, int depth) {
  char **names;
  size_t count;
  TRY(folder_list(folder, &names, &count));
  log_run *run = NULL;
  for (size_t i = 0; i < count && w->num_files < MOST_FILES; i++) {
    char *path = command_format("%s/%s", folder, names[i]);
    if (strstr(names[i], "tfevents") != NULL && is_file(path)) {
      w->num_files++;
      if (w->logs != NULL && run == NULL) run = add_run(w->logs, run_name);
      if (w->logs != NULL) read_file(w->logs, run, path);
    }
    free(path);
  }
  for (size_t i = 0; i < count && w->num_files < MOST_FILES && depth < MOST_DEPTH; i++) {
    char *path = command_format("%s/%s", folder, names[i]);
    char *below = command_format("%s%s%s", run_name, *run_name != '\0' ? "/" : "", names[i]);
    const bool is_hidden = names[i][0] == '.';
    rheos_status *status = NULL;
    if (!is_hidden && is_folder(path)) status = walk_folder(w, path, below, depth + 1);
    if (status != NULL && w->logs != NULL) {
      add_problem_take(w->logs, path, status);
    } else {
      rheos_status_free(status);
    }
    free(path);
    free(below);
  }
  folder_list_free(names, count);
  return NULL;
}

bool logs_are_in(const char *folder) {
  walk w = {.logs = NULL};
  rheos_status_free(walk_folder(&w, folder, "", 0));
  return w.num_files > 0;
}

rheos_status *logs_read(const char *path, logs *out_logs) {
  *out_logs = (logs){.num_runs = 0};
  if (!is_folder(path)) {
    read_file(out_logs, add_run(out_logs, ""), path);
    return NULL;
  }
  walk w = {.logs = out_logs};
  TRY(walk_folder(&w, path, "", 0));
  return w.num_files > 0 ? NULL : NOT_FOUND("the folder has no events");
}

// ---- As JSON

static void json_scalars(json *j, const log_tag *tag) {
  json_begin(j, "steps", '[');
  for (size_t i = 0; i < tag->count; i++) json_int(j, NULL, tag->points[i].step);
  json_end(j, ']');
  json_begin(j, "times", '[');
  for (size_t i = 0; i < tag->count; i++) {
    json_number(j, NULL, tag->points[i].wall_time, false);
  }
  json_end(j, ']');
  json_begin(j, "values", '[');
  for (size_t i = 0; i < tag->count; i++) json_number(j, NULL, tag->points[i].value, true);
  json_end(j, ']');
}

static void json_point(json *j, const log_point *point) {
  json_begin(j, NULL, '{');
  json_int(j, "step", point->step);
  if (point->picture != NULL) {
    json_base64(j, "file", point->picture, point->picture_bytes);
  } else {
    json_begin(j, "limits", '[');
    for (size_t i = 0; i < point->num_buckets; i++) {
      json_number(j, NULL, point->limits[i], true);
    }
    json_end(j, ']');
    json_begin(j, "counts", '[');
    for (size_t i = 0; i < point->num_buckets; i++) {
      json_number(j, NULL, point->limits[point->num_buckets + i], true);
    }
    json_end(j, ']');
  }
  json_end(j, '}');
}

static void json_run(json *j, const log_run *run) {
  static const char *const kinds[] = {"scalars", "histograms", "images"};
  json_begin(j, NULL, '{');
  json_text(j, "name", run->name);
  json_begin(j, "tags", '[');
  for (size_t t = 0; t < run->num_tags; t++) {
    const log_tag *tag = &run->tags[t];
    json_begin(j, NULL, '{');
    json_text(j, "tag", tag->name);
    json_text(j, "kind", kinds[tag->kind]);
    if (tag->kind == LOG_SCALAR) {
      json_scalars(j, tag);
    } else {
      json_begin(j, "points", '[');
      for (size_t i = 0; i < tag->count; i++) json_point(j, &tag->points[i]);
      json_end(j, ']');
    }
    json_end(j, '}');
  }
  json_end(j, ']');
  json_begin(j, "traces", '[');
  for (size_t t = 0; t < run->num_traces; t++) trace_json(&run->traces[t], j);
  json_end(j, ']');
  json_end(j, '}');
}

void logs_json(const logs *l, json *j, const char *key) {
  json_begin(j, key, '{');
  json_begin(j, "problems", '[');
  for (size_t i = 0; i < l->num_problems; i++) json_text(j, NULL, l->problems[i]);
  json_end(j, ']');
  json_begin(j, "runs", '[');
  for (size_t i = 0; i < l->num_runs; i++) json_run(j, &l->runs[i]);
  json_end(j, ']');
  json_end(j, '}');
}
