#include "runtime/call/watched_calls.h"

#include <string.h>

#include "graph/calls.h"
#include "graph/library.h"
#include "runtime/step/watched_step.h"

// ---- What is left behind

static void put_back(rheos__home *home, rheos__watched_bodies *first) {
  while (first != NULL) {
    rheos__watched_bodies *w = first;
    first = w->next;
    pthread_mutex_lock(&home->mutex);
    w->next = home->outliving;
    home->outliving = w;
    pthread_mutex_unlock(&home->mutex);
  }
}

// Lets go of those that nothing calls any more.
static void sweep(rheos__home *home) {
  pthread_mutex_lock(&home->mutex);
  rheos__watched_bodies *called = home->outliving, *uncalled = NULL;
  home->outliving = NULL;
  pthread_mutex_unlock(&home->mutex);
  for (rheos__watched_bodies **link = &called; *link != NULL;) {
    rheos__watched_bodies *w = *link;
    rheos__bodies_sweep(w->bodies);
    if (rheos__bodies_are_called(w->bodies)) {
      link = &w->next;
      continue;
    }
    *link = w->next;
    w->next = uncalled;
    uncalled = w;
  }
  rheos__watched_bodies_clear(uncalled);
  rheos__watched_bodies_free(uncalled);
  put_back(home, called);
}

void rheos__home_leave_bodies(rheos__home *home, rheos__bodies *bodies, rheos__watches *watches) {
  rheos__watched_bodies *kept = NULL;
  rheos__bodies_forget(bodies);  // they may call each other
  if (rheos__bodies_are_called(bodies)) kept = rheos__alloc_zeroed(sizeof *kept);
  if (kept == NULL) {  // if memory is short, what calls them fails
    rheos__bodies_clear(bodies);
    rheos__bodies_unref(bodies);
  } else {
    *kept = (rheos__watched_bodies){.bodies = bodies, .watches = rheos__watches_ref(watches)};
    put_back(home, kept);
  }
  sweep(home);
}

void rheos__watched_calls_clear(rheos__home *home) {
  for (rheos__watched_function *w = home->watched_functions; w != NULL; w = w->next) {
    rheos__bodies_clear(w->bodies);
  }
  rheos__watched_bodies_clear(home->outliving);
}

static void free_function(rheos__watched_function *w) {
  rheos__bodies_unref(w->bodies);
  rheos__watch_set_unref(w->set);
  rheos_graph_unref(w->graph);
  rheos__free(w);
}

void rheos__watched_calls_free(rheos__home *home) {
  while (home->watched_functions != NULL) {
    rheos__watched_function *w = home->watched_functions;
    home->watched_functions = w->next;
    free_function(w);
  }
  rheos__watched_bodies_free(home->outliving);
  home->outliving = NULL;
}

// ---- What is watched of a function

typedef struct watched_call {
  rheos__watch_set *set;  // counted
  rheos__site *site;      // of bodies that watch; NULL: nothing is watched
} watched_call;

static rheos__watched_part part_of(const rheos__function *f) {
  return (rheos__watched_part){f->graph, f->args, f->num_args, NULL};
}

// With the home's mutex held.
static rheos__watched_function *find(rheos__home *home, const rheos__function *f) {
  rheos__watched_function *w = home->watched_functions;
  while (w != NULL && w->function != f) w = w->next;
  return w;
}

static rheos_status *add(rheos__home *home, const rheos__function *f,
                         rheos__watched_function **out_added) {
  rheos__watched_function *w = rheos__alloc_zeroed(sizeof *w);
  if (w == NULL) return rheos__out_of_memory();
  w->function = f;
  w->graph = rheos_graph_ref(f->graph);
  w->next = home->watched_functions;
  home->watched_functions = *out_added = w;
  return NULL;
}

static rheos_status *new_bodies(rheos__home *home, const rheos__watch_set *set,
                                rheos__bodies **out_bodies) {
  rheos__plan_context context = home->context;
  context.watches = set->watches;
  *out_bodies = rheos__bodies_new(&context);
  return *out_bodies != NULL ? NULL : rheos__out_of_memory();
}

// Has the function watched as the set says, which gets a reference. `out_gone` and `out_watches`
// are what it had before. With the home's mutex held.
static rheos_status *watch(rheos__home *home, rheos__watched_function *w, rheos__watch_set *set,
                           int64_t version, rheos__watched_bodies *out_gone) {
  const bool is_like_before = w->set != NULL && rheos__watches_equal(w->set->watches, set->watches);
  rheos__bodies *bodies = is_like_before ? w->bodies : NULL;
  if (!is_like_before && set->num_watchers > 0) RHEOS_TRY(new_bodies(home, set, &bodies));
  if (!is_like_before && w->bodies != NULL) {
    *out_gone = (rheos__watched_bodies){.bodies = w->bodies,
                                        .watches = rheos__watches_ref(w->set->watches)};
  }
  w->bodies = bodies;
  rheos__watch_set_unref(w->set);
  w->set = rheos__watch_set_ref(set);
  w->version = version;
  return NULL;
}

// Takes out one of a function that has left its library; NULL: there is none.
static rheos__watched_function *take_removed(rheos__home *home) {
  pthread_mutex_lock(&home->mutex);
  rheos__watched_function **link = &home->watched_functions;
  while (*link != NULL && !atomic_load(&(*link)->function->is_removed)) link = &(*link)->next;
  rheos__watched_function *removed = *link;
  if (removed != NULL) *link = removed->next;
  pthread_mutex_unlock(&home->mutex);
  return removed;
}

static void forget_removed(rheos__home *home) {
  for (rheos__watched_function *w; (w = take_removed(home)) != NULL;) {
    if (w->bodies != NULL) rheos__home_leave_bodies(home, w->bodies, w->set->watches);
    w->bodies = NULL;
    free_function(w);
  }
}

static rheos_status *look_again(rheos__home *home, const rheos__function *f) {
  const rheos__watched_part part = part_of(f);
  rheos__watch_set *set = NULL;
  rheos__watched_bodies gone = {0};
  int64_t version;
  RHEOS_TRY(rheos__watch_set_of_part(home->watches, &part, &set, &version));
  if (set == NULL) return NULL;  // the watches went meanwhile
  forget_removed(home);
  pthread_mutex_lock(&home->mutex);
  rheos__watched_function *w = find(home, f);
  rheos_status *status = w == NULL ? add(home, f, &w) : NULL;
  if (status == NULL) status = watch(home, w, set, version, &gone);
  pthread_mutex_unlock(&home->mutex);
  rheos__watch_set_unref(set);
  if (gone.bodies != NULL) rheos__home_leave_bodies(home, gone.bodies, gone.watches);
  rheos__watches_unref(gone.watches);
  return status;
}

// Whether it is known what is watched.
static rheos_status *take(rheos__home *home, const rheos__site *site, watched_call *out_call,
                          bool *out_is_known) {
  rheos_status *status = NULL;
  pthread_mutex_lock(&home->mutex);
  const rheos__watched_function *w = find(home, rheos__site_function(site));
  *out_is_known = w != NULL && w->version == atomic_load(&home->watches->version);
  if (*out_is_known && w->bodies != NULL) {
    status = rheos__site_new_in(site, w->bodies, &out_call->site);
    if (status == NULL) out_call->set = rheos__watch_set_ref(w->set);
  }
  pthread_mutex_unlock(&home->mutex);
  return status;
}

static rheos_status *begin_call(rheos__home *home, const rheos__site *site,
                                watched_call *out_call) {
  bool is_known;
  RHEOS_TRY(take(home, site, out_call, &is_known));
  if (is_known) return NULL;
  RHEOS_TRY(look_again(home, rheos__site_function(site)));
  return take(home, site, out_call, &is_known);
}

// ---- Calls

static rheos_status *run_call(rheos__site *site, const rheos__parameters *parameters,
                              rheos__step *step, rheos_tensor **results) {
  rheos__site_call *call;
  RHEOS_TRY(rheos__site_enter(site, step, &call));
  rheos_status *status = rheos__site_call_run(call, parameters, step, results);
  rheos__site_leave(site, call);
  return status;
}

// In a step of its own, for one that may have other observers.
static rheos_status *run_in_step(const watched_call *call, const rheos__observer *observer,
                                 const rheos__parameters *parameters, rheos__step *outer,
                                 rheos_tensor **results) {
  rheos__step step;
  rheos__observers room;
  rheos_run_options options;
  if (outer->options != NULL) options = *outer->options;
  options.trace = NULL;
  rheos__step_init(&step, outer->home, outer->options != NULL ? &options : NULL);
  step.states = outer->states;
  step.depth = outer->depth;
  rheos__step_observe(&step, observer, &room);
  RHEOS_TRY(rheos__step_begin(&step));
  rheos_status *status = run_call(call->site, parameters, &step, results);
  return rheos__step_end_take(&step, status);
}

rheos_status *rheos__site_call_watched(rheos__site *site, const rheos__parameters *parameters,
                                       rheos__step *step, rheos_tensor **results,
                                       bool *out_is_watched) {
  rheos__home *home = step->home;
  watched_call call = {NULL, NULL};
  *out_is_watched = false;
  if (home == NULL || home->watches == NULL || !rheos__is_watched(home->watches) ||
      rheos__is_telling(home->watches)) {
    return NULL;
  }
  RHEOS_TRY(begin_call(home, site, &call));
  if (call.site == NULL) return NULL;
  const rheos__function *function = rheos__site_function(site);
  const rheos__watched_part part = part_of(function);
  rheos__watched_step watched;
  *out_is_watched = true;
  rheos_status *status =
      rheos__watched_step_init_with(&watched, home->watches, call.set, &part, parameters->tensors);
  watched.within = function->name;
  if (status == NULL) status = run_in_step(&call, &watched.observer, parameters, step, results);
  rheos__watched_step_deinit(&watched);
  rheos__site_free(call.site);
  rheos__watch_set_unref(call.set);
  return status;
}
