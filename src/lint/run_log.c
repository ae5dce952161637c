// Keeps what rules want to know of a program's runs: what it asked for, what it fed, what it added
// to the graph in between.
#include "lint/run_log.h"

#include <math.h>
#include <stdio.h>

#include "base/hash.h"
#include "graph/handles.h"
#include "tensor/tensor.h"

rheos_run_log *rheos_run_log_new(rheos_graph *graph) {
  if (graph == NULL) return NULL;
  rheos_run_log *log = rheos__alloc_zeroed(sizeof *log);
  if (log == NULL) return NULL;
  rheos__arena_init(&log->arena);
  log->graph = rheos_graph_ref(graph);
  return log;
}

void rheos_run_log_free(rheos_run_log *log) {
  if (log == NULL) return;
  rheos__free(log->added);
  rheos__free(log->asked);
  rheos__free(log->lines);
  rheos__free(log->fed);
  rheos__arena_deinit(&log->arena);
  rheos_graph_unref(log->graph);
  rheos__free(log);
}

rheos_graph *rheos__run_log_graph(const rheos_run_log *log) { return log->graph; }

// ---- Growth

static bool is_same_file(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static rheos__added *added_by(rheos__added **items, size_t *count, size_t *capacity,
                              const char *file, int32_t line) {
  for (size_t i = 0; i < *count; i++) {
    rheos__added *added = &(*items)[i];
    if (added->line == line && is_same_file(added->file, file)) return added;
  }
  if (!RHEOS_RESERVE(*items, *capacity, *count + 1)) return NULL;
  (*items)[*count] = (rheos__added){.file = file, .line = line};
  return &(*items)[(*count)++];
}

// Counts the nodes from `first` on by the lines that added them; false when memory is short.
static bool count_added(rheos_graph *graph, int32_t first, int32_t num_nodes, rheos__added **items,
                        size_t *count, size_t *capacity) {
  for (int32_t id = first; id < num_nodes; id++) {
    const char *file;
    int32_t line;
    rheos_operation_source((rheos_operation){graph, id}, &file, &line);
    rheos__added *added = added_by(items, count, capacity, file, line);
    if (added == NULL) return false;
    added->num_nodes++;
  }
  return true;
}

static rheos_status *note_growth(rheos_run_log *log) {
  const int32_t now = rheos_graph_num_operations(log->graph), before = log->num_nodes;
  log->num_nodes = now;
  if (log->num_runs == 0 || now == before) return NULL;
  rheos__added *items = NULL;
  size_t count = 0, capacity = 0;
  bool is_short = !count_added(log->graph, before, now, &items, &count, &capacity);
  for (size_t i = 0; i < count && !is_short; i++) {
    rheos__added *added =
        added_by(&log->added, &log->num_added, &log->added_capacity, items[i].file, items[i].line);
    is_short = added == NULL;
    if (is_short) break;
    added->num_nodes += items[i].num_nodes;
    added->num_runs++;
    added->num_alike = added->latest == items[i].num_nodes ? added->num_alike + 1 : 1;
    added->latest = items[i].num_nodes;
  }
  rheos__free(items);
  return is_short ? rheos__out_of_memory() : NULL;
}

// ---- What is asked for

static uint64_t hash_of(const rheos_logged_run *run) {
  uint64_t hash = run->num_fetches;
  for (size_t i = 0; i < run->num_feeds; i++) {
    const rheos_output fed = run->feeds[i].output;
    hash = rheos__hash_mix(rheos__hash_mix(hash, (uint64_t)fed.id + 1), (uint64_t)fed.index);
  }
  for (size_t i = 0; i < run->num_fetches; i++) {
    hash = rheos__hash_mix(rheos__hash_mix(hash, (uint64_t)run->fetches[i].id + 7),
                           (uint64_t)run->fetches[i].index);
  }
  for (size_t i = 0; i < run->num_targets; i++) {
    hash = rheos__hash_mix(hash, (uint64_t)run->targets[i].id + 13);
  }
  return hash;
}

static rheos_status *note_asked(rheos_run_log *log, const rheos_logged_run *run, bool *out_is_new) {
  const uint64_t hash = hash_of(run);
  *out_is_new = false;
  for (size_t i = 0; i < log->num_asked; i++) {
    if (log->asked[i].hash != hash) continue;
    log->asked[i].num_runs++;
    return NULL;
  }
  *out_is_new = true;
  const size_t count = run->num_fetches + run->num_targets;
  int32_t *ids = rheos__arena_alloc(&log->arena, (count + 1) * sizeof *ids);
  if (ids == NULL || !RHEOS_RESERVE(log->asked, log->asked_capacity, log->num_asked + 1)) {
    return rheos__out_of_memory();
  }
  for (size_t i = 0; i < run->num_fetches; i++) ids[i] = run->fetches[i].id;
  for (size_t i = 0; i < run->num_targets; i++) ids[run->num_fetches + i] = run->targets[i].id;
  log->asked[log->num_asked++] =
      (rheos__asked){.hash = hash, .ids = ids, .num_ids = (int32_t)count, .num_runs = 1};
  return NULL;
}

static rheos_status *note_line(rheos_run_log *log, const rheos_logged_run *run, bool is_new) {
  rheos__run_line *at = NULL;
  for (size_t i = 0; i < log->num_lines && at == NULL; i++) {
    rheos__run_line *line = &log->lines[i];
    if (line->line == run->line && is_same_file(line->file, run->file)) at = line;
  }
  if (at == NULL) {
    const char *file = run->file != NULL ? rheos__arena_strdup(&log->arena, run->file) : NULL;
    if ((file == NULL && run->file != NULL) ||
        !RHEOS_RESERVE(log->lines, log->lines_capacity, log->num_lines + 1)) {
      return rheos__out_of_memory();
    }
    at = &log->lines[log->num_lines++];
    *at = (rheos__run_line){.file = file, .line = run->line};
  }
  at->num_runs++;
  at->num_new += is_new;
  at->num_in_row = is_new ? at->num_in_row + 1 : 0;
  return NULL;
}

// ---- What is fed

static double number_at(const rheos_tensor *tensor, int64_t i) {
  const void *data = rheos_tensor_data(tensor);
  switch (rheos_tensor_dtype(tensor)) {
    case RHEOS_FLOAT: return (double)((const float *)data)[i];
    case RHEOS_DOUBLE: return ((const double *)data)[i];
    case RHEOS_INT32: return ((const int32_t *)data)[i];
    case RHEOS_INT64: return (double)((const int64_t *)data)[i];
    case RHEOS_UINT8: return ((const uint8_t *)data)[i];
    case RHEOS_BOOL: return ((const bool *)data)[i];
    default: return NAN;
  }
}

enum { LOOKED_AT = 1 << 16 };  // numbers of a value

static void look_at_value(rheos__fed *fed, const rheos_tensor *value) {
  const rheos_shape *shape = rheos_tensor_shape(value);
  int64_t count = rheos_tensor_num_elements(value);
  const int64_t row = shape->rank > 0 ? shape->dims[shape->rank - 1] : 1;
  if (count == 0 || isnan(number_at(value, 0)) || row == 0) return;
  if (count > LOOKED_AT) count = row > LOOKED_AT ? LOOKED_AT : LOOKED_AT / row * row;
  fed->has_numbers = fed->is_whole = true;
  fed->sums_to_one = shape->rank > 1 && row > 1;
  fed->least = INFINITY;
  fed->most = -INFINITY;
  double sum = 0;
  int64_t num_off = 0;  // rows that do not sum to 1; a row of zeros may be padding
  for (int64_t i = 0; i < count; i++) {
    const double number = number_at(value, i);
    if (number < fed->least) fed->least = number;
    if (number > fed->most) fed->most = number;
    fed->is_whole &= number == floor(number);
    sum += number;
    if ((i + 1) % row != 0) continue;
    num_off += fabs(sum - 1) >= 1e-3;
    sum = 0;
  }
  fed->sums_to_one &= num_off * 2 <= count / row;
}

static void note_scalar(rheos__fed *fed, const rheos_tensor *value) {
  const double number = rheos_tensor_num_elements(value) == 1 ? number_at(value, 0) : NAN;
  if (fed->num_feeds == 1) {
    fed->scalar = number;
    fed->is_constant = !isnan(number);
  }
  fed->is_constant &= number == fed->scalar;
}

static void note_shape(rheos__fed *fed, const rheos_shape *shape) {
  for (int32_t i = 0; i < fed->num_shapes && i < RHEOS__FED_SHAPES; i++) {
    if (!rheos_shape_equal(&fed->shapes[i], shape)) continue;
    fed->times[i]++;
    return;
  }
  if (fed->num_shapes < RHEOS__FED_SHAPES) {
    fed->shapes[fed->num_shapes] = *shape;
    fed->times[fed->num_shapes] = 1;
  }
  if (fed->num_shapes <= RHEOS__FED_SHAPES) fed->num_shapes++;
}

static rheos_status *note_feed(rheos_run_log *log, const rheos_feed *feed) {
  rheos__fed *fed = NULL;
  for (size_t i = 0; i < log->num_fed && fed == NULL; i++) {
    rheos__fed *other = &log->fed[i];
    if (other->id == feed->output.id && other->index == feed->output.index) fed = other;
  }
  if (fed == NULL) {
    if (!RHEOS_RESERVE(log->fed, log->fed_capacity, log->num_fed + 1)) {
      return rheos__out_of_memory();
    }
    fed = &log->fed[log->num_fed++];
    *fed = (rheos__fed){.id = feed->output.id, .index = feed->output.index};
  }
  fed->num_feeds++;
  if (feed->value == NULL) return NULL;
  if (fed->num_feeds == 1) look_at_value(fed, feed->value);
  note_scalar(fed, feed->value);
  note_shape(fed, rheos_tensor_shape(feed->value));
  return NULL;
}

// ---- The whole

static rheos_status *check_run(const rheos_run_log *log, const rheos_logged_run *run) {
  RHEOS_NEED_LIST(run->feeds, run->num_feeds);
  RHEOS_NEED_LIST(run->fetches, run->num_fetches);
  RHEOS_NEED_LIST(run->targets, run->num_targets);
  for (size_t i = 0; i < run->num_feeds; i++) {
    RHEOS_TRY(rheos__check_output(log->graph, run->feeds[i].output, "what is fed"));
  }
  RHEOS_TRY(rheos__check_outputs(log->graph, run->fetches, run->num_fetches, "fetches", false));
  for (size_t i = 0; i < run->num_targets; i++) {
    RHEOS_TRY(rheos__check_operation(log->graph, run->targets[i], "a target"));
  }
  return NULL;
}

rheos_status *rheos_run_log_add(rheos_run_log *log, const rheos_logged_run *run) {
  bool is_new;
  RHEOS_NEED(log, run);
  RHEOS_TRY(check_run(log, run));
  RHEOS_TRY(note_growth(log));
  log->num_runs++;
  RHEOS_TRY(note_asked(log, run, &is_new));
  RHEOS_TRY(note_line(log, run, is_new));
  for (size_t i = 0; i < run->num_feeds; i++) RHEOS_TRY(note_feed(log, &run->feeds[i]));
  return NULL;
}

bool rheos__run_log_mark(const rheos_run_log *log, const rheos__lint_graph *g) {
  for (size_t i = 0; i < log->num_asked; i++) {
    for (int32_t k = 0; k < log->asked[i].num_ids; k++) {
      if (log->asked[i].ids[k] < g->num_nodes) g->asked[log->asked[i].ids[k]] = true;
    }
  }
  for (size_t i = 0; i < log->num_fed; i++) {
    if (log->fed[i].id < g->num_nodes) g->asked[log->fed[i].id] = true;
  }
  return log->num_runs > 0;
}
