// A plan that is being made stands in the cache already, so that others find it and wait.
#include "runtime/session/plan_cache.h"

#include <assert.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_MAX_PLANS = 256, WAIT_NS = 10 * 1000 * 1000, SECOND_NS = 1000 * 1000 * 1000 };

void rheos__plan_cache_init(rheos__plan_cache *cache) {
  if (cache->max_plans == 0) cache->max_plans = DEFAULT_MAX_PLANS;
  pthread_cond_init(&cache->made, NULL);
}

void rheos__plan_cache_deinit(rheos__plan_cache *cache) {
  rheos__plan_cache_clear(cache);
  pthread_cond_destroy(&cache->made);
}

rheos__cached_plan *rheos__cached_plan_ref(rheos__cached_plan *plan) {
  atomic_fetch_add_explicit(&plan->references, 1, memory_order_relaxed);
  return plan;
}

void rheos__cached_plan_unref(rheos__cached_plan *plan) {
  if (plan == NULL || atomic_fetch_sub(&plan->references, 1) != 1) return;
  rheos__plan_free(plan->plan);
  rheos__free(plan);
}

void rheos__plan_cache_clear(rheos__plan_cache *cache) {
  pthread_mutex_lock(cache->mutex);
  rheos__cached_plan **plans = cache->plans;
  const size_t num_plans = cache->num_plans;
  cache->plans = NULL;
  cache->num_plans = cache->capacity = 0;
  pthread_mutex_unlock(cache->mutex);
  for (size_t i = 0; i < num_plans; ++i) rheos__cached_plan_unref(plans[i]);
  rheos__free(plans);
}

// ---- The list

static bool same_bytes(const void *a, const void *b, size_t size_bytes) {
  return size_bytes == 0 || memcmp(a, b, size_bytes) == 0;
}

static bool same_ids(const rheos__signature_ids *a, const rheos__signature_ids *b) {
  return a->hash == b->hash && a->num_feeds == b->num_feeds && a->num_fetches == b->num_fetches &&
         a->num_targets == b->num_targets && a->num_done == b->num_done &&
         a->watched == b->watched && a->any_shapes == b->any_shapes &&
         same_bytes(a->feeds, b->feeds, (size_t)a->num_feeds * sizeof *a->feeds) &&
         same_bytes(a->fetches, b->fetches, (size_t)a->num_fetches * sizeof *a->fetches) &&
         same_bytes(a->targets, b->targets, (size_t)a->num_targets * sizeof *a->targets) &&
         same_bytes(a->done, b->done, (size_t)a->num_done * sizeof *a->done);
}

static void remove_at(rheos__plan_cache *cache, size_t index) {
  assert(index < cache->num_plans && cache->num_plans <= cache->capacity);
  rheos__cached_plan_unref(cache->plans[index]);
  --cache->num_plans;
  memmove(cache->plans + index, cache->plans + index + 1,
          (cache->num_plans - index) * sizeof *cache->plans);
}

// Removes the plan, which may have left to make room for others.
static void remove_plan(rheos__plan_cache *cache, const rheos__cached_plan *plan) {
  for (size_t i = 0; i < cache->num_plans; ++i) {
    if (cache->plans[i] != plan) continue;
    remove_at(cache, i);
    return;
  }
}

// One that is ready or being made, moved to the front; NULL if there is none.
static rheos__cached_plan *find(rheos__plan_cache *cache, const rheos__signature_ids *ids) {
  for (size_t i = 0; i < cache->num_plans; ++i) {
    rheos__cached_plan *plan = cache->plans[i];
    if (!same_ids(&plan->ids, ids)) continue;
    if (plan->state == RHEOS__PLAN_READY && !rheos__plan_is_current(plan->plan)) {
      remove_at(cache, i);
      return NULL;
    }
    memmove(cache->plans + 1, cache->plans, i * sizeof *cache->plans);
    cache->plans[0] = plan;
    return plan;
  }
  return NULL;
}

static void *copy_into(char **room, const void *from, size_t size_bytes) {
  void *to = *room;
  if (size_bytes > 0) memcpy(to, from, size_bytes);
  *room += size_bytes;
  return to;
}

static rheos__cached_plan *new_cached_plan(const rheos__signature_ids *ids) {
  const size_t feeds = (size_t)ids->num_feeds * sizeof *ids->feeds;
  const size_t fetches = (size_t)ids->num_fetches * sizeof *ids->fetches;
  const size_t targets = (size_t)ids->num_targets * sizeof *ids->targets;
  const size_t done = (size_t)ids->num_done * sizeof *ids->done;
  rheos__cached_plan *plan = rheos__alloc_zeroed(sizeof *plan + feeds + fetches + targets + done);
  if (plan == NULL) return NULL;
  char *room = (char *)(plan + 1);
  plan->ids = *ids;
  plan->ids.feeds = copy_into(&room, ids->feeds, feeds);
  plan->ids.fetches = copy_into(&room, ids->fetches, fetches);
  plan->ids.targets = copy_into(&room, ids->targets, targets);
  plan->ids.done = copy_into(&room, ids->done, done);
  return plan;
}

// With a reference for the caller, and one that is the cache's.
static rheos_status *add_plan(rheos__plan_cache *cache, const rheos__signature_ids *ids,
                              rheos__cached_plan **out_plan) {
  while (cache->num_plans >= cache->max_plans) remove_at(cache, cache->num_plans - 1);
  if (!RHEOS_RESERVE(cache->plans, cache->capacity, cache->num_plans + 1)) {
    return rheos__out_of_memory();
  }
  rheos__cached_plan *plan = new_cached_plan(ids);
  if (plan == NULL) return rheos__out_of_memory();
  assert(plan->state == RHEOS__PLAN_IS_MADE_NOW && cache->num_plans < cache->max_plans);
  atomic_init(&plan->references, 2);
  memmove(cache->plans + 1, cache->plans, cache->num_plans * sizeof *cache->plans);
  cache->plans[0] = plan;
  ++cache->num_plans;
  *out_plan = plan;
  return NULL;
}

// ---- Making and waiting

static rheos_status *make(rheos__plan_cache *cache, const rheos__signature_ids *ids,
                          rheos__cached_plan **out_plan) {
  rheos__cached_plan *added = NULL;
  RHEOS_TRY(add_plan(cache, ids, &added));
  rheos__plan *plan = NULL;
  pthread_mutex_unlock(cache->mutex);
  rheos_status *status = cache->make(cache->argument, &added->ids, &plan);
  pthread_mutex_lock(cache->mutex);
  assert(added->plan == NULL && (plan != NULL) == (status == NULL));
  added->plan = plan;
  added->state = status == NULL ? RHEOS__PLAN_READY : RHEOS__PLAN_FAILED;
  pthread_cond_broadcast(&cache->made);
  if (status != NULL) {
    remove_plan(cache, added);
    rheos__cached_plan_unref(added);
    return status;
  }
  ++cache->num_made;
  *out_plan = added;
  return NULL;
}

static void wait_a_while(rheos__plan_cache *cache) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += WAIT_NS;
  if (until.tv_nsec >= SECOND_NS) {
    until.tv_nsec -= SECOND_NS;
    ++until.tv_sec;
  }
  pthread_cond_timedwait(&cache->made, cache->mutex, &until);
}

// The caller's should_stop may use the session: it is asked while the mutex is open.
static rheos_status *wait_for(rheos__plan_cache *cache, const rheos__cached_plan *plan,
                              const rheos_run_options *options) {
  rheos__step step;
  rheos__step_init(&step, cache->home, options);
  while (plan->state == RHEOS__PLAN_IS_MADE_NOW) {
    wait_a_while(cache);
    pthread_mutex_unlock(cache->mutex);
    const bool stops = rheos__step_poll(&step);
    pthread_mutex_lock(cache->mutex);
    if (stops) return rheos__step_error(&step);
  }
  return NULL;
}

// Whether the plan is one to run, when it is no longer being made.
static rheos_status *check_ready(rheos__plan_cache *cache, const rheos__cached_plan *plan,
                                 const rheos_run_options *options, bool *out_is_ready) {
  *out_is_ready = plan->state == RHEOS__PLAN_READY;
  if (*out_is_ready) return NULL;
  RHEOS_TRY(wait_for(cache, plan, options));
  *out_is_ready = plan->state == RHEOS__PLAN_READY && rheos__plan_is_current(plan->plan);
  return NULL;
}

rheos_status *rheos__plan_cache_get(rheos__plan_cache *cache, const rheos__signature_ids *ids,
                                    const rheos_run_options *options,
                                    rheos__cached_plan **out_plan) {
  *out_plan = NULL;
  for (rheos__cached_plan *plan; (plan = find(cache, ids)) != NULL;) {
    rheos__cached_plan_ref(plan);
    bool is_ready;
    rheos_status *status = check_ready(cache, plan, options, &is_ready);
    if (status == NULL && is_ready) {
      *out_plan = plan;
      return NULL;
    }
    rheos__cached_plan_unref(plan);
    RHEOS_TRY(status);
  }
  return make(cache, ids, out_plan);
}
