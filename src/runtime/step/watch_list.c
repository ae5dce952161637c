#include "runtime/step/watch_list.h"

#include <rheos/format.h>
#include <stdio.h>
#include <string.h>

#include "base/edits.h"
#include "base/text.h"
#include "graph/library.h"

enum { NAME_BYTES = 512, MOST_NEAR = 3 };

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

rheos__watch_set *rheos__watch_set_ref(rheos__watch_set *set) {
  if (set != NULL) atomic_fetch_add(&set->references, 1);
  return set;
}

void rheos__watch_set_unref(rheos__watch_set *set) {
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
  rheos__watch_set_unref(list->set);
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

void rheos__watch_list_forget(rheos__watch_list *list) { rheos__watch_set_unref(take_set(list)); }

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
  rheos_graph **bodies;  // that are reached
  size_t num_bodies, body_capacity;
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
  atomic_store(&watch->has_matched, true);
  set->watchers[set->num_watchers++] = watch;
  return true;
}

// `name` NULL: nobody watches it by name.
static bool add_edge(set_builder *b, rheos_graph *graph, rheos__edge edge, const char *name) {
  if (!has_room(b)) return false;
  b->set->first[b->count] = (int32_t)b->set->num_watchers;
  b->items[b->count] = (rheos__watch){graph, edge};
  for (rheos_watch *watch = b->list->first; watch != NULL; watch = watch->next) {
    if (name != NULL && matches(watch->names, name) && !add_watcher(b, watch)) return false;
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
static rheos_graph *body_of(rheos_graph *graph, const rheos_func *func) {
  const rheos__function *function = NULL;
  rheos_status *status = rheos__graph_function(graph, func, &function);
  rheos_status_free(status);
  return status == NULL ? function->graph : NULL;
}

static rheos_graph *body_at(rheos_graph *graph, size_t index) {
  const char *name = rheos_graph_function_name(graph, index);
  const rheos_func func = {.name = {(char *)(uintptr_t)name, strlen(name)}};
  return body_of(graph, &func);
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

// ---- What a graph calls

// Bodies that are reached, each once, in the order in which they are found.
static void reach(set_builder *b, rheos_graph *graph, const rheos_func *func) {
  rheos_graph *body = func->name.size_bytes > 0 ? body_of(graph, func) : NULL;
  for (size_t i = 0; i < b->num_bodies && body != NULL; i++) {
    if (b->bodies[i] == body) body = NULL;
  }
  if (body == NULL) return;
  b->failed = !RHEOS_RESERVE(b->bodies, b->body_capacity, b->num_bodies + 1);
  if (!b->failed) b->bodies[b->num_bodies++] = body;
}

static void reach_called(set_builder *b, rheos_graph *graph, const rheos__node *node) {
  const rheos__op_def *op = node->signature->op;
  if (op->prepare == rheos__prepare_call_by_name) {
    const rheos_func func = {.name = {(char *)(uintptr_t)op->name, strlen(op->name)},
                             .attrs = node->attrs->items,
                             .num_attrs = (size_t)node->attrs->count};
    reach(b, graph, &func);
  }
  for (int32_t i = 0; i < node->attrs->count && !b->failed; i++) {
    const rheos_attr_value *value = &node->attrs->items[i].value;
    if (value->kind == RHEOS_ATTR_FUNC) reach(b, graph, value->func);
    for (int32_t k = 0; value->kind == RHEOS_ATTR_LIST_FUNC && k < value->count; k++) {
      if (!b->failed) reach(b, graph, &value->funcs[k]);
    }
  }
}

static void reach_all_called(set_builder *b, rheos_graph *graph) {
  const int32_t num_nodes = rheos_graph_num_operations(graph);
  for (int32_t id = 0; id < num_nodes && !b->failed; id++) {
    reach_called(b, graph, rheos__graph_node(graph, id));
  }
}

static bool is_one_of(rheos__edge edge, const rheos__edge *edges, int32_t count) {
  while (count > 0 && (edges[count - 1].id != edge.id || edges[count - 1].index != edge.index)) {
    count--;
  }
  return count > 0;
}

// Who looks for a NaN wants to know all that an operation takes; nobody is told of what is fed.
static void add_part(set_builder *b, const rheos__watched_part *part) {
  char name[NAME_BYTES];
  const int32_t num_nodes = rheos_graph_num_operations(part->graph);
  for (int32_t id = 0; id < num_nodes && !b->failed; id++) {
    const rheos__node *node = rheos__graph_node(part->graph, id);
    name_of(part->graph, id, name);
    if (node == part->op) snprintf(name, sizeof name, "%s", node->signature->op->name);
    const bool is_wanted = is_named(b->list, name);
    const int32_t num_outputs = node->num_outputs;
    for (int32_t i = 0; i < num_outputs && !b->failed; i++) {
      const rheos__edge edge = {id, i};
      const bool is_fed = is_one_of(edge, part->feeds, part->num_feeds);
      if (is_fed ? !b->set->looks_for_nan : !is_wanted) continue;
      b->failed = !add_edge(b, part->graph, edge, is_fed ? NULL : name);
    }
  }
}

static void add_all_of_part(set_builder *b, const rheos__watched_part *part) {
  add_part(b, part);
  if (!b->failed) reach_all_called(b, part->graph);
  for (size_t i = 0; i < b->num_bodies && !b->failed; i++) {
    const int32_t count = b->count;
    add_graph(b, b->bodies[i]);
    b->set->calls = b->set->calls || b->count > count;
    if (!b->failed) reach_all_called(b, b->bodies[i]);
  }
}

// Of all of the graph and its library, or of a part and what that calls; one of both is NULL. With
// the list's mutex held.
static rheos_status *make_set(const rheos__watch_list *list, rheos_graph *graph,
                              const rheos__watched_part *part, rheos__watch_set **out_set) {
  rheos__watch_set *set = rheos__alloc_zeroed(sizeof *set);
  set_builder b = {.list = list, .set = set};
  if (set == NULL) return rheos__out_of_memory();
  atomic_init(&set->references, 1);
  for (const rheos_watch *watch = list->first; watch != NULL; watch = watch->next) {
    set->looks_for_nan = set->looks_for_nan || watch->options.what == RHEOS_WATCH_FIRST_NAN;
  }
  if (part != NULL) {
    add_all_of_part(&b, part);
  } else {
    add_all(&b, graph);
  }
  if (!b.failed && has_room(&b)) {
    set->first[b.count] = (int32_t)set->num_watchers;
    set->watches = rheos__watches_new(b.items, b.count);
  }
  rheos__free(b.items);
  rheos__free((void *)b.bodies);
  if (set->watches == NULL) {
    rheos__watch_set_unref(set);
    return rheos__out_of_memory();
  }
  *out_set = set;
  return NULL;
}

// With the list's mutex held.
static rheos_status *current_set(rheos__watch_list *list, rheos_graph *graph,
                                 rheos__watch_set **out_set) {
  rheos__watch_set *set = list->set;
  *out_set = NULL;
  if (list->first == NULL) return NULL;
  if (set != NULL && (set->num_nodes != rheos_graph_num_operations(graph) ||
                      set->num_functions != rheos_graph_num_functions(graph))) {
    rheos__watch_set_unref(set);
    set = NULL;
  }
  list->set = set;
  if (set == NULL) RHEOS_TRY(make_set(list, graph, NULL, &list->set));
  *out_set = rheos__watch_set_ref(list->set);
  return NULL;
}

rheos_status *rheos__watch_list_begin_step(rheos__watch_list *list, rheos_graph *graph,
                                           rheos__watch_set **out_set, int64_t *out_number) {
  pthread_mutex_lock(&list->mutex);
  rheos_status *status = current_set(list, graph, out_set);
  if (*out_set != NULL) *out_number = list->num_steps++;
  pthread_mutex_unlock(&list->mutex);
  return status;
}

int64_t rheos__watch_list_count_step(rheos__watch_list *list) {
  pthread_mutex_lock(&list->mutex);
  const int64_t number = list->num_steps++;
  pthread_mutex_unlock(&list->mutex);
  return number;
}

rheos_status *rheos__watch_set_of_part(rheos__watch_list *list, const rheos__watched_part *part,
                                       rheos__watch_set **out_set, int64_t *out_version) {
  *out_set = NULL;
  pthread_mutex_lock(&list->mutex);
  *out_version = atomic_load(&list->version);
  rheos_status *status = list->first != NULL ? make_set(list, NULL, part, out_set) : NULL;
  pthread_mutex_unlock(&list->mutex);
  return status;
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

static bool is_name_of_any(rheos_graph *graph, const char *names) {
  char name[NAME_BYTES];
  const int32_t num_nodes = rheos_graph_num_operations(graph);
  for (int32_t id = 0; id < num_nodes; id++) {
    if (matches(names, name_of(graph, id, name))) return true;
  }
  return false;
}

rheos_status *rheos__check_watched_names(rheos_graph *graph, const char *names) {
  if (names == NULL || is_name_of_any(graph, names)) return NULL;
  const size_t num_functions = rheos_graph_num_functions(graph);
  for (size_t i = 0; i < num_functions; i++) {
    rheos_graph *body = body_at(graph, i);
    if (body != NULL && is_name_of_any(body, names)) return NULL;
  }
  return no_such_name(graph, names);
}

rheos_status *rheos__check_watch_options(const rheos_watch_options *options) {
  if (options->seen == NULL) return RHEOS_INVALID("a watch needs a function to tell");
  if (options->what <= RHEOS_WATCH_HISTOGRAM) return NULL;
  return RHEOS_INVALID("a watch of %d: there is no such thing to tell", (int)options->what);
}

// Behind a change of what is on, with the list's mutex held, which is given back.
static void end_change(rheos__watch_list *list) {
  rheos__watch_set *set = list->set;
  list->set = NULL;
  atomic_fetch_add(&list->version, 1);
  pthread_mutex_unlock(&list->mutex);
  rheos__watch_set_unref(set);
}

rheos_status *rheos__watch_list_add(rheos__watch_list *list, const rheos_watch_options *options,
                                    rheos_watch **out_watch) {
  rheos_watch *watch = NULL;
  RHEOS_TRY(watch_new(list, options, &watch));
  pthread_mutex_lock(&list->mutex);
  rheos_watch **last = &list->first;
  while (*last != NULL) last = &(*last)->next;
  *last = watch;
  end_change(list);
  atomic_fetch_add(&list->num_on, 1);
  *out_watch = watch;
  return NULL;
}

bool rheos_watch_has_matched(const rheos_watch *watch) {
  return watch != NULL && atomic_load(&watch->has_matched);
}

void rheos_watch_free(rheos_watch *watch) {
  if (watch == NULL) return;
  rheos__watch_list *list = watch->list;
  pthread_mutex_lock(&list->mutex);
  rheos_watch **place = &list->first;
  while (*place != watch) place = &(*place)->next;
  *place = watch->next;
  end_change(list);
  atomic_fetch_sub(&list->num_on, 1);
  pthread_mutex_lock(&watch->mutex);
  watch->is_off = true;
  pthread_mutex_unlock(&watch->mutex);
  watch_unref(watch);
}
