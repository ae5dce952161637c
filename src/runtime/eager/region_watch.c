// Watches of what runs at once. While watches are on, a region that they name something of has
// another one run in its place, whose plan watches that: it is kept until they name something else,
// so that turning a watch on again plans nothing anew.
#include "runtime/eager/region.h"

#include "base/options.h"
#include "runtime/step/watched_step.h"

// ---- Bodies

void rheos__region_watch_context(const rheos_region *r, rheos__plan_context *context) {
  context->watches = r->watched_set->watches;
  if (r->watched_bodies != NULL) context->bodies = r->watched_bodies;
}

static rheos_status *make_bodies(rheos_region *r) {
  if (!r->watched_set->calls) return NULL;
  rheos__plan_context context = r->eager->home.context;
  context.watches = r->watched_set->watches;
  r->watched_bodies = rheos__bodies_new(&context);
  return r->watched_bodies != NULL ? NULL : rheos__out_of_memory();
}

// A dataset may have sites of them that outlive the region.
void rheos__region_watch_deinit(rheos_region *r) {
  if (r->watched_bodies != NULL) {
    rheos__home_leave_bodies(&r->eager->home, r->watched_bodies, r->watched_set->watches);
  }
  rheos__watch_set_unref(r->watched_set);
}

// ---- The region that runs instead

static rheos__watched_part part_of(const rheos_region *r) {
  // A call is known by its function.
  const bool is_op = r->node >= 0 && !r->extends;
  return (rheos__watched_part){r->graph, r->feeds, r->num_feeds,
                               is_op ? rheos__graph_node(r->graph, r->node) : NULL};
}

static rheos_status *new_watched(rheos_region *r, rheos__watch_set *set,
                                 rheos_region **out_watched) {
  rheos_region *w = NULL;
  RHEOS_TRY(rheos__region_new(r->eager, r->graph, r->feeds, r->num_feeds, r->fetches,
                              r->num_fetches, r->targets, r->num_targets, &w));
  w->node = r->node;
  w->may_sleep = r->may_sleep;
  w->reads_variable = r->reads_variable;
  w->assigns_variable = r->assigns_variable;
  w->watches = r;
  w->watched_set = rheos__watch_set_ref(set);
  rheos_status *status = make_bodies(w);
  if (status != NULL) {
    rheos_region_unref(w);
    return status;
  }
  *out_watched = w;
  return NULL;
}

// Has the region watched as the set says, which gets a reference. With the region's mutex held.
// What is in `out_gone` goes when that is free again.
static rheos_status *watch(rheos_region *r, rheos__watch_set *set, int64_t version,
                           rheos_region **out_gone) {
  const bool is_like_before = r->watched != NULL && r->watched_set->calls == set->calls &&
                              rheos__watches_equal(r->watched_set->watches, set->watches);
  rheos_region *watched = is_like_before ? r->watched : NULL;
  if (!is_like_before && set->num_watchers > 0) RHEOS_TRY(new_watched(r, set, &watched));
  if (!is_like_before) *out_gone = r->watched;
  r->watched = watched;
  rheos__watch_set_unref(r->watched_set);
  r->watched_set = rheos__watch_set_ref(set);
  r->watched_version = version;
  return NULL;
}

static rheos_status *look_again(rheos_region *r) {
  const rheos__watched_part part = part_of(r);
  rheos__watch_set *set = NULL;
  rheos_region *gone = NULL;
  int64_t version;
  RHEOS_TRY(rheos__watch_set_of_part(r->eager->watches, &part, &set, &version));
  if (set == NULL) return NULL;  // they went meanwhile
  pthread_mutex_lock(&r->mutex);
  rheos_status *status = watch(r, set, version, &gone);
  pthread_mutex_unlock(&r->mutex);
  rheos__watch_set_unref(set);
  rheos_region_unref(gone);
  return status;
}

static bool take(rheos_region *r, rheos_region **out_watched, rheos__watch_set **out_set) {
  pthread_mutex_lock(&r->mutex);
  const bool is_current = r->watched_version == atomic_load(&r->eager->watches->version);
  *out_watched = is_current ? rheos_region_ref(r->watched) : NULL;
  *out_set = *out_watched != NULL ? rheos__watch_set_ref(r->watched_set) : NULL;
  pthread_mutex_unlock(&r->mutex);
  return is_current;
}

static rheos_status *run_as(rheos_region *w, rheos__watch_set *set, const rheos_region *r,
                            rheos_tensor *const *inputs, rheos_tensor **outputs,
                            const rheos_run_options *options) {
  const rheos__watched_part part = part_of(r);
  rheos__watched_step step;
  rheos_status *status =
      rheos__watched_step_init_with(&step, r->eager->watches, set, &part, inputs);
  step.is_short = !set->calls;
  if (status == NULL) {
    status = rheos__region_run_observed(w, inputs, outputs, options, &step.observer);
  }
  rheos__watched_step_deinit(&step);
  return status;
}

rheos_status *rheos__region_run_watched(rheos_region *r, rheos_tensor *const *inputs,
                                        rheos_tensor **outputs, const rheos_run_options *options) {
  rheos_region *watched = NULL;
  rheos__watch_set *set = NULL;
  if (!rheos__is_telling(r->eager->watches) && !take(r, &watched, &set)) {
    RHEOS_TRY(look_again(r));
    take(r, &watched, &set);
  }
  if (watched == NULL) return rheos__region_run_observed(r, inputs, outputs, options, NULL);
  rheos_status *status = run_as(watched, set, r, inputs, outputs, options);
  rheos__watch_set_unref(set);
  rheos_region_unref(watched);
  return status;
}

// ----

rheos_status *rheos_eager_watch_sized(rheos_eager *eager, const rheos_watch_options *options,
                                      size_t options_bytes, rheos_watch **out_watch) {
  rheos_watch_options known;
  RHEOS_OUT(out_watch);
  RHEOS_NEED(eager, options);
  RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_watch_options, options, options_bytes, &known));
  RHEOS_TRY(rheos__check_watch_options(&known));
  return rheos__watch_list_add(eager->watches, &known, out_watch);
}
