#include "net/collectives.h"

#include "base/alloc.h"
#include "net/collective_leader.h"
#include "net/collective_run.h"
#include "net/ids.h"
#include "net/methods.h"
#include "runtime/step/host.h"
#include "worker.pb-c.h"

enum { LEADER_MS = 300000 };  // that it may be late when the tasks start

// A part that begins.
typedef struct beginning {
  rheos__task_collectives *collectives;
  rheos__membership *membership;  // counted
  const rheos__task_group *group;
} beginning;

struct step_sequence {
  int64_t graph_key, next_step;  // 0: not known
  struct step_sequence *next;
};

// ---- Beginning

static void note_ended(void *argument) {
  rheos__task_collectives *c = argument;
  pthread_mutex_lock(&c->mutex);
  if (--c->num_begun == 0) pthread_cond_broadcast(&c->none_left);
  pthread_mutex_unlock(&c->mutex);
}

static void end_failed_take(beginning *b, rheos_status *status) {
  rheos__task_collectives *c = b->collectives;
  rheos__membership_end_take(b->membership, status, NULL);
  rheos__membership_unref(b->membership);
  rheos__free(b);
  note_ended(c);
}

static void run(beginning *b, int32_t source_rank) {
  rheos__task_collectives *c = b->collectives;
  rheos__worker_step *step;
  rheos_status *status = rheos__worker_steps_get(c->steps, b->membership->step_id, &step);
  if (status != NULL) {
    end_failed_take(b, status);
    return;
  }
  rheos__membership *membership = b->membership;
  const rheos__task_group *group = b->group;
  rheos__free(b);
  rheos__collective_run_take(membership, step, group, source_rank, note_ended, c);
}

// What is wrong about a collective of the step is wrong for all of it.
static void abort_step(const beginning *b, const rheos_status *why) {
  rheos__worker_step *step;
  rheos_status *none =
      rheos__worker_steps_get(b->collectives->steps, b->membership->step_id, &step);
  if (none == NULL) {
    rheos__worker_step_abort(step, why);
    rheos__worker_step_unref(step);
  }
  rheos_status_free(none);
}

static void take_source(void *argument, rheos_status *failed, int32_t source_rank) {
  beginning *b = argument;
  if (failed == NULL) {
    run(b, source_rank);
  } else {
    abort_step(b, failed);
    end_failed_take(b, failed);
  }
}

static void take_group(void *argument, rheos_status *failed, const rheos__task_group *group) {
  beginning *b = argument;
  const rheos__collective *what = &b->membership->what;
  if (failed != NULL) {
    abort_step(b, failed);
    end_failed_take(b, failed);
    return;
  }
  b->group = group;
  if (what->type == RHEOS__COLLECTIVE_MEETING) {
    run(b, -1);
  } else {
    rheos__leader_find_source(&b->collectives->groups, what, take_source, b);
  }
}

static void begin(void *argument, rheos__membership *membership) {
  rheos__task_collectives *c = argument;
  beginning *b = rheos__alloc_zeroed(sizeof *b);
  if (b == NULL) {
    rheos__membership_end_take(membership, rheos__out_of_memory(), NULL);
    rheos__membership_unref(membership);
    return;
  }
  *b = (beginning){.collectives = c, .membership = membership};
  pthread_mutex_lock(&c->mutex);
  c->num_begun++;
  pthread_mutex_unlock(&c->mutex);
  rheos__leader_find_group(&c->groups, &membership->what, take_group, b);
}

static void leave(void *argument, rheos__membership *membership) {
  rheos__task_collectives *c = argument;
  rheos__worker_step *step;
  rheos_status *none = rheos__worker_steps_get(c->steps, membership->step_id, &step);
  if (none == NULL) {
    rheos_status *why = rheos_status_new(
        RHEOS_CANCELLED,
        "%s has left the collective of %s before the others had come: its step was stopped",
        membership->what.device, membership->on->base.name);
    rheos__worker_step_abort(step, why);
    rheos_status_free(why);
    rheos__worker_step_unref(step);
  }
  rheos_status_free(none);
}

// ---- Numbers of steps

static const int64_t LAST_STEP = ((int64_t)1 << 56) - 1;

// With the mutex held; NULL when memory is short. A new one has the number 0: it is not known.
static struct step_sequence *sequence_of(rheos__task_collectives *c, int64_t graph_key) {
  struct step_sequence *s = c->sequences;
  while (s != NULL && s->graph_key != graph_key) s = s->next;
  if (s != NULL) return s;
  s = rheos__alloc_zeroed(sizeof *s);
  if (s == NULL) return NULL;
  s->graph_key = graph_key;
  s->next = c->sequences;
  return c->sequences = s;
}

static bool is_leader(const rheos__task_collectives *c) {
  return c->groups.leader == c->groups.own_task;
}

// The next number; 0 where that has to be asked for.
static rheos_status *look_up_step(rheos__task_collectives *c, int64_t graph_key,
                                  int64_t *out_step) {
  pthread_mutex_lock(&c->mutex);
  struct step_sequence *s = sequence_of(c, graph_key);
  if (s != NULL) {
    if (s->next_step == 0 && is_leader(c)) s->next_step = rheos__step_id();
    *out_step = s->next_step;
  }
  pthread_mutex_unlock(&c->mutex);
  return s != NULL ? NULL : rheos__out_of_memory();
}

rheos_status *rheos__task_collectives_tell_step(rheos__task_collectives *c, int64_t graph_key,
                                                int64_t *out_step) {
  return look_up_step(c, graph_key, out_step);
}

static rheos_status *ask_for_step(rheos__task_collectives *c, int64_t graph_key,
                                  bool (*should_stop)(void *), void *should_stop_argument) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__get_step_sequence_response__descriptor};
  static const rheos__peer_options options = {.timeout_ms = LEADER_MS, .waits = true};
  Tensorflow__GetStepSequenceRequest fields = TENSORFLOW__GET_STEP_SEQUENCE_REQUEST__INIT;
  rheos__message request = {0};
  rheos__received reply;
  fields.n_graph_key = 1;
  fields.graph_key = &graph_key;
  rheos__message_put(&request, &fields.base);
  rheos_status *status = rheos__peers_call(
      c->groups.peers, c->groups.leader, rheos__method_names[RHEOS__GET_STEP_SEQUENCE], &request,
      &options, should_stop, should_stop_argument, &form, &reply);
  if (status == NULL) {
    const Tensorflow__GetStepSequenceResponse *r = (const void *)reply.message;
    const bool is_told = r->n_step_sequence == 1 && r->step_sequence[0]->next_step_id > 0;
    pthread_mutex_lock(&c->mutex);
    struct step_sequence *s = sequence_of(c, graph_key);
    if (s != NULL && is_told) s->next_step = r->step_sequence[0]->next_step_id;
    pthread_mutex_unlock(&c->mutex);
    if (!is_told) status = RHEOS_INVALID("the leader of the collectives tells no number of a step");
  }
  rheos__received_deinit(&reply);
  rheos__message_deinit(&request);
  return status;
}

rheos_status *rheos__task_collectives_next_step(rheos__task_collectives *c, int64_t graph_key,
                                                bool (*should_stop)(void *),
                                                void *should_stop_argument, int64_t *out_step) {
  RHEOS_TRY(look_up_step(c, graph_key, out_step));
  if (*out_step != 0) return NULL;
  RHEOS_TRY(ask_for_step(c, graph_key, should_stop, should_stop_argument));
  return look_up_step(c, graph_key, out_step);
}

void rheos__task_collectives_end_step(rheos__task_collectives *c, int64_t graph_key, int64_t step,
                                      bool has_failed) {
  pthread_mutex_lock(&c->mutex);
  struct step_sequence *s = sequence_of(c, graph_key);
  if (s != NULL && s->next_step == step) {
    s->next_step = has_failed ? 0 : step < LAST_STEP ? step + 1 : 1;
  }
  pthread_mutex_unlock(&c->mutex);
}

// ---- The whole

rheos_status *rheos__task_collectives_init(rheos__task_collectives *c, rheos_host *host,
                                           rheos__peers *peers, rheos__worker_steps *steps,
                                           int32_t own_task, int32_t leader, uint64_t incarnation) {
  const rheos__collective_door door = {.begin = begin, .leave = leave, .argument = c};
  rheos__groups_init(&c->groups, peers, own_task, leader, incarnation);
  c->steps = steps;
  pthread_mutex_init(&c->mutex, NULL);
  pthread_cond_init(&c->none_left, NULL);
  c->opened = rheos__collectives_new(host->num_devices);
  if (c->opened == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__collectives_open(c->opened, &door));
  host->collectives = rheos__collectives_ref(c->opened);
  return NULL;
}

void rheos__task_collectives_end(rheos__task_collectives *c) {
  if (c->opened == NULL) return;
  rheos__collectives_close(c->opened);
  rheos__groups_end(&c->groups);
}

void rheos__task_collectives_deinit(rheos__task_collectives *c) {
  if (c->steps == NULL) return;
  rheos__task_collectives_end(c);
  pthread_mutex_lock(&c->mutex);
  while (c->num_begun > 0) pthread_cond_wait(&c->none_left, &c->mutex);
  pthread_mutex_unlock(&c->mutex);
  rheos__groups_deinit(&c->groups);
  rheos__collectives_unref(c->opened);
  while (c->sequences != NULL) {
    struct step_sequence *s = c->sequences;
    c->sequences = s->next;
    rheos__free(s);
  }
  pthread_cond_destroy(&c->none_left);
  pthread_mutex_destroy(&c->mutex);
}
