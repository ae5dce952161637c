#include "resource/membership.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>

// ---- Parts

void rheos__membership_unref(rheos__membership *membership) {
  if (membership == NULL || atomic_fetch_sub(&membership->references, 1) != 1) return;
  rheos__free((char *)(uintptr_t)membership->what.device);
  rheos_tensor_unref(membership->what.input);
  rheos_tensor_unref(membership->output);
  rheos_status_free(membership->failed);
  if (membership->on != NULL) rheos__resource_unref(&membership->on->base);
  rheos__free(membership);
}

void rheos__membership_end_take(rheos__membership *membership, rheos_status *failed,
                                rheos_tensor *output) {
  rheos__waitable *on = membership->on;
  pthread_mutex_lock(&on->mutex);
  assert(!membership->is_over);
  membership->is_over = true;
  membership->failed = failed;
  membership->output = output;
  rheos__waitable_serve(on);
  pthread_mutex_unlock(&on->mutex);
}

static rheos_status *init_awaited(rheos__resource *resource, const void *argument) {
  (void)argument;
  rheos__waitable_init((rheos__waitable *)resource);
  return NULL;
}

static void deinit_awaited(rheos__resource *resource) {
  rheos__waitable_deinit((rheos__waitable *)resource);
}

static const rheos__resource_kind awaited_kind = {.name = "collective",
                                                  .size_bytes = sizeof(rheos__waitable),
                                                  .init = init_awaited,
                                                  .deinit = deinit_awaited};

static rheos_status *fill(rheos__membership *m, const rheos__collective *what) {
  char name[64];
  rheos__resource *on = NULL;
  snprintf(name, sizeof name, "group %d, instance %d", (int)what->group_key,
           (int)what->instance_key);
  m->what.device = rheos__strdup(what->device);
  if (m->what.device == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__resource_new(&awaited_kind, name, NULL, &on));
  m->on = (rheos__waitable *)on;
  if (what->input != NULL) m->what.input = rheos_tensor_ref(what->input);
  return NULL;
}

static rheos_status *membership_new(const rheos__collective *what, int64_t step_id,
                                    rheos__membership **out_membership) {
  rheos__membership *m = rheos__alloc_zeroed(sizeof *m);
  if (m == NULL) return rheos__out_of_memory();
  atomic_init(&m->references, 1);
  m->what = *what;
  m->what.input = NULL;
  m->what.device = NULL;
  m->step_id = step_id;
  rheos_status *status = fill(m, what);
  if (status == NULL) {
    *out_membership = m;
  } else {
    rheos__membership_unref(m);
  }
  return status;
}

// ---- The door

struct rheos__doorway {
  _Atomic int32_t references;
  rheos__collective_door door;
  rheos__alarms alarms;   // of members who do not wait for ever
  pthread_mutex_t mutex;  // guards what follows
  bool is_closed;
  int32_t num_inside;  // who is in one of its functions
  pthread_cond_t none_inside;
};

rheos__doorway *rheos__doorway_new(const rheos__collective_door *door) {
  rheos__doorway *d = rheos__alloc_zeroed(sizeof *d);
  if (d == NULL) return NULL;
  atomic_init(&d->references, 1);
  d->door = *door;
  rheos__alarms_init(&d->alarms);
  pthread_mutex_init(&d->mutex, NULL);
  pthread_cond_init(&d->none_inside, NULL);
  return d;
}

void rheos__doorway_unref(rheos__doorway *doorway) {
  if (doorway == NULL || atomic_fetch_sub(&doorway->references, 1) != 1) return;
  rheos__alarms_deinit(&doorway->alarms);
  pthread_cond_destroy(&doorway->none_inside);
  pthread_mutex_destroy(&doorway->mutex);
  rheos__free(doorway);
}

void rheos__doorway_close(rheos__doorway *doorway) {
  pthread_mutex_lock(&doorway->mutex);
  doorway->is_closed = true;
  while (doorway->num_inside > 0) pthread_cond_wait(&doorway->none_inside, &doorway->mutex);
  pthread_mutex_unlock(&doorway->mutex);
}

// False: it is closed.
static bool go_in(rheos__doorway *d) {
  pthread_mutex_lock(&d->mutex);
  const bool is_open = !d->is_closed;
  if (is_open) ++d->num_inside;
  pthread_mutex_unlock(&d->mutex);
  return is_open;
}

static void come_out(rheos__doorway *d) {
  pthread_mutex_lock(&d->mutex);
  if (--d->num_inside == 0) pthread_cond_broadcast(&d->none_inside);
  pthread_mutex_unlock(&d->mutex);
}

// ---- Waiting

typedef struct waiting {
  rheos__attempt attempt;
  rheos__doorway *doorway;        // counted
  rheos__membership *membership;  // counted
  rheos_tensor *output;
  rheos__alarm alarm;
  bool has_left;  // before the part ended; guarded by the attempt's resource
} waiting;

static rheos__tried run_waiting(rheos__attempt *attempt) {
  waiting *w = (waiting *)attempt;
  rheos__membership *m = w->membership;
  if (w->has_left) {
    attempt->status =
        rheos_status_new(RHEOS_DEADLINE_EXCEEDED,
                         "Collective has timed out waiting for other workers: %s waited %g s in %s",
                         m->what.device, (double)m->what.timeout_s, attempt->on->base.name);
    return RHEOS__TRIED_DONE;
  }
  if (!m->is_over) return RHEOS__TRIED_IN_VAIN;
  attempt->status = m->failed;
  m->failed = NULL;
  w->output = m->output;
  m->output = NULL;
  return RHEOS__TRIED_DONE;
}

static void note_left(rheos__attempt *attempt) { ((waiting *)attempt)->has_left = true; }

static void time_out(rheos__alarm *alarm) {
  waiting *w = (waiting *)((char *)alarm - offsetof(waiting, alarm));
  rheos__waitable *on = w->membership->on;
  pthread_mutex_lock(&on->mutex);
  w->has_left = !w->membership->is_over;
  rheos__waitable_serve(on);
  pthread_mutex_unlock(&on->mutex);
}

static rheos_status *finish_waiting(rheos__attempt *attempt, rheos__step *step,
                                    rheos_tensor **outputs) {
  (void)step;
  waiting *w = (waiting *)attempt;
  if (w->output != NULL) outputs[0] = w->output;
  w->output = NULL;
  return NULL;
}

static void deinit_waiting(rheos__attempt *attempt) {
  waiting *w = (waiting *)attempt;
  rheos__doorway *d = w->doorway;
  rheos__alarm_cancel(&d->alarms, &w->alarm);
  if (w->has_left && go_in(d)) {
    d->door.leave(d->door.argument, w->membership);
    come_out(d);
  }
  rheos__membership_unref(w->membership);
  rheos_tensor_unref(w->output);
  rheos__doorway_unref(d);
}

static const rheos__attempt_kind waiting_kind = {.what = "the other members",
                                                 .run = run_waiting,
                                                 .give_back = note_left,
                                                 .finish = finish_waiting,
                                                 .deinit = deinit_waiting,
                                                 .lets_pass = true};

static rheos_status *is_stopped(void) {
  return rheos_status_new(RHEOS_UNAVAILABLE, "the server of the collectives was stopped");
}

rheos_status *rheos__doorway_join(rheos__doorway *doorway, const rheos__collective *what,
                                  int64_t step_id, rheos__attempt **out_attempt) {
  rheos__membership *m = NULL;
  waiting *w = rheos__alloc_zeroed(sizeof *w);
  rheos_status *status = w == NULL ? rheos__out_of_memory() : membership_new(what, step_id, &m);
  if (status != NULL) {
    rheos__free(w);
    return status;
  }
  atomic_fetch_add(&doorway->references, 1);
  w->doorway = doorway;
  w->membership = m;
  rheos__attempt_init(&w->attempt, &waiting_kind, m->on, RHEOS__TAKES);
  if (what->timeout_s > 0) {
    w->alarm = (rheos__alarm){.ring = time_out, .at_ns = rheos__alarm_after(what->timeout_s)};
    rheos__alarm_set(&doorway->alarms, &w->alarm);
  }
  atomic_fetch_add(&m->references, 1);
  if (go_in(doorway)) {
    doorway->door.begin(doorway->door.argument, m);
    come_out(doorway);
  } else {
    rheos__membership_end_take(m, is_stopped(), NULL);
    rheos__membership_unref(m);
  }
  *out_attempt = &w->attempt;
  return NULL;
}
