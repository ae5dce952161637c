#include "runtime/step/watched_step.h"

#include <stdio.h>
#include <string.h>

#include "ops/kit/tensor_statistics.h"
#include "plan/entries/plan.h"
#include "runtime/step/step.h"

enum { NAME_BYTES = 512 };

// ---- Telling

// What is told of one value.
typedef struct telling {
  rheos__watched_step *step;
  const rheos__delivered *delivered;
  int32_t item;  // among those that the step watches
  const rheos__watch *edge;
  rheos_seen seen;
  rheos_statistics statistics;
  bool has_statistics;
} telling;

static bool knows(const rheos__watched_step *step, const telling *t, rheos__edge input,
                  int32_t *out_item) {
  const rheos__watches *watches = step->watches;
  int32_t at;
  const int32_t count = rheos__watches_of_node(watches, t->edge->graph, input.id, &at);
  for (int32_t i = 0; i < count; i++) {
    *out_item = watches->order[at + i];
    if (watches->items[*out_item].edge.index == input.index) return step->is_known[*out_item];
  }
  return false;
}

// Tells of a NaN that the operation made, or is the first that is known to have it.
static rheos_status *tell_nan(telling *t, rheos_watch *watch) {
  const rheos__node *node = rheos__graph_node(t->edge->graph, t->edge->edge.id);
  rheos__watched_step *step = t->step;
  if (step->has_told || t->statistics.num_nan == 0) return NULL;
  // Who takes what is fed, or the body's argument, is told of.
  const unsigned given = RHEOS_OP_PLACEHOLDER | RHEOS_OP_ARG;
  if ((node->signature->op->flags & given) != 0) return NULL;
  const bool was_given = step->was_fed_nan || !step->was_fed_numbers;
  if (step->is_short && was_given && watch->has_told_nan) return NULL;
  rheos_seen_input *inputs = rheos__alloc_array((size_t)node->num_inputs + 1, sizeof *inputs);
  if (inputs == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < node->num_inputs; i++) {
    const rheos__edge input = node->edges[i];
    int32_t item = 0;
    const bool is_known = knows(step, t, input, &item);
    inputs[i] = (rheos_seen_input){.output = {t->edge->graph, input.id, input.index},
                                   .statistics = is_known ? &step->latest[item] : NULL};
  }
  t->seen.inputs = inputs;
  t->seen.num_inputs = (size_t)node->num_inputs;
  step->has_told = watch->has_told_nan = true;
  rheos_status *status = watch->options.seen(watch->options.argument, &t->seen);
  t->seen.inputs = NULL;
  t->seen.num_inputs = 0;
  rheos__free(inputs);
  return status;
}

static rheos_status *tell(telling *t, rheos_watch *watch) {
  t->seen.value = watch->options.what == RHEOS_WATCH_VALUES ? t->delivered->value : NULL;
  t->seen.statistics = t->seen.value == NULL && t->has_statistics ? &t->statistics : NULL;
  if (watch->options.what == RHEOS_WATCH_FIRST_NAN) {
    return t->has_statistics ? tell_nan(t, watch) : NULL;
  }
  rheos_histogram histogram;
  const bool has_histogram = watch->options.what == RHEOS_WATCH_HISTOGRAM && t->has_statistics;
  if (has_histogram) rheos__histogram_of(t->delivered->value, &t->statistics, &histogram);
  t->seen.histogram = has_histogram ? &histogram : NULL;
  const int64_t num_bad = t->statistics.num_nan + rheos__num_infinite(&t->statistics);
  if (watch->options.what == RHEOS_WATCH_NOT_FINITE && num_bad == 0) return NULL;
  return watch->options.seen(watch->options.argument, &t->seen);
}

static rheos_status *tell_if_on(telling *t, rheos_watch *watch) {
  rheos_status *status = NULL;
  pthread_mutex_lock(&watch->mutex);
  if (!watch->is_off) status = tell(t, watch);
  pthread_mutex_unlock(&watch->mutex);
  return status;
}

static bool wants_statistics(const rheos__watch_set *set, int32_t item) {
  for (int32_t i = set->first[item]; i < set->first[item + 1]; i++) {
    if (set->watchers[i]->options.what != RHEOS_WATCH_VALUES) return true;
  }
  return false;
}

static rheos_status *tell_all(telling *t) {
  rheos__watched_step *step = t->step;
  const rheos__watch_set *set = step->set;
  const int32_t item = t->item;
  if (rheos__has_numbers(t->delivered->value->dtype) && wants_statistics(set, item)) {
    t->statistics = rheos__statistics_of(t->delivered->value);
    t->has_statistics = true;
  }
  rheos_status *status = NULL;
  for (int32_t i = set->first[item]; status == NULL && i < set->first[item + 1]; i++) {
    status = tell_if_on(t, set->watchers[i]);
  }
  if (step->latest != NULL && t->has_statistics) {
    step->latest[item] = t->statistics;
    step->is_known[item] = true;
  }
  return status;
}

// The edge that a plan of this step, or of another one, delivers, among those that this one
// watches; -1: it does not. A dataset's functions have plans of the step that made it.
static int32_t find_item(const rheos__watched_step *step, const rheos__delivered *delivered) {
  const rheos__watches *own = step->watches, *given = delivered->place->plan->context.watches;
  if (given == own || given == NULL) return delivered->watch;
  const rheos__watch *edge = &given->items[delivered->watch];
  int32_t at;
  int32_t count = rheos__watches_of_node(own, edge->graph, edge->edge.id, &at);
  while (count > 0 && own->items[own->order[at]].edge.index != edge->edge.index) count--, at++;
  return count > 0 ? own->order[at] : -1;
}

static void set_place(const rheos__watched_step *step, const rheos__delivered *delivered,
                      rheos__text *place) {
  const char *within = step->within;
  while (within != NULL && *within == '_') ++within;
  if (within != NULL) {
    rheos__text_add_string(place, within);
    rheos__text_add_string(place, ";0");
  }
  rheos__place_text(delivered->place, place);
}

static void set_name(const rheos__watched_step *step, const rheos__watch *edge,
                     char name[NAME_BYTES + 16]) {
  const rheos__node *node = rheos__graph_node(edge->graph, edge->edge.id);
  if (node == step->op) {
    snprintf(name, NAME_BYTES, "%s", node->signature->op->name);
  } else {
    rheos_operation_name((rheos_operation){edge->graph, edge->edge.id}, name, NAME_BYTES);
  }
  snprintf(name + strlen(name), 16, ":%d", (int)edge->edge.index);
}

static rheos_status *deliver(void *argument, const rheos__delivered *delivered) {
  rheos__watched_step *step = argument;
  const int32_t item = find_item(step, delivered);
  if (item < 0) return NULL;
  const rheos__watch *edge = &step->watches->items[item];
  char name[NAME_BYTES + 16];
  rheos__text place = {0};
  set_name(step, edge, name);
  set_place(step, delivered, &place);
  telling t = {.step = step,
               .delivered = delivered,
               .item = item,
               .edge = edge,
               .seen = {.output = {edge->graph, edge->edge.id, edge->edge.index},
                        .name = name,
                        .place = place.data != NULL ? place.data : "",
                        .step = step->number,
                        .dtype = delivered->value->dtype,
                        .shape = &delivered->value->shape}};
  step->is_telling = true;
  rheos_status *status = place.failed ? rheos__out_of_memory() : tell_all(&t);
  step->is_telling = false;
  rheos__text_deinit(&place);
  return status;
}

// ---- Steps

// What is fed is known to whoever looks for the first NaN.
static void know_feed(rheos__watched_step *step, int32_t item, const rheos_tensor *value) {
  if (value == NULL || !rheos__has_numbers(value->dtype)) return;
  rheos_status *not_read = rheos__tensor_to_host(&value);
  if (not_read != NULL) {  // so nothing is known of it
    rheos_status_free(not_read);
    return;
  }
  step->latest[item] = rheos__statistics_of(value);
  step->is_known[item] = step->was_fed_numbers = true;
  step->was_fed_nan = step->was_fed_nan || step->latest[item].num_nan > 0;
}

static void know_feeds(rheos__watched_step *step, const rheos__watched_part *part,
                       rheos_tensor *const *values) {
  for (int32_t i = 0; i < part->num_feeds; i++) {
    int32_t at;
    const int32_t count =
        rheos__watches_of_node(step->watches, part->graph, part->feeds[i].id, &at);
    for (int32_t k = 0; k < count; k++) {
      const int32_t item = step->watches->order[at + k];
      if (step->watches->items[item].edge.index != part->feeds[i].index) continue;
      know_feed(step, item, values[i]);
    }
  }
}

static rheos_status *begin(rheos__watched_step *step, const rheos__watched_part *part,
                           rheos_tensor *const *values) {
  step->observer.argument = step;
  step->op = part->op;
  step->watches = step->set->watches;
  if (!step->set->looks_for_nan) return NULL;
  const size_t count = (size_t)step->watches->count + 1;
  step->latest = rheos__alloc_array(count, sizeof *step->latest);
  step->is_known = rheos__alloc_zeroed(count);
  if (step->latest == NULL || step->is_known == NULL) return rheos__out_of_memory();
  know_feeds(step, part, values);
  return NULL;
}

rheos_status *rheos__watched_step_init(rheos__watched_step *step, rheos__watch_list *list,
                                       const rheos__watched_part *part,
                                       rheos_tensor *const *values) {
  *step = (rheos__watched_step){.list = list, .observer = {.deliver = deliver}};
  RHEOS_TRY(rheos__watch_list_begin_step(list, part->graph, &step->set, &step->number));
  return step->set != NULL ? begin(step, part, values) : NULL;
}

rheos_status *rheos__watched_step_init_with(rheos__watched_step *step, rheos__watch_list *list,
                                            rheos__watch_set *set, const rheos__watched_part *part,
                                            rheos_tensor *const *values) {
  *step = (rheos__watched_step){.list = list,
                                .set = rheos__watch_set_ref(set),
                                .observer = {.deliver = deliver},
                                .number = rheos__watch_list_count_step(list)};
  return begin(step, part, values);
}

void rheos__watched_step_deinit(rheos__watched_step *step) {
  rheos__watch_set_unref(step->set);
  rheos__free(step->latest);
  rheos__free(step->is_known);
}

static bool tells(const rheos__observers *observers, const rheos__watch_list *list) {
  for (int32_t i = 0; observers != NULL && i < observers->count; i++) {
    if (observers->items[i]->deliver != deliver) continue;
    const rheos__watched_step *step = observers->items[i]->argument;
    if (step->list == list && step->is_telling) return true;
  }
  return false;
}

bool rheos__is_telling(const rheos__watch_list *list) {
  const rheos__step *step = rheos__pool_step();
  while (step != NULL && !tells(step->observers, list)) step = step->outer;
  return step != NULL;
}
