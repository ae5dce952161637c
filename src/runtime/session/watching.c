#include "runtime/session/watching.h"

#include <rheos/format.h>
#include <stdio.h>
#include <string.h>

#include "base/edits.h"
#include "base/options.h"
#include "graph/library.h"
#include "ops/kit/tensor_statistics.h"
#include "runtime/session/session_kind.h"

enum { NAME_BYTES = 512, MOST_NEAR = 3 };

struct rheos_watch {
  _Atomic int32_t references;  // the handle, and sets
  rheos__watch_list *list;     // counted
  char *names;                 // "": all
  rheos_watch_options options;
  rheos_watch *next;
  pthread_mutex_t mutex;  // recursive: a watch may be ended by its own function
  bool is_off;            // guarded by it
};

// The edges that watches name, in one list, and who watches each. Constant once it is made.
typedef struct rheos__watch_set {
  _Atomic int32_t references;
  rheos__watches *watches;
  int32_t *first;          // by edge, and one more: where its watchers begin
  rheos_watch **watchers;  // counted
  size_t num_watchers;
  int32_t num_nodes;  // of the graph, and its functions, when it was made
  size_t num_functions;
  bool looks_for_nan;
} rheos__watch_set;

// ---- Names

// Whether the name is one of the list's, with "*" for any letters and "?" for one.
static bool matches_one(const char *pattern, const char *end, const char *name) {
  const char *star = NULL, *retry = NULL;
  while (*name != '\0') {
    if (pattern < end && *pattern == '*') {
      star = pattern++;
      retry = name;
    } else if (pattern < end && (*pattern == '?' || *pattern == *name)) {
      pattern++;
      name++;
    } else if (star != NULL) {
      pattern = star + 1;
      name = ++retry;
    } else {
      return false;
    }
  }
  while (pattern < end && *pattern == '*') pattern++;
  return pattern == end;
}

static bool matches(const char *names, const char *name) {
  if (names[0] == '\0') return true;
  for (;;) {
    const char *end = names + strcspn(names, ",");
    if (matches_one(names, end, name)) return true;
    if (*end == '\0') return false;
    names = end + 1;
  }
}

static const char *name_of(rheos_graph *graph, int32_t id, char buffer[NAME_BYTES]) {
  rheos_operation_name((rheos_operation){graph, id}, buffer, NAME_BYTES);
  return buffer;
}

// ---- Watches

static void watch_unref(rheos_watch *watch) {
  if (watch == NULL || atomic_fetch_sub(&watch->references, 1) != 1) return;
  rheos__watch_list_unref(watch->list);
  pthread_mutex_destroy(&watch->mutex);
  rheos__free(watch->names);
  rheos__free(watch);
}

static void set_unref(rheos__watch_set *set) {
  if (set == NULL || atomic_fetch_sub(&set->references, 1) != 1) return;
  for (size_t i = 0; i < set->num_watchers; i++) watch_unref(set->watchers[i]);
  rheos__watches_unref(set->watches);
  rheos__free(set->first);
  rheos__free((void *)set->watchers);
  rheos__free(set);
}

rheos__watch_list *rheos__watch_list_new(void) {
  rheos__watch_list *list = rheos__alloc_zeroed(sizeof *list);
  if (list == NULL) return NULL;
  atomic_init(&list->references, 1);
  pthread_mutex_init(&list->mutex, NULL);
  return list;
}

void rheos__watch_list_unref(rheos__watch_list *list) {
  if (list == NULL || atomic_fetch_sub(&list->references, 1) != 1) return;
  set_unref(list->set);
  pthread_mutex_destroy(&list->mutex);
  rheos__free(list);
}

static rheos__watch_set *take_set(rheos__watch_list *list) {
  pthread_mutex_lock(&list->mutex);
  rheos__watch_set *set = list->set;
  list->set = NULL;
  pthread_mutex_unlock(&list->mutex);
  return set;
}

void rheos__watch_list_forget(rheos__watch_list *list) { set_unref(take_set(list)); }

static rheos_status *watch_new(rheos__watch_list *list, const rheos_watch_options *options,
                               rheos_watch **out_watch) {
  pthread_mutexattr_t recursive;
  rheos_watch *watch = rheos__alloc_zeroed(sizeof *watch);
  char *names = rheos__strdup(options->names != NULL ? options->names : "");
  if (watch == NULL || names == NULL) {
    rheos__free(watch);
    rheos__free(names);
    return rheos__out_of_memory();
  }
  *watch = (rheos_watch){.list = list, .names = names, .options = *options};
  atomic_init(&watch->references, 1);
  atomic_fetch_add(&list->references, 1);
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&watch->mutex, &recursive);
  pthread_mutexattr_destroy(&recursive);
  *out_watch = watch;
  return NULL;
}

// ---- Sets

typedef struct set_builder {
  const rheos__watch_list *list;
  rheos__watch_set *set;
  rheos__watch *items;
  int32_t count, capacity;
  size_t watcher_capacity;
  bool failed;
} set_builder;

static bool has_room(set_builder *b) {
  if (b->count == b->capacity) {
    const int32_t capacity = b->capacity > 0 ? 2 * b->capacity : 64;
    rheos__watch *items = rheos__realloc(b->items, (size_t)capacity * sizeof *items);
    if (items != NULL) b->items = items;
    int32_t *first = rheos__realloc(b->set->first, ((size_t)capacity + 1) * sizeof *first);
    if (first != NULL) b->set->first = first;
    if (items == NULL || first == NULL) return false;
    b->capacity = capacity;
  }
  return true;
}

static bool add_watcher(set_builder *b, rheos_watch *watch) {
  rheos__watch_set *set = b->set;
  if (set->num_watchers == b->watcher_capacity) {
    const size_t capacity = b->watcher_capacity > 0 ? 2 * b->watcher_capacity : 64;
    rheos_watch **watchers =
        rheos__realloc((void *)set->watchers, capacity * sizeof(rheos_watch *));
    if (watchers == NULL) return false;
    set->watchers = watchers;
    b->watcher_capacity = capacity;
  }
  atomic_fetch_add(&watch->references, 1);
  set->watchers[set->num_watchers++] = watch;
  return true;
}

static bool add_edge(set_builder *b, rheos_graph *graph, rheos__edge edge, const char *name) {
  if (!has_room(b)) return false;
  b->set->first[b->count] = (int32_t)b->set->num_watchers;
  b->items[b->count] = (rheos__watch){graph, edge};
  for (rheos_watch *watch = b->list->first; watch != NULL; watch = watch->next) {
    if (matches(watch->names, name) && !add_watcher(b, watch)) return false;
  }
  b->count++;
  return true;
}

static bool is_named(const rheos__watch_list *list, const char *name) {
  const rheos_watch *watch = list->first;
  while (watch != NULL && !matches(watch->names, name)) watch = watch->next;
  return watch != NULL;
}

static void add_graph(set_builder *b, rheos_graph *graph) {
  char name[NAME_BYTES];
  const int32_t num_nodes = rheos_graph_num_operations(graph);
  for (int32_t id = 0; id < num_nodes && !b->failed; id++) {
    if (!is_named(b->list, name_of(graph, id, name))) continue;
    const int32_t num_outputs = rheos__graph_node(graph, id)->num_outputs;
    for (int32_t i = 0; i < num_outputs && !b->failed; i++) {
      b->failed = !add_edge(b, graph, (rheos__edge){id, i}, name);
    }
  }
}

// The body of a function of the library; NULL: only a call can make it whole.
static rheos_graph *body_at(rheos_graph *graph, size_t index) {
  const char *name = rheos_graph_function_name(graph, index);
  const rheos_func func = {.name = {(char *)(uintptr_t)name, strlen(name)}};
  const rheos__function *function = NULL;
  rheos_status *status = rheos__graph_function(graph, &func, &function);
  rheos_status_free(status);
  return status == NULL ? function->graph : NULL;
}

static void add_all(set_builder *b, rheos_graph *graph) {
  b->set->num_nodes = rheos_graph_num_operations(graph);
  b->set->num_functions = rheos_graph_num_functions(graph);
  add_graph(b, graph);
  for (size_t i = 0; i < b->set->num_functions && !b->failed; i++) {
    rheos_graph *body = body_at(graph, i);
    if (body != NULL) add_graph(b, body);
  }
}

// With the list's mutex held.
static rheos_status *make_set(const rheos__watch_list *list, rheos_graph *graph,
                              rheos__watch_set **out_set) {
  rheos__watch_set *set = rheos__alloc_zeroed(sizeof *set);
  set_builder b = {.list = list, .set = set};
  if (set == NULL) return rheos__out_of_memory();
  atomic_init(&set->references, 1);
  for (const rheos_watch *watch = list->first; watch != NULL; watch = watch->next) {
    set->looks_for_nan = set->looks_for_nan || watch->options.what == RHEOS_WATCH_FIRST_NAN;
  }
  add_all(&b, graph);
  if (!b.failed && has_room(&b)) {
    set->first[b.count] = (int32_t)set->num_watchers;
    set->watches = rheos__watches_new(b.items, b.count);
  }
  rheos__free(b.items);
  if (set->watches == NULL) {
    set_unref(set);
    return rheos__out_of_memory();
  }
  *out_set = set;
  return NULL;
}

// Of all watches that are on, as the graph is now; NULL: none is. Counted. With the list's mutex
// held.
static rheos_status *current_set(rheos__watch_list *list, rheos_graph *graph,
                                 rheos__watch_set **out_set) {
  rheos__watch_set *set = list->set;
  *out_set = NULL;
  if (list->first == NULL) return NULL;
  if (set != NULL && (set->num_nodes != rheos_graph_num_operations(graph) ||
                      set->num_functions != rheos_graph_num_functions(graph))) {
    set_unref(set);
    set = NULL;
  }
  list->set = set;
  if (set == NULL) RHEOS_TRY(make_set(list, graph, &list->set));
  atomic_fetch_add(&list->set->references, 1);
  *out_set = list->set;
  return NULL;
}

// ---- Being on and off

static void add_near(rheos_graph *graph, const char *names, rheos__text *text) {
  size_t least[MOST_NEAR];
  int32_t found[MOST_NEAR];
  int count = 0;
  char name[NAME_BYTES];
  const int32_t num_nodes = rheos_graph_num_operations(graph);
  for (int32_t id = 0; id < num_nodes; id++) {
    const size_t most = rheos__most_edits(strlen(names));
    const size_t edits = rheos__edits_between(names, name_of(graph, id, name), most);
    if (edits > most || (count == MOST_NEAR && edits >= least[count - 1])) continue;
    if (count < MOST_NEAR) count++;
    int at = count - 1;
    for (; at > 0 && least[at - 1] > edits; at--) {
      least[at] = least[at - 1];
      found[at] = found[at - 1];
    }
    least[at] = edits;
    found[at] = id;
  }
  for (int i = 0; i < count; i++) {
    rheos__text_add_string(text, i == 0 ? "; near it are " : ", ");
    rheos__text_add_string(text, name_of(graph, found[i], name));
  }
}

static rheos_status *no_such_name(rheos_graph *graph, const char *names) {
  rheos__text near = {0};
  add_near(graph, names, &near);
  rheos_status *status =
      RHEOS_NOTFOUND("no operation is called '%s'%s", names, near.data != NULL ? near.data : "");
  rheos__text_deinit(&near);
  return status;
}

static bool is_name_of_any(rheos_graph *graph, const rheos_watch *watch) {
  const rheos__watch_list alone = {.first = (rheos_watch *)(uintptr_t)watch};
  char name[NAME_BYTES];
  const int32_t num_nodes = rheos_graph_num_operations(graph);
  for (int32_t id = 0; id < num_nodes; id++) {
    if (is_named(&alone, name_of(graph, id, name))) return true;
  }
  const size_t num_functions = rheos_graph_num_functions(graph);
  for (size_t i = 0; i < num_functions; i++) {
    rheos_graph *body = body_at(graph, i);
    const int32_t count = body != NULL ? rheos_graph_num_operations(body) : 0;
    for (int32_t id = 0; id < count; id++) {
      if (is_named(&alone, name_of(body, id, name))) return true;
    }
  }
  return false;
}

rheos_status *rheos__watch_list_add(rheos__watch_list *list, rheos_graph *graph,
                                    const rheos_watch_options *options, rheos_watch **out_watch) {
  rheos_watch *watch = NULL;
  RHEOS_TRY(watch_new(list, options, &watch));
  if (watch->names[0] != '\0' && !is_name_of_any(graph, watch)) {
    rheos_status *status = no_such_name(graph, watch->names);
    watch_unref(watch);
    return status;
  }
  pthread_mutex_lock(&list->mutex);
  rheos_watch **last = &list->first;
  while (*last != NULL) last = &(*last)->next;
  *last = watch;
  rheos__watch_set *set = list->set;
  list->set = NULL;
  pthread_mutex_unlock(&list->mutex);
  set_unref(set);
  atomic_fetch_add(&list->num_on, 1);
  *out_watch = watch;
  return NULL;
}

void rheos_watch_free(rheos_watch *watch) {
  if (watch == NULL) return;
  rheos__watch_list *list = watch->list;
  pthread_mutex_lock(&list->mutex);
  rheos_watch **place = &list->first;
  while (*place != watch) place = &(*place)->next;
  *place = watch->next;
  rheos__watch_set *set = list->set;
  list->set = NULL;
  pthread_mutex_unlock(&list->mutex);
  atomic_fetch_sub(&list->num_on, 1);
  pthread_mutex_lock(&watch->mutex);
  watch->is_off = true;
  pthread_mutex_unlock(&watch->mutex);
  set_unref(set);
  watch_unref(watch);
}

rheos_status *rheos_session_watch_sized(rheos_session *session, const rheos_watch_options *options,
                                        size_t options_bytes, rheos_watch **out_watch) {
  rheos_watch_options known;
  RHEOS_OUT(out_watch);
  RHEOS_NEED(session, options);
  RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_watch_options, options, options_bytes, &known));
  if (known.seen == NULL) return RHEOS_INVALID("a watch needs a function to tell");
  if (known.what > RHEOS_WATCH_FIRST_NAN) {
    return RHEOS_INVALID("a watch of %d: there is no such thing to tell", (int)known.what);
  }
  if (session->kind->watches == NULL) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "a %s session cannot be watched",
                            session->kind->name);
  }
  return rheos__watch_list_add(session->kind->watches(session), session->graph, &known, out_watch);
}

// ---- Telling

// What is told of one value.
typedef struct telling {
  rheos__watched_step *step;
  const rheos__delivered *delivered;
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
  step->has_told = true;
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
  const int32_t item = t->delivered->watch;
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

static rheos_status *deliver(void *argument, const rheos__delivered *delivered) {
  rheos__watched_step *step = argument;
  const rheos__watch *edge = &step->watches->items[delivered->watch];
  char name[NAME_BYTES + 16];
  rheos__text place = {0};
  name_of(edge->graph, edge->edge.id, name);
  snprintf(name + strlen(name), 16, ":%d", (int)edge->edge.index);
  rheos__place_text(delivered->place, &place);
  telling t = {.step = step,
               .delivered = delivered,
               .edge = edge,
               .seen = {.output = {edge->graph, edge->edge.id, edge->edge.index},
                        .name = name,
                        .place = place.data != NULL ? place.data : "",
                        .step = step->number}};
  rheos_status *status = place.failed ? rheos__out_of_memory() : tell_all(&t);
  rheos__text_deinit(&place);
  return status;
}

// ---- Steps

// What is fed is known to whoever looks for the first NaN.
static void know_feeds(rheos__watched_step *step, rheos_graph *graph,
                       const rheos__signature_ids *ids, rheos_tensor *const *values) {
  for (int32_t i = 0; i < ids->num_feeds; i++) {
    int32_t at;
    const int32_t count = rheos__watches_of_node(step->watches, graph, ids->feeds[i].id, &at);
    for (int32_t k = 0; k < count; k++) {
      const int32_t item = step->watches->order[at + k];
      if (step->watches->items[item].edge.index != ids->feeds[i].index) continue;
      if (!rheos__has_numbers(values[i]->dtype) || values[i]->memory != NULL) continue;
      step->latest[item] = rheos__statistics_of(values[i]);
      step->is_known[item] = true;
    }
  }
}

rheos_status *rheos__watched_step_init(rheos__watched_step *step, rheos__watch_list *list,
                                       rheos_graph *graph, const rheos__signature_ids *ids,
                                       rheos_tensor *const *values) {
  *step = (rheos__watched_step){.observer = {.deliver = deliver}};
  step->observer.argument = step;
  pthread_mutex_lock(&list->mutex);
  rheos_status *status = current_set(list, graph, &step->set);
  if (step->set != NULL) step->number = list->num_steps++;
  pthread_mutex_unlock(&list->mutex);
  if (status != NULL || step->set == NULL) return status;
  step->watches = step->set->watches;
  if (!step->set->looks_for_nan) return NULL;
  const size_t count = (size_t)step->watches->count + 1;
  step->latest = rheos__alloc_array(count, sizeof *step->latest);
  step->is_known = rheos__alloc_zeroed(count);
  if (step->latest == NULL || step->is_known == NULL) return rheos__out_of_memory();
  know_feeds(step, graph, ids, values);
  return NULL;
}

void rheos__watched_step_deinit(rheos__watched_step *step) {
  set_unref(step->set);
  rheos__free(step->latest);
  rheos__free(step->is_known);
}
