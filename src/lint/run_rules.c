// Rules about the runs of a program: what it adds, asks for and feeds from run to run.
#include "lint/lint.h"

#include "lint/run_log.h"

#include <math.h>

enum { MANY_RUNS = 10 };

void rheos__lint_growing_graph(rheos__lint_findings *found, const rheos__lint_graph *g) {
  if (g->function[0] != '\0') return;
  for (size_t i = 0; i < g->runs->num_added; i++) {
    const rheos__added *added = &g->runs->added[i];
    // A model that is built and run in turn adds something else each time.
    if (added->num_alike < 3 && added->num_runs < MANY_RUNS) continue;
    rheos__lint_tell_line(found, added->file, added->line, "line %d added %lld nodes in %lld runs",
                          (int)added->line, (long long)added->num_nodes,
                          (long long)added->num_runs);
  }
}

// Where the graph grows, what is asked for is new as well.
static bool grows(const rheos_run_log *log) {
  for (size_t i = 0; i < log->num_added; i++) {
    if (log->added[i].num_runs >= MANY_RUNS) return true;
  }
  return false;
}

void rheos__lint_new_fetches(rheos__lint_findings *found, const rheos__lint_graph *g) {
  if (g->function[0] != '\0' || grows(g->runs)) return;
  for (size_t i = 0; i < g->runs->num_lines; i++) {
    const rheos__run_line *line = &g->runs->lines[i];
    if (line->file == NULL || line->num_new < MANY_RUNS ||
        line->num_new * 10 < line->num_runs * 9) {
      continue;
    }
    rheos__lint_tell_line(found, line->file, line->line,
                          "%lld of %lld runs asked for something new, which is planned each time",
                          (long long)line->num_new, (long long)line->num_runs);
  }
}

enum { MANY_SHAPES = 8 };

void rheos__lint_many_shapes(rheos__lint_findings *found, const rheos__lint_graph *g) {
  if (g->function[0] != '\0') return;
  for (size_t i = 0; i < g->runs->num_fed; i++) {
    const rheos__fed *fed = &g->runs->fed[i];
    if (fed->num_shapes <= MANY_SHAPES || fed->id >= g->num_nodes) continue;
    rheos__lint_tell(
        found, g, fed->id, "'%s' was fed values of %s%d shapes, and each is prepared",
        rheos__lint_name(found, g, fed->id),
        fed->num_shapes > RHEOS__FED_SHAPES ? "more than " : "",
        (int)(fed->num_shapes > RHEOS__FED_SHAPES ? RHEOS__FED_SHAPES : fed->num_shapes));
  }
}

// Whether two shapes differ in their first dimension alone.
static bool is_other_batch(const rheos_shape *a, const rheos_shape *b) {
  if (a->rank != b->rank || a->rank < 1 || a->dims[0] == b->dims[0]) return false;
  for (int32_t i = 1; i < a->rank; i++) {
    if (a->dims[i] != b->dims[i]) return false;
  }
  return true;
}

void rheos__lint_partial_batch(rheos__lint_findings *found, const rheos__lint_graph *g) {
  if (g->function[0] != '\0') return;
  for (size_t i = 0; i < g->runs->num_fed; i++) {
    const rheos__fed *fed = &g->runs->fed[i];
    if (fed->num_shapes != 2 || fed->id >= g->num_nodes) continue;
    const rheos_shape *most = &fed->shapes[0], *other = &fed->shapes[1];
    if (!is_other_batch(most, other) || other->dims[0] > most->dims[0]) continue;
    if (fed->times[0] < MANY_RUNS || fed->times[1] * MANY_RUNS > fed->times[0]) continue;
    rheos__lint_tell(found, g, fed->id,
                     "'%s' was fed %lld batches of %lld and %lld of %lld, for which another plan "
                     "is made",
                     rheos__lint_name(found, g, fed->id), (long long)fed->times[0],
                     (long long)most->dims[0], (long long)fed->times[1], (long long)other->dims[0]);
  }
}

static const rheos__fed *fed_at(const rheos__lint_graph *g, rheos__edge edge) {
  for (size_t i = 0; i < g->runs->num_fed; i++) {
    const rheos__fed *fed = &g->runs->fed[i];
    if (fed->id == edge.id && fed->index == edge.index) return fed;
  }
  return NULL;
}

void rheos__lint_fed_labels(rheos__lint_findings *found, const rheos__lint_graph *g) {
  if (g->function[0] != '\0') return;
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!rheos__lint_is(g, id, "SoftmaxCrossEntropyWithLogits")) continue;
    const rheos__edge labels = rheos__lint_behind(g, rheos__lint_input(g, id, 1), true);
    const rheos__fed *fed = fed_at(g, labels);
    if (fed == NULL || !fed->has_numbers || fed->sums_to_one) continue;
    rheos__lint_tell(found, g, id,
                     "the rows of '%s', the labels of the loss '%s', do not sum to 1 (they are of "
                     "%g to %g)",
                     rheos__lint_name(found, g, labels.id), rheos__lint_name(found, g, id),
                     fed->least, fed->most);
  }
}

void rheos__lint_unscaled_input(rheos__lint_findings *found, const rheos__lint_graph *g) {
  static const char *const ops[] = {"Conv2D", "MatMul", NULL};
  if (g->function[0] != '\0') return;
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!g->reached[id] || !rheos__lint_is_one(g, id, ops)) continue;
    rheos__edge value = rheos__lint_behind(g, rheos__lint_input(g, id, 0), true);
    if (rheos__lint_is(g, value.id, "Cast")) value = rheos__lint_input(g, value.id, 0);
    const rheos__fed *fed = fed_at(g, rheos__lint_behind(g, value, true));
    if (fed == NULL || !fed->has_numbers || !fed->is_whole) continue;
    if (fed->least < 0 || fed->most < 128 || fed->most > 255) continue;
    rheos__lint_tell(found, g, id, "'%s' takes whole numbers of %g to %g, as bytes of a picture",
                     rheos__lint_name(found, g, id), fed->least, fed->most);
  }
}

// ---- Queues

static bool begins_with(const char *text, const char *beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

static int32_t queue_of(const rheos__lint_graph *g, int32_t id) {
  const rheos__edge queue = rheos__lint_behind(g, rheos__lint_input(g, id, 0), false);
  return queue.id;
}

// Whether a run reached something that puts elements into the queue.
static bool is_filled(const rheos__lint_graph *g, int32_t queue) {
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (g->reached[id] && begins_with(g->ops[id], "QueueEnqueue") && queue_of(g, id) == queue) {
      return true;
    }
  }
  return false;
}

void rheos__lint_queue_not_filled(rheos__lint_findings *found, const rheos__lint_graph *g) {
  if (g->function[0] != '\0') return;
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!g->reached[id] || !begins_with(g->ops[id], "QueueDequeue")) continue;
    const int32_t queue = queue_of(g, id);
    if (queue < 0 || is_filled(g, queue)) continue;
    rheos__lint_tell(found, g, id, "a run waits for '%s', and no run puts anything into '%s'",
                     rheos__lint_name(found, g, id), rheos__lint_name(found, g, queue));
  }
}

// ---- Variables that are fed

void rheos__lint_fed_variable(rheos__lint_findings *found, const rheos__lint_graph *g) {
  static const char *const reads[] = {"Identity", "ReadVariableOp", NULL};
  if (g->function[0] != '\0') return;
  for (size_t i = 0; i < g->runs->num_fed; i++) {
    const rheos__fed *fed = &g->runs->fed[i];
    if (fed->id >= g->num_nodes || fed->num_feeds < MANY_RUNS) continue;
    int32_t variable = fed->id;
    if (rheos__lint_is_one(g, variable, reads)) variable = rheos__lint_input(g, fed->id, 0).id;
    if (variable < 0 || !rheos__lint_is_variable(g, variable)) continue;
    rheos__lint_tell(found, g, variable, "%lld runs were fed a value in the place of '%s'",
                     (long long)fed->num_feeds, rheos__lint_name(found, g, variable));
  }
}

// ---- Keras's learning phase

void rheos__lint_constant_phase(rheos__lint_findings *found, const rheos__lint_graph *g) {
  if (g->function[0] != '\0') return;
  for (size_t i = 0; i < g->runs->num_fed; i++) {
    const rheos__fed *fed = &g->runs->fed[i];
    if (fed->id >= g->num_nodes || !fed->is_constant || fed->num_feeds < MANY_RUNS) continue;
    const char *name = rheos__lint_name(found, g, fed->id);
    if (strstr(name, "learning_phase") == NULL) continue;
    rheos__lint_tell(found, g, fed->id, "'%s' was fed %g in each of %lld runs", name, fed->scalar,
                     (long long)fed->num_feeds);
  }
}
