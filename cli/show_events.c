// Event files: the tags in them, with kinds, steps and last values; graphs and metadata. A file
// that is damaged or still being written is shown up to there.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command.h"
#include "event.pb-c.h"
#include "message.h"
#include "progress.h"
#include "show.h"
#include "status.h"
#include "table.h"

typedef struct summary {
  int64_t num_events, num_graphs, num_meta_graphs, num_logs;
  name_table tags, runs;  // runs: of metadata
  double first_time, last_time;
  char version[64];
} summary;

// ---- Reading

static const char *plugin_kind(const Tensorflow__Summary__Value *value) {
  static const char *const plugins[] = {"scalars",    "images",  "audio",     "text",
                                        "histograms", "hparams", "pr_curves", "mesh"};
  if (value->metadata == NULL || value->metadata->plugin_data == NULL) return "tensor";
  const char *name = value->metadata->plugin_data->plugin_name;
  for (size_t i = 0; i < sizeof plugins / sizeof plugins[0]; i++) {
    if (strcmp(name, plugins[i]) == 0) return plugins[i];
  }
  return "tensor";
}

static const char *kind_of(const Tensorflow__Summary__Value *value) {
  switch (value->value_case) {
    case TENSORFLOW__SUMMARY__VALUE__VALUE_SIMPLE_VALUE: return "scalars";
    case TENSORFLOW__SUMMARY__VALUE__VALUE_IMAGE: return "images";
    case TENSORFLOW__SUMMARY__VALUE__VALUE_HISTO: return "histograms";
    case TENSORFLOW__SUMMARY__VALUE__VALUE_AUDIO: return "audio";
    case TENSORFLOW__SUMMARY__VALUE__VALUE_TENSOR: return plugin_kind(value);
    default: return "other";
  }
}

// A scalar that newer programs write as a tensor.
static bool scalar_of(const Tensorflow__Summary__Value *value, double *out_scalar) {
  if (value->value_case == TENSORFLOW__SUMMARY__VALUE__VALUE_SIMPLE_VALUE) {
    *out_scalar = value->simple_value;
    return true;
  }
  if (value->value_case != TENSORFLOW__SUMMARY__VALUE__VALUE_TENSOR) return false;
  rheos_tensor *tensor = message_tensor(value->tensor);
  const bool is_one = tensor != NULL && rheos_tensor_num_elements(tensor) == 1;
  const rheos_dtype dtype = is_one ? rheos_tensor_dtype(tensor) : RHEOS_INVALID_DTYPE;
  if (dtype == RHEOS_FLOAT) *out_scalar = *(const float *)rheos_tensor_data(tensor);
  if (dtype == RHEOS_DOUBLE) *out_scalar = *(const double *)rheos_tensor_data(tensor);
  rheos_tensor_unref(tensor);
  return dtype == RHEOS_FLOAT || dtype == RHEOS_DOUBLE;
}

static void note_summary(summary *s, const Tensorflow__Event *event) {
  for (size_t i = 0; i < event->summary->n_value; i++) {
    const Tensorflow__Summary__Value *value = event->summary->value[i];
    name_row *row = name_table_row(&s->tags, value->tag, strlen(value->tag));
    const char *kind = kind_of(value);
    // Newer programs say the plugin only once.
    if (row->kind == NULL || strcmp(kind, "tensor") != 0) row->kind = kind;
    name_row_note(row, event->step);
    row->has_last = scalar_of(value, &row->last);
  }
}

static void note_event(summary *s, const Tensorflow__Event *event) {
  if (s->num_events == 0 || event->wall_time < s->first_time) s->first_time = event->wall_time;
  if (s->num_events == 0 || event->wall_time > s->last_time) s->last_time = event->wall_time;
  s->num_events++;
  switch (event->what_case) {
    case TENSORFLOW__EVENT__WHAT_FILE_VERSION:
      snprintf(s->version, sizeof s->version, "%s", event->file_version);
      break;
    case TENSORFLOW__EVENT__WHAT_GRAPH_DEF: s->num_graphs++; break;
    case TENSORFLOW__EVENT__WHAT_META_GRAPH_DEF: s->num_meta_graphs++; break;
    case TENSORFLOW__EVENT__WHAT_SUMMARY: note_summary(s, event); break;
    case TENSORFLOW__EVENT__WHAT_TAGGED_RUN_METADATA: {
      const char *tag = event->tagged_run_metadata->tag;
      name_row_note(name_table_row(&s->runs, tag, strlen(tag)), event->step);
      break;
    }
    case TENSORFLOW__EVENT__WHAT_LOG_MESSAGE:
    case TENSORFLOW__EVENT__WHAT_SESSION_LOG: s->num_logs++; break;
    default: break;
  }
}

static rheos_status *read_event(summary *s, const void *data, size_t size_bytes) {
  message_memory memory = {0};
  ProtobufCMessage *message;
  rheos_status *status =
      message_unpack(&tensorflow__event__descriptor, data, size_bytes, &memory, &message);
  if (status == NULL) note_event(s, (const Tensorflow__Event *)message);
  message_memory_free(&memory);
  return status;
}

static rheos_status *read_file(const char *path, rheos_compression compression, summary *s) {
  rheos_record_reader *reader;
  TRY(rheos_record_reader_open(path, compression, &reader));
  const void *data;
  size_t size_bytes;
  rheos_status *status;
  while ((status = rheos_record_reader_next(reader, &data, &size_bytes)) == NULL) {
    status = read_event(s, data, size_bytes);
    if (status != NULL) break;
    progress_set(s->num_events);
  }
  rheos_record_reader_close(reader);
  if (rheos_status_code(status) != RHEOS_OUT_OF_RANGE) return status;
  rheos_status_free(status);
  return NULL;
}

// Of damaged files what comes before the damage; the first one's error.
static rheos_status *read_events(const source *source, summary *s) {
  progress_begin("reading events", 0);
  rheos_status *first = NULL;
  if (source->num_event_files == 0) first = read_file(source->path, source->compression, s);
  for (size_t i = 0; i < source->num_event_files; i++) {
    rheos_status *status = read_file(source->event_files[i], RHEOS_NO_COMPRESSION, s);
    if (first == NULL) {
      first = status;
    } else {
      rheos_status_free(status);
    }
  }
  progress_end();
  return first;
}

// ---- What is said of them

static void print_time(double seconds) {
  char text[64] = "?";
  struct tm parts;
  if (fabs(seconds) < 1e12) {
    const time_t whole = (time_t)seconds;
    if (gmtime_r(&whole, &parts) != NULL) {
      strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
    }
  }
  fputs(text, stdout);
}

static void print_tags(const name_table *tags) {
  int width = 0;
  for (size_t i = 0; i < tags->count; i++) {
    const int own = show_width(tags->rows[i].name);
    if (own > width && own <= 50) width = own;
  }
  if (tags->count > 0) puts("tags");
  for (size_t i = 0; i < tags->count; i++) {
    const name_row *row = &tags->rows[i];
    fputs("  ", stdout);
    show_padded(row->name, width);
    printf("  %s  %lld, steps %lld to %lld", row->kind, (long long)row->count,
           (long long)row->least, (long long)row->most);
    if (row->has_last) {
      fputs(", last ", stdout);
      text_print_number(stdout, row->last, true);
    }
    putchar('\n');
  }
}

static void print_events(const source *source, const summary *s) {
  fputs("events ", stdout);
  show_name(source->path);
  if (source->num_event_files > 1) printf(" (%zu files)", source->num_event_files);
  fputs("\n  events: ", stdout);
  show_grouped(s->num_events);
  if (s->num_events > 0) {
    fputs(", from ", stdout);
    print_time(s->first_time);
    fputs(" to ", stdout);
    print_time(s->last_time);
  }
  fputs("\n  version: ", stdout);
  show_name(s->version);
  putchar('\n');
  if (s->num_graphs > 0) printf("  graphs: %lld\n", (long long)s->num_graphs);
  if (s->num_meta_graphs > 0) printf("  meta graphs: %lld\n", (long long)s->num_meta_graphs);
  if (s->num_logs > 0) printf("  log messages: %lld\n", (long long)s->num_logs);
  print_tags(&s->tags);
  if (s->runs.count > 0) puts("metadata of runs");
  for (size_t i = 0; i < s->runs.count; i++) {
    fputs("  ", stdout);
    show_name(s->runs.rows[i].name);
    putchar('\n');
  }
}

static void json_events(const source *source, const summary *s, const rheos_status *status) {
  json j = {.out = stdout};
  show_json_head(&j, source);
  json_text(&j, "version", s->version);
  json_int(&j, "events", s->num_events);
  json_int(&j, "files", source->num_event_files > 0 ? (int64_t)source->num_event_files : 1);
  json_number(&j, "first_time", s->first_time, false);
  json_number(&j, "last_time", s->last_time, false);
  json_int(&j, "graphs", s->num_graphs);
  json_int(&j, "meta_graphs", s->num_meta_graphs);
  json_begin(&j, "tags", '{');
  for (size_t i = 0; i < s->tags.count; i++) {
    const name_row *row = &s->tags.rows[i];
    json_begin(&j, row->name, '{');
    json_text(&j, "type", row->kind);
    json_int(&j, "count", row->count);
    json_int(&j, "first_step", row->least);
    json_int(&j, "last_step", row->most);
    if (row->has_last) json_number(&j, "last_value", row->last, true);
    json_end(&j, '}');
  }
  json_end(&j, '}');
  json_begin(&j, "run_metadata", '[');
  for (size_t i = 0; i < s->runs.count; i++) json_text(&j, NULL, s->runs.rows[i].name);
  json_end(&j, ']');
  if (status != NULL) json_text(&j, "error", rheos_status_message(status));
  json_end(&j, '}');
}

int show_events(const source *source, const show_options *options) {
  summary s = {0};
  rheos_status *status = read_events(source, &s);
  if (options->json) {
    json_events(source, &s, status);
  } else {
    print_events(source, &s);
  }
  name_table_deinit(&s.tags);
  name_table_deinit(&s.runs);
  return status == NULL ? EXIT_SUCCESS : command_fail_take(source->path, status);
}
