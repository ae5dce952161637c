#include "runtime/session/direct_session.h"

#include "base/large_blocks.h"
#include "runtime/session/direct_callable.h"
#include "runtime/session/direct_partial_run.h"
#include "runtime/run/executor.h"
#include "runtime/session/session_stats.h"
#include "runtime/session/watched_run.h"

// ---- Making and ending

// Two feeds for one tensor would leave open which one counts.
static rheos_status *check_feeds_differ(const rheos_graph *graph, const rheos__signature_ids *s) {
  for (int32_t i = 0; i < s->num_feeds; ++i) {
    for (int32_t k = 0; k < i; ++k) {
      if (s->feeds[i].id == s->feeds[k].id && s->feeds[i].index == s->feeds[k].index) {
        return rheos__status_at_take(RHEOS_INVALID("the tensor is fed twice"), graph,
                                     s->feeds[i].id);
      }
    }
  }
  return NULL;
}

static rheos_status *make_plan(void *argument, const rheos__signature_ids *ids,
                               rheos__plan **out_plan) {
  rheos__direct_session *session = argument;
  RHEOS_TRY(check_feeds_differ(session->base.graph, ids));
  rheos__plan_context context = session->home.context;
  // Rules go by the shapes that the graph knows.
  if (ids->any_shapes) context.rewrites.disable_meta_optimizer = true;
  context.done = ids->done;
  context.num_done = ids->num_done;
  if (ids->watched != NULL) {
    context.watches = ids->watched->watches;
    context.bodies = ids->watched->bodies;
  }
  return rheos__plan_new(session->base.graph, &context, ids->feeds, ids->num_feeds, ids->fetches,
                         ids->num_fetches, ids->targets, ids->num_targets, out_plan);
}

static bool is_for(const char *target) { return target[0] == '\0'; }

static void init_plans(rheos__direct_session *session, int32_t max_plans) {
  pthread_mutex_init(&session->mutex, NULL);
  session->plans = (rheos__plan_cache){.make = make_plan,
                                       .argument = session,
                                       .mutex = &session->mutex,
                                       .home = &session->home,
                                       .max_plans = max_plans > 0 ? (size_t)max_plans : 0};
  rheos__plan_cache_init(&session->plans);
}

static rheos_status *init(rheos_session *base, const rheos_session_options *options) {
  rheos__direct_session *session = rheos__direct(base);
  init_plans(session, options->max_cached_plans);
  session->feeds_any_shape = options->feeds_any_shape;
  const rheos__home_options home = {
      .owner = "Session",
      .host = options->host,
      .own_host = {.num_cpu_devices = options->num_cpu_devices,
                   .num_threads = options->num_threads,
                   .num_gpu_devices = options->num_gpu_devices,
                   .gpu_devices = options->gpu_devices},
      .has_resources = options->host == NULL || !options->shares_resources,
      .context = {.allow_soft_placement = options->allow_soft_placement,
                  .log_device_placement = options->log_device_placement,
                  .prefers_cards = true,
                  .program_function = options->program_function,
                  .program_argument = options->program_argument,
                  .leaves_functions = options->leaves_functions,
                  .rewrites = options->rewrites,
                  .num_threads = options->num_threads_between_ops}};
  RHEOS_TRY(rheos__home_init(&session->home, &home));
  session->watches = session->home.watches = rheos__watch_list_new();
  return session->watches != NULL ? NULL : rheos__out_of_memory();
}

static void close_session(rheos_session *base) {
  rheos__direct_session *session = rheos__direct(base);
  rheos__home_close(&session->home);
  rheos__direct_forget_partial_runs(session);
  rheos__plan_cache_clear(&session->plans);
  rheos__watched_bodies_clear(session->watched);
  if (session->watches != NULL) rheos__watch_list_forget(session->watches);
  rheos__home_clear(&session->home);
  rheos__large_trim();
}

static void deinit(rheos_session *base) {
  rheos__direct_session *session = rheos__direct(base);
  rheos__plan_cache_deinit(&session->plans);
  rheos__watched_bodies_free(session->watched);
  rheos__home_deinit(&session->home);
  rheos__watch_list_unref(session->watches);
  pthread_mutex_destroy(&session->mutex);
}

// ---- What it is asked

static rheos_status *list_devices(rheos_session *session,
                                  const rheos_device_attributes **out_devices, size_t *out_count) {
  const rheos_host *host = rheos__direct(session)->home.host;
  *out_devices = host->attributes;
  *out_count = (size_t)host->num_devices;
  return NULL;
}

static rheos_status *waiting(rheos_session *session, char **out_text) {
  return rheos__waits_tell(&rheos__direct(session)->home.waits, rheos__clock_ns(), out_text);
}

static void get_stats(rheos_session *base, rheos_session_stats *out_stats) {
  rheos__direct_session *session = rheos__direct(base);
  pthread_mutex_lock(&session->mutex);
  out_stats->num_runs = session->num_runs;
  rheos__add_plans(&session->plans, out_stats);
  pthread_mutex_unlock(&session->mutex);
}

static rheos__watch_list *watches(rheos_session *session) {
  return rheos__direct(session)->watches;
}

static rheos__home *home(rheos_session *session) { return &rheos__direct(session)->home; }

// ---- Running

rheos_status *rheos__direct_plan(rheos__direct_session *session, const rheos__signature_ids *ids,
                                 const rheos_run_options *options, rheos__cached_plan **out_plan) {
  pthread_mutex_lock(&session->mutex);
  rheos_status *status = rheos__plan_cache_get(&session->plans, ids, options, out_plan);
  if (status == NULL) ++session->num_runs;
  pthread_mutex_unlock(&session->mutex);
  return status;
}

static rheos_status *check_feeds(const rheos__cached_plan *cached, rheos_tensor *const *values) {
  const rheos__plan *plan = cached->plan;
  for (int32_t i = 0; i < plan->num_feeds; ++i) {
    RHEOS_TRY(rheos__check_feed(plan->graph, plan->feeds[i], values[i], cached->ids.any_shapes));
  }
  return NULL;
}

static void drop_values(rheos_tensor **values, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    rheos_tensor_unref(values[i]);
    values[i] = NULL;
  }
}

static rheos_status *run_plan(rheos__direct_session *session, rheos__cached_plan *cached,
                              rheos_tensor *const *values, const rheos__bound *bound,
                              rheos_tensor **out_values, const rheos_run_options *options,
                              const rheos__observer *observer, rheos__rendezvous *rendezvous) {
  rheos__plan *plan = cached->plan;
  rheos__step step;
  rheos__observers observers;
  double cost_ns;
  RHEOS_TRY(check_feeds(cached, values));
  rheos__step_init(&step, &session->home, options);
  if (observer != NULL) rheos__step_observe(&step, observer, &observers);
  RHEOS_TRY(rheos__step_begin(&step));
  if (rendezvous != NULL) step.rendezvous = rheos__rendezvous_ref(rendezvous);
  rheos_status *status = rheos__execute(plan, values, bound, &step, out_values, &cost_ns);
  status = rheos__step_end_take(&step, status);
  if (status != NULL) {
    if (bound == NULL) drop_values(out_values, plan->num_fetches);
    return status;
  }
  // How long a step takes that waits is not known.
  const int64_t known_ns = step.may_wait || step.is_listening ? 0 : (int64_t)cost_ns;
  atomic_store_explicit(&cached->cost_ns, known_ns, memory_order_relaxed);
  return NULL;
}

rheos_status *rheos__direct_run_take(rheos__direct_session *session, rheos__cached_plan *plan,
                                     rheos_tensor *const *values, const rheos__bound *bound,
                                     rheos_tensor **out_values, const rheos_run_options *options,
                                     const rheos__observer *observer,
                                     rheos__rendezvous *rendezvous) {
  rheos_status *status =
      run_plan(session, plan, values, bound, out_values, options, observer, rendezvous);
  rheos__cached_plan_unref(plan);
  return status;
}

static rheos_status *run_observed(rheos__direct_session *session, const rheos__signature_ids *ids,
                                  rheos_tensor *const *values, rheos_tensor **out_values,
                                  const rheos_run_options *options,
                                  const rheos__observer *observer) {
  rheos__cached_plan *plan = NULL;
  RHEOS_TRY(rheos__home_enter(&session->home));
  rheos_status *status = rheos__direct_plan(session, ids, options, &plan);
  if (status == NULL) {
    status = run_plan(session, plan, values, NULL, out_values, options, observer, NULL);
    rheos__cached_plan_unref(plan);
  }
  rheos__home_leave(&session->home);
  return status;
}

// What the plan is to watch: a part of its signature. NULL is nothing.
static rheos_status *find_watched(rheos__direct_session *session, rheos__watches *watches,
                                  rheos__signature_ids *ids) {
  if (watches == NULL) return NULL;
  rheos__watched_bodies *found = NULL;
  pthread_mutex_lock(&session->mutex);
  rheos_status *status =
      rheos__watched_bodies_find(&session->watched, &session->home.context, watches, &found);
  pthread_mutex_unlock(&session->mutex);
  ids->watched = found;
  if (status == NULL) rheos__signature_ids_hash(ids);
  return status;
}

rheos_status *rheos__direct_watch(rheos__direct_session *session, rheos__signature_ids *ids,
                                  rheos_tensor *const *values, rheos__watched_step *out_step) {
  const rheos__watched_part part = {session->base.graph, ids->feeds, ids->num_feeds, NULL};
  RHEOS_TRY(rheos__watched_step_init(out_step, session->watches, &part, values));
  return find_watched(session, out_step->watches, ids);
}

static rheos_status *run_watched(rheos__direct_session *session, rheos__signature_ids ids,
                                 rheos_tensor *const *values, rheos_tensor **out_values,
                                 const rheos_run_options *options) {
  rheos__watched_step step;
  rheos_status *status = rheos__direct_watch(session, &ids, values, &step);
  if (status == NULL) {
    status = run_observed(session, &ids, values, out_values, options,
                          step.watches != NULL ? &step.observer : NULL);
  }
  rheos__watched_step_deinit(&step);
  return status;
}

static rheos_status *run(rheos_session *base, const rheos__signature_ids *ids,
                         rheos_tensor *const *values, rheos_tensor **out_values,
                         const rheos_run_options *options) {
  rheos__direct_session *session = rheos__direct(base);
  rheos__signature_ids any;
  if (session->feeds_any_shape && !rheos__feeds_fit(base->graph, ids, values)) {
    any = *ids;
    any.any_shapes = true;
    rheos__signature_ids_hash(&any);
    ids = &any;
  }
  if (rheos__is_watched(session->watches)) {
    return run_watched(session, *ids, values, out_values, options);
  }
  return run_observed(session, ids, values, out_values, options, NULL);
}

rheos_status *rheos__session_run_watched(rheos_session *base, const rheos_feed *feeds,
                                         size_t num_feeds, rheos_fetch *fetches, size_t num_fetches,
                                         const rheos_operation *targets, size_t num_targets,
                                         const rheos_run_options *options, rheos__watches *watches,
                                         const rheos__observer *observer) {
  rheos__direct_session *session = rheos__direct(base);
  rheos__run_signature s;
  for (size_t i = 0; i < num_fetches; ++i) fetches[i].value = NULL;
  RHEOS_TRY(rheos__run_signature_init(&s, base->graph, feeds, num_feeds, fetches, num_fetches,
                                      targets, num_targets));
  rheos_status *status = find_watched(session, watches, &s.ids);
  if (status == NULL) {
    status = run_observed(session, &s.ids, s.values, s.results, options, observer);
  }
  for (size_t i = 0; status == NULL && i < num_fetches; ++i) fetches[i].value = s.results[i];
  rheos__run_signature_deinit(&s);
  return status;
}

// ---- Looking at plans

// The segments that follow from the shapes of the feeds; others are keyed by what a run gives.
static rheos_status *make_segments(rheos__plan *plan, const rheos_shape *shapes, rheos__step *step,
                                   const rheos__segment **out_first) {
  rheos__segment *segment = NULL, *parent = NULL;
  do {
    RHEOS_TRY(rheos__segment_new(plan, parent, shapes, parent != NULL ? 0 : plan->num_feeds, step,
                                 &segment));
    pthread_mutex_lock(&plan->mutex);
    rheos__segment_link(plan, segment);
    pthread_mutex_unlock(&plan->mutex);
    if (parent == NULL) *out_first = segment;
    parent = segment;
  } while (segment->num_dynamic_values == 0 && segment->end_entry < plan->num_entries);
  return NULL;
}

static rheos_status *known_segments(rheos__direct_session *session, rheos__plan *plan,
                                    const rheos_shape *shapes, const rheos__segment **out_first) {
  rheos__step step;
  rheos__step_init(&step, &session->home, NULL);
  RHEOS_TRY(rheos__step_begin(&step));
  rheos_status *status = make_segments(plan, shapes, &step, out_first);
  return rheos__step_end_take(&step, status);
}

static rheos_status *plan_segments(rheos__direct_session *session, const rheos__signature_ids *ids,
                                   const rheos_shape *shapes, rheos__plan **out_plan,
                                   const rheos__segment **out_segment) {
  RHEOS_TRY(rheos__home_enter(&session->home));
  rheos_status *status = make_plan(session, ids, out_plan);
  if (status == NULL && (*out_plan)->flow == NULL) {
    status = known_segments(session, *out_plan, shapes, out_segment);
  }
  if (status != NULL) {
    rheos__plan_free(*out_plan);
    *out_plan = NULL;
  }
  rheos__home_leave(&session->home);
  return status;
}

static rheos_status *make_plan_to_show(rheos_session *base, const rheos__step_ends *ends,
                                       const rheos_shape *shapes, rheos__plan **out_plan,
                                       const rheos__segment **out_segment) {
  rheos__signature_ids ids;
  void *memory;
  RHEOS_TRY(rheos__signature_ids_of(base->graph, ends, &ids, &memory));
  rheos_status *status = plan_segments(rheos__direct(base), &ids, shapes, out_plan, out_segment);
  rheos__free(memory);
  return status;
}

const rheos__session_kind rheos__direct_session_kind = {
    .name = "direct",
    .is_for = is_for,
    .session_bytes = sizeof(rheos__direct_session),
    .callable_bytes = sizeof(rheos__direct_callable),
    .init = init,
    .close = close_session,
    .deinit = deinit,
    .list_devices = list_devices,
    .waiting = waiting,
    .get_stats = get_stats,
    .run = run,
    .partial_setup = rheos__direct_partial_setup,
    .partial_run = rheos__direct_partial_run,
    .partial_end = rheos__direct_partial_end,
    .make_callable = rheos__direct_make_callable,
    .release_callable = rheos__direct_release_callable,
    .run_callable = rheos__direct_run_callable,
    .run_bound = rheos__direct_run_bound,
    .callable_cost_ns = rheos__direct_callable_cost_ns,
    .home = home,
    .watches = watches,
    .make_plan = make_plan_to_show,
};
