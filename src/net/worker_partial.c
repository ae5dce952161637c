// Parts of steps that are fed and fetched in several calls. Such a part runs by itself from the
// first call on: what it receives and nobody has fed yet it waits for, as for any other value.
#include "net/worker.h"

#include <time.h>

#include "runtime/session/direct_callable.h"
#include "runtime/threads/pool.h"

enum { POLL_MS = 10 };

// ---- The part

typedef struct beginning {
  rheos__worker *worker;
  rheos__worker_graph *graph;  // with a reference
  rheos__worker_step *step;    // with a reference
  rheos__begun_part *part;     // the step's
} beginning;

static void count_begun(rheos__worker *worker, int32_t change) {
  pthread_mutex_lock(&worker->mutex);
  worker->num_begun += change;
  if (worker->num_begun == 0) pthread_cond_broadcast(&worker->none_runs);
  pthread_mutex_unlock(&worker->mutex);
}

void rheos__worker_wait_for_begun(rheos__worker *worker) {
  pthread_mutex_lock(&worker->mutex);
  while (worker->num_begun > 0) pthread_cond_wait(&worker->none_runs, &worker->mutex);
  pthread_mutex_unlock(&worker->mutex);
}

static void leave(beginning *b) {
  rheos__worker *worker = b->worker;
  rheos__worker_graph_unref(worker, b->graph);
  rheos__worker_step_unref(b->step);
  rheos__free(b);
  count_begun(worker, -1);
}

static void end_part_take(rheos__worker_step *step, rheos__begun_part *part, rheos_status *status) {
  pthread_mutex_lock(&step->mutex);
  part->status = status;
  part->is_over = true;
  pthread_cond_broadcast(&step->changed);
  pthread_mutex_unlock(&step->mutex);
}

static void run_by_itself(void *argument) {
  beginning *b = argument;
  rheos__worker_step *step = b->step;
  const rheos_run_options options = {.cancellation = step->cancellation};
  rheos_status *status =
      rheos__direct_run_part(b->graph->callable, NULL, NULL, &options, step->rendezvous);
  if (status != NULL) rheos__worker_step_abort(step, status);
  end_part_take(step, b->part, status);
  leave(b);
}

static rheos_status *begin(rheos__worker *worker, rheos__worker_graph *graph,
                           rheos__worker_step *step, rheos__begun_part *part) {
  beginning *b = rheos__alloc(sizeof *b);
  if (b == NULL) return rheos__out_of_memory();
  *b = (beginning){worker, graph, rheos__worker_step_ref(step), part};
  pthread_mutex_lock(&worker->mutex);
  graph->references++;
  worker->num_begun++;
  pthread_mutex_unlock(&worker->mutex);
  if (rheos__run_beside(run_by_itself, b)) return NULL;
  leave(b);
  return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "there is no thread for a part of step %lld",
                          (long long)step->id);
}

static rheos__begun_part *find_part(const rheos__worker_step *step, const void *graph) {
  rheos__begun_part *part = step->parts;
  while (part != NULL && part->graph != graph) part = part->next;
  return part;
}

// With the step's mutex held: the part, new or found. NULL: memory is short.
static rheos__begun_part *add_part(rheos__worker_step *step, const void *graph, bool *out_is_new) {
  rheos__begun_part *part = find_part(step, graph);
  *out_is_new = part == NULL;
  if (part != NULL) return part;
  part = rheos__alloc(sizeof *part);
  if (part == NULL) return NULL;
  *part = (rheos__begun_part){.graph = graph, .next = step->parts};
  return step->parts = part;
}

// Begins the part with the step's first call for it.
static rheos_status *get_part(rheos__worker *worker, rheos__worker_graph *graph,
                              rheos__worker_step *step, rheos__begun_part **out_part) {
  bool is_new = false;
  pthread_mutex_lock(&step->mutex);
  rheos__begun_part *part = *out_part = add_part(step, graph, &is_new);
  pthread_mutex_unlock(&step->mutex);
  if (part == NULL) return rheos__out_of_memory();
  rheos_status *status = is_new ? begin(worker, graph, step, part) : NULL;
  if (status != NULL) end_part_take(step, part, NULL);
  return status;
}

// ---- One call

// What a call takes from its part; the step's mutex guards it.
typedef struct taken {
  struct partial_call *call;
  rheos_tensor *value;
} taken;

typedef struct partial_call {
  rheos__worker_step *step;
  const rheos__part_run *run;
  const rheos__begun_part *part;
  taken *values;  // by key
  size_t num_awaited;
  rheos_status *failed;  // the first error
  int64_t deadline_ns;   // 0: none
} partial_call;

// With the step's mutex held; the status is the callee's.
static void fail_take(partial_call *call, rheos_status *failed) {
  if (call->failed == NULL) {
    call->failed = failed;
  } else {
    rheos_status_free(failed);
  }
}

static void take(void *argument, rheos_status *failed, rheos_tensor *value) {
  taken *t = argument;
  rheos__worker_step *step = t->call->step;
  pthread_mutex_lock(&step->mutex);
  t->value = value;
  t->call->num_awaited--;
  fail_take(t->call, failed);
  pthread_cond_broadcast(&step->changed);
  pthread_mutex_unlock(&step->mutex);
}

static rheos_status *ask(partial_call *call, size_t number) {
  rheos__worker_step *step = call->step;
  call->values[number].call = call;
  pthread_mutex_lock(&step->mutex);
  call->num_awaited++;
  pthread_mutex_unlock(&step->mutex);
  rheos_status *status = rheos__rendezvous_receive_for(
      step->rendezvous, call->run->recv_keys[number], take, &call->values[number]);
  if (status == NULL) return NULL;
  pthread_mutex_lock(&step->mutex);
  call->num_awaited--;
  pthread_mutex_unlock(&step->mutex);
  return status;
}

static rheos_status *send_and_ask(partial_call *call) {
  const rheos__part_run *run = call->run;
  for (size_t i = 0; i < run->num_sends; i++) {
    RHEOS_TRY(rheos__rendezvous_send(call->step->rendezvous, run->send_keys[i], run->sends[i]));
  }
  for (size_t i = 0; i < run->num_recvs; i++) RHEOS_TRY(ask(call, i));
  return NULL;
}

// Why the call is not to wait any longer; NULL: it goes on. With the step's mutex held.
static rheos_status *why_stop(const partial_call *call) {
  const rheos_run_options *options = call->run->options;
  if (call->part->is_over && call->part->status == NULL && call->num_awaited > 0) {
    return rheos_status_new(RHEOS_INTERNAL, "the part of the step did not send all that is taken");
  }
  if (call->deadline_ns != 0 && rheos__clock_ns() >= call->deadline_ns) {
    return rheos_status_new(RHEOS_DEADLINE_EXCEEDED, "the step was not done in time");
  }
  if (options->should_stop != NULL && options->should_stop(options->should_stop_argument)) {
    return rheos_status_new(RHEOS_CANCELLED, "the step was cancelled");
  }
  return NULL;
}

static void wait_a_while(rheos__worker_step *step) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += POLL_MS * 1000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_cond_timedwait(&step->changed, &step->mutex, &until);
}

// Whatever is waited for has come, or will not.
static bool is_done(const partial_call *call) {
  return call->num_awaited == 0 &&
         (call->failed != NULL || !call->run->is_last || call->part->is_over);
}

// Ends what waits in the step, so that this call's values end too.
static void stop(partial_call *call, rheos_status *why) {
  pthread_mutex_unlock(&call->step->mutex);
  rheos__worker_step_abort(call->step, why);
  pthread_mutex_lock(&call->step->mutex);
  fail_take(call, why);
}

static void wait_for_values(partial_call *call) {
  rheos__worker_step *step = call->step;
  pthread_mutex_lock(&step->mutex);
  while (!is_done(call)) {
    rheos_status *why = why_stop(call);
    if (why != NULL) {
      stop(call, why);
    } else {
      wait_a_while(step);
    }
  }
  if (call->failed == NULL && call->run->is_last && call->part->status != NULL) {
    const rheos_status *status = call->part->status;
    call->failed = rheos_status_new(rheos_status_code(status), "%s", rheos_status_message(status));
  }
  pthread_mutex_unlock(&step->mutex);
}

static rheos_status *hand_over(partial_call *call) {
  rheos_status *status = call->failed;
  for (size_t i = 0; i < call->run->num_recvs; i++) {
    call->run->received[i] = call->values[i].value;
    if (status != NULL || call->values[i].value != NULL) continue;
    status = RHEOS_INVALID("The tensor returned for %s was not valid.", call->run->recv_keys[i]);
  }
  return status;
}

rheos_status *rheos__worker_run_partial(rheos__worker *worker, rheos__worker_graph *graph,
                                        rheos__worker_step *step, const rheos__part_run *run) {
  rheos__begun_part *part;
  partial_call call = {.step = step, .run = run};
  const int64_t timeout_ms = run->options->timeout_ms;
  if (timeout_ms > 0) call.deadline_ns = rheos__clock_ns() + timeout_ms * 1000000;
  RHEOS_TRY(get_part(worker, graph, step, &part));
  call.part = part;
  call.values = rheos__alloc_zeroed((run->num_recvs + 1) * sizeof *call.values);
  if (call.values == NULL) return rheos__out_of_memory();
  rheos_status *status = send_and_ask(&call);
  if (status != NULL) {
    rheos__worker_step_abort(step, status);
    pthread_mutex_lock(&step->mutex);
    fail_take(&call, status);
    pthread_mutex_unlock(&step->mutex);
  }
  wait_for_values(&call);
  status = hand_over(&call);
  rheos__free(call.values);
  return status;
}
