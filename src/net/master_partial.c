#include "net/master_partial.h"

#include <stdio.h>

#include "graph/graph.h"
#include "net/ids.h"
#include "net/master_names.h"

struct rheos__master_partial {
  char handle[RHEOS__PARTIAL_HANDLE_BYTES];
  rheos__master_run run;  // the names of the whole step, and its plan and number; in the arena
  rheos__edge *feeds, *fetches;
  rheos__arena arena;
  _Atomic int32_t references;
  rheos__master_partial *next;
  pthread_mutex_t mutex;  // held by the thread that runs a call; guards what follows
  bool *is_fed, *is_fetched, has_begun;
};

// ---- Making and ending

static void partial_unref(rheos__master_session *session, rheos__master_partial *partial) {
  if (atomic_fetch_sub(&partial->references, 1) != 1) return;
  rheos__master_plan_unref(session, partial->run.plan);
  rheos__arena_deinit(&partial->arena);
  pthread_mutex_destroy(&partial->mutex);
  rheos__free(partial);
}

static rheos_status *find_edges(rheos_graph *graph, char *const *names, size_t count,
                                rheos__edge *edges) {
  for (size_t i = 0; i < count; i++) {
    rheos_output output;
    RHEOS_TRY(rheos_graph_output(graph, names[i], &output));
    edges[i] = (rheos__edge){output.id, output.index};
  }
  return NULL;
}

// Where the edge is in the list; `count`: nowhere.
static size_t find(const rheos__edge *edges, size_t count, rheos__edge edge) {
  size_t at = 0;
  while (at < count && (edges[at].id != edge.id || edges[at].index != edge.index)) at++;
  return at;
}

static rheos_status *check_whole(rheos__master_partial *partial) {
  const rheos__master_run *run = &partial->run;
  if (run->num_fetches == 0 && run->num_targets == 0) {
    return RHEOS_INVALID("Must specify at least one target to fetch or execute.");
  }
  for (size_t i = 0; i < run->num_fetches; i++) {
    if (find(partial->feeds, run->num_feeds, partial->fetches[i]) < run->num_feeds) {
      return RHEOS_INVALID("%s is both fed and fetched.", run->fetches[i]);
    }
    partial->is_fetched[i] = find(partial->fetches, i, partial->fetches[i]) < i;
  }
  return NULL;
}

// With the session's mutex held.
static rheos_status *fill(rheos__master_session *session, const rheos__master_run *run,
                          rheos__master_partial *partial) {
  rheos__arena *arena = &partial->arena;
  RHEOS_TRY(rheos__master_copy_names(run, arena, &partial->run));
  partial->feeds = rheos__arena_alloc(arena, (run->num_feeds + 1) * sizeof *partial->feeds);
  partial->fetches = rheos__arena_alloc(arena, (run->num_fetches + 1) * sizeof *partial->fetches);
  partial->is_fed = rheos__arena_alloc_zeroed(arena, run->num_feeds + 1);
  partial->is_fetched = rheos__arena_alloc_zeroed(arena, run->num_fetches + 1);
  if (partial->feeds == NULL || partial->fetches == NULL || partial->is_fed == NULL ||
      partial->is_fetched == NULL) {
    return rheos__out_of_memory();
  }
  if (session->is_closed) return rheos_status_new(RHEOS_CANCELLED, "Session was closed.");
  RHEOS_TRY(rheos__master_plan_get(session, &partial->run, &partial->run.plan));
  RHEOS_TRY(find_edges(session->graph, run->feeds, run->num_feeds, partial->feeds));
  RHEOS_TRY(find_edges(session->graph, run->fetches, run->num_fetches, partial->fetches));
  return check_whole(partial);
}

static rheos_status *fill_and_link(rheos__master_session *session, const rheos__master_run *run,
                                   rheos__master_partial *partial) {
  pthread_mutex_lock(&session->mutex);
  rheos_status *status = fill(session, run, partial);
  if (status == NULL) {
    snprintf(partial->handle, sizeof partial->handle, "%lld", (long long)++session->last_partial);
    partial->next = session->partials;
    session->partials = partial;
  }
  pthread_mutex_unlock(&session->mutex);
  return status;
}

rheos_status *rheos__master_partial_setup(rheos__master_session *session,
                                          const rheos__master_run *run,
                                          char out_handle[RHEOS__PARTIAL_HANDLE_BYTES]) {
  rheos__master_partial *partial = rheos__alloc_zeroed(sizeof *partial);
  if (partial == NULL) return rheos__out_of_memory();
  atomic_init(&partial->references, 2);  // the session's, and one until this is over
  rheos__arena_init(&partial->arena);
  pthread_mutex_init(&partial->mutex, NULL);
  partial->run.step = rheos__step_id();
  rheos_status *status = fill_and_link(session, run, partial);
  memcpy(out_handle, partial->handle, sizeof partial->handle);
  if (status != NULL) partial_unref(session, partial);
  partial_unref(session, partial);
  return status;
}

// With the partial's mutex held.
static void clean_up(rheos__master_session *session, rheos__master_partial *partial) {
  if (partial->has_begun) {
    rheos__master_clean_up(session, partial->run.plan, partial->run.step);
  }
  partial->has_begun = false;
}

// With the partial's mutex held.
static void end(rheos__master_session *session, rheos__master_partial *partial) {
  pthread_mutex_lock(&session->mutex);
  rheos__master_partial **place = &session->partials;
  while (*place != NULL && *place != partial) place = &(*place)->next;
  const bool was_there = *place != NULL;
  if (was_there) *place = partial->next;
  pthread_mutex_unlock(&session->mutex);
  clean_up(session, partial);
  if (was_there) partial_unref(session, partial);
}

void rheos__master_partials_end_all(rheos__master_session *session) {
  pthread_mutex_lock(&session->mutex);
  rheos__master_partial *partial = session->partials;
  session->partials = NULL;
  pthread_mutex_unlock(&session->mutex);
  while (partial != NULL) {
    rheos__master_partial *next = partial->next;
    pthread_mutex_lock(&partial->mutex);
    clean_up(session, partial);
    pthread_mutex_unlock(&partial->mutex);
    partial_unref(session, partial);
    partial = next;
  }
}

// With a reference.
static rheos_status *find_partial(rheos__master_session *session, const char *handle,
                                  rheos__master_partial **out_partial) {
  pthread_mutex_lock(&session->mutex);
  rheos__master_partial *partial = session->partials;
  while (partial != NULL && strcmp(partial->handle, handle) != 0) partial = partial->next;
  if (partial != NULL) atomic_fetch_add(&partial->references, 1);
  pthread_mutex_unlock(&session->mutex);
  *out_partial = partial;
  if (partial != NULL) return NULL;
  return RHEOS_INVALID("Must run PartialRunSetup before performing partial runs");
}

// ---- What a call asks for

// A call on its way: where in the whole step its feeds and fetches are.
typedef struct part_call {
  rheos__master_partial *partial;
  const rheos__master_run *run;
  size_t *feeds, *fetches;
  bool *is_fed, *is_fetched;  // by feed and fetch of the whole, with what comes by this call
  rheos__arena arena;
} part_call;

static rheos_status *find_named(rheos_graph *graph, const char *what, const char *name,
                                const rheos__edge *edges, size_t count, size_t *out_at) {
  rheos_output output;
  rheos_status *status = rheos_graph_output(graph, name, &output);
  *out_at = status == NULL ? find(edges, count, (rheos__edge){output.id, output.index}) : count;
  rheos_status_free(status);
  if (*out_at < count) return NULL;
  return RHEOS_INVALID("The %s %s was not specified in partial_run_setup.", what, name);
}

static rheos_status *find_feeds(rheos_graph *graph, part_call *call) {
  const rheos__master_partial *partial = call->partial;
  for (size_t i = 0; i < call->run->num_feeds; i++) {
    const char *name = call->run->feeds[i];
    RHEOS_TRY(
        find_named(graph, "feed", name, partial->feeds, partial->run.num_feeds, &call->feeds[i]));
    bool *is_fed = &call->is_fed[call->feeds[i]];
    if (*is_fed) return RHEOS_INVALID("The feed %s has already been fed.", name);
    *is_fed = true;
  }
  return NULL;
}

static rheos_status *find_fetches(rheos_graph *graph, part_call *call) {
  const rheos__master_partial *partial = call->partial;
  for (size_t i = 0; i < call->run->num_fetches; i++) {
    const char *name = call->run->fetches[i];
    RHEOS_TRY(find_named(graph, "fetch", name, partial->fetches, partial->run.num_fetches,
                         &call->fetches[i]));
    bool *is_fetched = &call->is_fetched[call->fetches[i]];
    if (*is_fetched) return RHEOS_INVALID("The fetch %s has already been fetched.", name);
    *is_fetched = true;
  }
  return NULL;
}

// ---- Whether it can be computed

typedef struct walk {
  const rheos_graph *graph;
  const part_call *call;
  bool *is_seen;  // by node
  int32_t *stack;
  int32_t depth;
} walk;

static void push(walk *w, int32_t id) {
  if (!w->is_seen[id]) w->stack[w->depth++] = id;
  w->is_seen[id] = true;
}

// What is fed is not looked behind.
static rheos_status *follow(walk *w, rheos__edge edge) {
  const rheos__master_partial *partial = w->call->partial;
  const size_t count = partial->run.num_feeds, at = find(partial->feeds, count, edge);
  if (at == count) {
    push(w, edge.id);
  } else if (!w->call->is_fed[at]) {
    return RHEOS_INVALID("Fetch %s can't be computed from the feeds that have been fed so far.",
                         partial->run.feeds[at]);
  }
  return NULL;
}

static rheos_status *walk_back(walk *w) {
  for (size_t i = 0; i < w->call->run->num_fetches; i++) {
    push(w, w->call->partial->fetches[w->call->fetches[i]].id);
  }
  while (w->depth > 0) {
    const rheos__node *node = rheos__graph_node(w->graph, w->stack[--w->depth]);
    for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; i++) {
      RHEOS_TRY(follow(w, node->edges[i]));
    }
  }
  return NULL;
}

static rheos_status *check_computable(rheos_graph *graph, part_call *call) {
  const size_t count = (size_t)rheos_graph_num_operations(graph) + 1;
  walk w = {.graph = graph,
            .call = call,
            .is_seen = rheos__arena_alloc_zeroed(&call->arena, count),
            .stack = rheos__arena_alloc(&call->arena, count * sizeof(int32_t))};
  return w.is_seen != NULL && w.stack != NULL ? walk_back(&w) : rheos__out_of_memory();
}

static bool *copy_of(const bool *from, size_t count, rheos__arena *arena) {
  bool *copy = rheos__arena_alloc(arena, count + 1);
  if (copy != NULL) memcpy(copy, from, count);
  return copy;
}

static rheos_status *look_at(rheos__master_session *session, part_call *call) {
  const rheos__master_partial *partial = call->partial;
  const rheos__master_run *run = call->run;
  rheos__arena *arena = &call->arena;
  call->feeds = rheos__arena_alloc(arena, (run->num_feeds + 1) * sizeof *call->feeds);
  call->fetches = rheos__arena_alloc(arena, (run->num_fetches + 1) * sizeof *call->fetches);
  call->is_fed = copy_of(partial->is_fed, partial->run.num_feeds, arena);
  call->is_fetched = copy_of(partial->is_fetched, partial->run.num_fetches, arena);
  if (call->feeds == NULL || call->fetches == NULL || call->is_fed == NULL ||
      call->is_fetched == NULL) {
    return rheos__out_of_memory();
  }
  pthread_mutex_lock(&session->mutex);  // of the graph
  rheos_status *status = find_feeds(session->graph, call);
  if (status == NULL) status = find_fetches(session->graph, call);
  if (status == NULL) status = check_computable(session->graph, call);
  pthread_mutex_unlock(&session->mutex);
  return status;
}

static bool are_all(const bool *are, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!are[i]) return false;
  }
  return true;
}

// ---- Running

// Which of the call's names is that one of the whole step; -1: none.
static int32_t number_of(const size_t *names, size_t count, int32_t whole) {
  for (size_t i = 0; i < count; i++) {
    if (names[i] == (size_t)whole) return (int32_t)i;
  }
  return -1;
}

typedef struct ends {
  int32_t *numbers;
  char **keys;
  size_t count;
} ends;

// The ends of a part that are the call's, with the call's numbers.
static rheos_status *pick(const ends *all, const size_t *names, size_t num_names,
                          rheos__arena *arena, ends *out) {
  out->numbers = rheos__arena_alloc(arena, (all->count + 1) * sizeof *out->numbers);
  out->keys = rheos__arena_alloc(arena, (all->count + 1) * sizeof *out->keys);
  if (out->numbers == NULL || out->keys == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < all->count; i++) {
    const int32_t number = number_of(names, num_names, all->numbers[i]);
    if (number < 0) continue;
    out->numbers[out->count] = number;
    out->keys[out->count++] = all->keys[i];
  }
  return NULL;
}

static rheos_status *part_of_call(part_call *call, const rheos__master_part *whole,
                                  rheos__master_part *part) {
  const ends feeds = {whole->feeds, whole->feed_keys, whole->num_feeds};
  const ends fetches = {whole->fetches, whole->fetch_keys, whole->num_fetches};
  ends some_feeds = {.count = 0}, some_fetches = {.count = 0};
  RHEOS_TRY(pick(&feeds, call->feeds, call->run->num_feeds, &call->arena, &some_feeds));
  RHEOS_TRY(pick(&fetches, call->fetches, call->run->num_fetches, &call->arena, &some_fetches));
  *part = *whole;
  part->feeds = some_feeds.numbers;
  part->feed_keys = some_feeds.keys;
  part->num_feeds = some_feeds.count;
  part->fetches = some_fetches.numbers;
  part->fetch_keys = some_fetches.keys;
  part->num_fetches = some_fetches.count;
  return NULL;
}

// The plan of the whole step, with those ends of its parts that are the call's. In the arena.
static rheos_status *plan_of_call(part_call *call, rheos__master_plan *plan) {
  const rheos__master_plan *whole = call->partial->run.plan;
  plan->num_parts = whole->num_parts;
  plan->parts =
      rheos__arena_alloc(&call->arena, ((size_t)whole->num_parts + 1) * sizeof *plan->parts);
  if (plan->parts == NULL) return rheos__out_of_memory();
  atomic_init(&plan->references, 1);  // of who has it on the stack
  for (int32_t i = 0; i < whole->num_parts; i++) {
    RHEOS_TRY(part_of_call(call, &whole->parts[i], &plan->parts[i]));
  }
  return NULL;
}

static rheos_status *run_call(rheos__master_session *session, part_call *call) {
  rheos__master_partial *partial = call->partial;
  rheos__master_plan plan = {.num_parts = 0};
  rheos__master_run run = *call->run;
  const size_t num_feeds = partial->run.num_feeds, num_fetches = partial->run.num_fetches;
  RHEOS_TRY(plan_of_call(call, &plan));
  memcpy(partial->is_fed, call->is_fed, num_feeds);
  memcpy(partial->is_fetched, call->is_fetched, num_fetches);
  run.plan = &plan;
  run.step = partial->run.step;
  run.is_last = are_all(partial->is_fed, num_feeds) && are_all(partial->is_fetched, num_fetches);
  partial->has_begun = true;
  rheos_status *status = rheos__master_session_run(session, &run);
  if (status != NULL || run.is_last) end(session, partial);
  return status;
}

rheos_status *rheos__master_partial_run(rheos__master_session *session, const char *handle,
                                        const rheos__master_run *run) {
  part_call call = {.run = run};
  RHEOS_TRY(find_partial(session, handle, &call.partial));
  rheos__arena_init(&call.arena);
  pthread_mutex_lock(&call.partial->mutex);
  rheos_status *status = look_at(session, &call);
  if (status == NULL) status = run_call(session, &call);
  pthread_mutex_unlock(&call.partial->mutex);
  rheos__arena_deinit(&call.arena);
  partial_unref(session, call.partial);
  return status;
}
