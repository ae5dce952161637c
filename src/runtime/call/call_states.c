// What functions keep for one iterator: sites of its own, whose bodies have random generators of
// their own.
#include "graph/calls.h"

#include <pthread.h>

#include "runtime/call/bodies.h"
#include "runtime/step/step.h"

struct rheos__call_states {
  _Atomic int32_t references;
  pthread_mutex_t mutex;
  rheos__resources *resources;  // of the bodies, by function
  rheos__bodies *bodies;        // counted; NULL: no site yet
  struct own_site {
    const rheos__function *function;
    rheos__site *site;
  } *sites;
  size_t num_sites, capacity;
};

rheos__call_states *rheos__call_states_new(void) {
  rheos__call_states *states = rheos__alloc_zeroed(sizeof *states);
  if (states == NULL) return NULL;
  atomic_init(&states->references, 1);
  pthread_mutex_init(&states->mutex, NULL);
  return states;
}

rheos__call_states *rheos__call_states_ref(rheos__call_states *states) {
  if (states != NULL) atomic_fetch_add_explicit(&states->references, 1, memory_order_relaxed);
  return states;
}

void rheos__call_states_unref(rheos__call_states *states) {
  if (states == NULL) return;
  if (atomic_fetch_sub_explicit(&states->references, 1, memory_order_acq_rel) > 1) return;
  for (size_t i = 0; i < states->num_sites; ++i) rheos__site_free(states->sites[i].site);
  if (states->bodies != NULL) rheos__bodies_sweep(states->bodies);
  rheos__bodies_unref(states->bodies);
  rheos__resources_free(states->resources);
  rheos__free(states->sites);
  pthread_mutex_destroy(&states->mutex);
  rheos__free(states);
}

// The mutex is held.
static rheos_status *find_or_make(rheos__call_states *states, const rheos__site *like,
                                  rheos__site **out_site) {
  const rheos__function *function = rheos__site_function(like);
  for (size_t i = 0; i < states->num_sites; ++i) {
    if (states->sites[i].function != function) continue;
    *out_site = states->sites[i].site;
    return NULL;
  }
  if (states->resources == NULL) states->resources = rheos__resources_new();
  if (states->resources == NULL ||
      !RHEOS_RESERVE(states->sites, states->capacity, states->num_sites + 1)) {
    return rheos__out_of_memory();
  }
  RHEOS_TRY(rheos__site_new_like(like, states->resources, out_site));
  if (states->bodies == NULL) states->bodies = rheos__site_bodies_ref(like);
  states->sites[states->num_sites++] = (struct own_site){function, *out_site};
  return NULL;
}

rheos_status *rheos__site_for(rheos__site *site, rheos__call_states *states,
                              rheos__site **out_site) {
  *out_site = site;
  if (states == NULL) return NULL;
  pthread_mutex_lock(&states->mutex);
  rheos_status *status = find_or_make(states, site, out_site);
  pthread_mutex_unlock(&states->mutex);
  return status;
}

rheos__call_states *rheos__step_states(const rheos__step *step) { return step->states; }

rheos__call_states *rheos__step_set_states(rheos__step *step, rheos__call_states *states) {
  rheos__call_states *before = step->states;
  step->states = states;
  return before;
}
