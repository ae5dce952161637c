// Steps of a master: their parts run on workers, the own task's in the thread that asks for the
// step, and the first error ends them all.
#include "net/master_session.h"

#include <time.h>

#include "net/collectives.h"
#include "net/master_logs.h"
#include "net/methods.h"
#include "runtime/threads/pool.h"
#include "worker.pb-c.h"

// How often a step is looked at that has a deadline, or may be stopped; how long its parts
// elsewhere may take to end when it has failed.
enum { POLL_MS = 10, END_MS = 500 };

typedef struct part_run {
  rheos__master_step *step;
  const rheos__master_part *part;
  rheos__peer_call *call;  // NULL: it was not started, or is the own task's
  bool runs;
} part_run;

struct rheos__master_step {
  rheos__master_session *session;
  const rheos__master_run *run;
  int64_t id;
  part_run *parts;
  int32_t num_parts;
  int64_t deadline_ns;                // 0: none
  rheos__master_step *before, *next;  // of the session
  pthread_mutex_t mutex;              // guards what follows
  pthread_cond_t changed;
  int32_t num_running;   // calls
  int64_t failed_ns;     // when
  rheos_status *failed;  // the first error
};

// ---- Failing

static void clean_up_there(const rheos__master_session *session, int32_t task, int64_t step) {
  Tensorflow__CleanupGraphRequest fields = TENSORFLOW__CLEANUP_GRAPH_REQUEST__INIT;
  fields.step_id = step;
  rheos__peers_tell(session->peers, task, rheos__method_names[RHEOS__CLEANUP_GRAPH], &fields.base);
}

// With the mutex held.
static void cancel_calls(rheos__master_step *step) {
  for (int32_t i = 0; i < step->num_parts; i++) {
    if (step->parts[i].call != NULL) rheos__peer_call_cancel(step->parts[i].call);
  }
}

// Tells the parts elsewhere to end; what they say then is waited for, so that nothing of the step
// goes on when it is over. With the mutex held.
static void end_parts(rheos__master_step *step) {
  step->failed_ns = rheos__clock_ns();
  for (int32_t i = 0; i < step->num_parts; i++) {
    const part_run *p = &step->parts[i];
    if (p->call != NULL && p->runs) clean_up_there(step->session, p->part->task, step->id);
  }
}

// Of the first error: ends the parts elsewhere, and here.
static void fail(rheos__master_step *step, const rheos_status *why) {
  pthread_mutex_lock(&step->mutex);
  const bool is_first = step->failed == NULL;
  if (is_first) {
    step->failed = rheos_status_new(rheos_status_code(why), "%s", rheos_status_message(why));
    end_parts(step);
  }
  pthread_cond_broadcast(&step->changed);
  pthread_mutex_unlock(&step->mutex);
  if (is_first) rheos__worker_steps_end(&step->session->worker->steps, step->id, why);
}

static void fail_take(rheos__master_step *step, rheos_status *status) {
  if (status == NULL) return;
  fail(step, status);
  rheos_status_free(status);
}

void rheos__master_steps_fail(rheos__master_session *session, const rheos_status *why) {
  for (rheos__master_step *step = session->steps; step != NULL; step = step->next) fail(step, why);
}

// ---- Parts elsewhere

static rheos_tensor *find_tensor(const rheos__received *reply, const char *key) {
  for (size_t i = 0; i < reply->num_tensors; i++) {
    if (strcmp(reply->names[i], key) == 0) return reply->tensors[i];
  }
  return NULL;
}

static rheos_status *keep_results(part_run *p, const rheos__received *reply) {
  rheos__master_step *step = p->step;
  for (size_t i = 0; i < p->part->num_fetches; i++) {
    const int32_t fetch = p->part->fetches[i];
    rheos_tensor *tensor = find_tensor(reply, p->part->fetch_keys[i]);
    if (tensor == NULL) {
      return rheos_status_new(RHEOS_INTERNAL, "%s sent no value for %s",
                              step->session->peers->cluster.tasks[p->part->task].name,
                              step->run->fetches[fetch]);
    }
    step->run->results[fetch] = rheos_tensor_ref(tensor);
  }
  return NULL;
}

// As TensorFlow's masters say it.
static rheos_status *error_of_part(const part_run *p, const Tensorflow__RunGraphResponse *reply) {
  const rheos__cluster *cluster = &p->step->session->peers->cluster;
  return rheos_status_new((rheos_code)reply->status_code, "From %s:\n%s",
                          cluster->tasks[p->part->task].name, reply->status_error_message);
}

static void keep_stats(rheos__master_step *step, const Tensorflow__RunGraphResponse *reply) {
  if (step->run->traced == 0) return;
  pthread_mutex_lock(&step->mutex);
  rheos__run_stats_add_reply(step->run->stats, reply);
  pthread_mutex_unlock(&step->mutex);
}

static rheos_status *take_reply(part_run *p, rheos__chunks chunks) {
  static const rheos__message_form form = {
      .descriptor = &tensorflow__run_graph_response__descriptor, .tensors = 1, .are_named = true};
  rheos__received reply;
  rheos_status *status = rheos__receive_message(&form, chunks, &reply);
  if (status == NULL) {
    const Tensorflow__RunGraphResponse *r = (const void *)reply.message;
    status = r->status_code != 0 ? error_of_part(p, r) : keep_results(p, &reply);
    keep_stats(p->step, r);
  }
  rheos__received_deinit(&reply);
  return status;
}

static void end_part(void *argument, rheos_status *status, rheos__chunks chunks) {
  part_run *p = argument;
  rheos__master_step *step = p->step;
  if (status == NULL) status = take_reply(p, chunks);
  fail_take(step, status);
  pthread_mutex_lock(&step->mutex);
  step->num_running--;
  p->runs = false;
  pthread_cond_broadcast(&step->changed);
  pthread_mutex_unlock(&step->mutex);
}

static int64_t rest_ms(const rheos__master_step *step) {
  if (step->deadline_ns == 0) return 0;
  const int64_t rest = (step->deadline_ns - rheos__clock_ns()) / 1000000;
  return rest > 0 ? rest : 1;
}

static void fill_request(const part_run *p, rheos__message *request) {
  const rheos__master_step *step = p->step;
  Tensorflow__RunGraphRequest fields = TENSORFLOW__RUN_GRAPH_REQUEST__INIT;
  Tensorflow__ExecutorOpts options = TENSORFLOW__EXECUTOR_OPTS__INIT;
  fields.session_handle = step->session->handle;
  fields.create_worker_session_called = true;
  fields.graph_handle = (char *)(uintptr_t)p->part->graph;
  fields.step_id = step->id;
  options.record_timeline = (step->run->traced & RHEOS_TRACE_STEPS) != 0;
  options.record_partition_graphs = (step->run->traced & RHEOS_TRACE_PARTITION_GRAPHS) != 0;
  fields.exec_opts = &options;
  fields.recv_key = p->part->fetch_keys;
  fields.n_recv_key = p->part->num_fetches;
  fields.is_partial = step->run->step != 0;
  fields.is_last_partial_run = step->run->is_last;
  fields.store_errors_in_response_body = true;
  fields.request_id = (int64_t)rheos__random_id();
  rheos__message_put(request, &fields.base);
  for (size_t i = 0; i < p->part->num_feeds; i++) {
    rheos__message_put_named(request, 3, p->part->feed_keys[i],
                             step->run->values[p->part->feeds[i]]);
  }
}

// The transport's deadline is behind the step's, which ends the part there.
static rheos_status *start_part(part_run *p) {
  rheos__master_step *step = p->step;
  const int64_t rest = rest_ms(step);
  const rheos__peer_options options = {.timeout_ms = rest > 0 ? rest + 2 * END_MS : 0};
  rheos__message request = {0};
  rheos__peer_call *call = NULL;
  fill_request(p, &request);
  pthread_mutex_lock(&step->mutex);
  step->num_running++;
  p->runs = true;
  pthread_mutex_unlock(&step->mutex);
  rheos_status *status =
      rheos__peers_start(step->session->peers, p->part->task, rheos__method_names[RHEOS__RUN_GRAPH],
                         &request, &options, end_part, p, &call);
  rheos__message_deinit(&request);
  pthread_mutex_lock(&step->mutex);
  if (status != NULL) step->num_running--;
  p->call = call;
  if (call != NULL && step->failed != NULL) rheos__peer_call_cancel(call);
  pthread_mutex_unlock(&step->mutex);
  return status;
}

// ---- The own task's part

static rheos_status *run_observed(rheos__master_step *step, const rheos__master_part *part,
                                  rheos_trace *trace) {
  const rheos__master_run *run = step->run;
  const rheos_run_options options = {.timeout_ms = rest_ms(step),
                                     .should_stop = run->should_stop,
                                     .should_stop_argument = run->should_stop_argument,
                                     .trace = trace};
  const size_t count = part->num_feeds + part->num_fetches + 1;
  rheos_tensor **tensors = rheos__alloc_array(count, sizeof *tensors);
  if (tensors == NULL) return rheos__out_of_memory();
  rheos_tensor **received = tensors + part->num_feeds;
  for (size_t i = 0; i < part->num_feeds; i++) tensors[i] = run->values[part->feeds[i]];
  const rheos__part_run here = {.graph = part->graph,
                                .step = step->id,
                                .send_keys = part->feed_keys,
                                .sends = tensors,
                                .num_sends = part->num_feeds,
                                .recv_keys = part->fetch_keys,
                                .num_recvs = part->num_fetches,
                                .is_partial = run->step != 0,
                                .is_last = run->is_last,
                                .received = received,
                                .options = &options};
  rheos_status *status = rheos__worker_run(step->session->worker, &here);
  for (size_t i = 0; status == NULL && i < part->num_fetches; i++) {
    run->results[part->fetches[i]] = received[i];
  }
  rheos__free(tensors);
  return status;
}

static rheos_status *run_here(rheos__master_step *step, const rheos__master_part *part) {
  const rheos__master_run *run = step->run;
  if (run->traced == 0) return run_observed(step, part, NULL);
  rheos_trace *trace = rheos_trace_new(run->traced);
  if (trace == NULL) return rheos__out_of_memory();
  rheos_status *status = run_observed(step, part, trace);
  if (status == NULL) {
    pthread_mutex_lock(&step->mutex);
    status = rheos__run_stats_add_trace(run->stats, trace);
    pthread_mutex_unlock(&step->mutex);
  }
  rheos_trace_free(trace);
  return status;
}

// ---- The whole

// "x" and "x:0" are one.
static bool is_same(const char *a, const char *b) {
  const size_t a_size = strcspn(a, ":"), b_size = strcspn(b, ":");
  if (a_size != b_size || memcmp(a, b, a_size) != 0) return false;
  const char *a_index = a[a_size] != '\0' ? a + a_size : ":0";
  return strcmp(a_index, b[b_size] != '\0' ? b + b_size : ":0") == 0;
}

// What is fed and fetched, or was fetched before, is in no part.
static rheos_status *take_known(const rheos__master_run *run) {
  for (size_t i = 0; i < run->num_fetches; i++) {
    for (size_t k = 0; run->results[i] == NULL && k < run->num_feeds; k++) {
      if (!is_same(run->fetches[i], run->feeds[k])) continue;
      run->results[i] = rheos_tensor_ref(run->values[k]);
    }
    for (size_t k = 0; run->results[i] == NULL && k < i; k++) {
      if (!is_same(run->fetches[i], run->fetches[k])) continue;
      run->results[i] = rheos_tensor_ref(run->results[k]);
    }
    if (run->results[i] != NULL) continue;
    return rheos_status_new(RHEOS_INTERNAL, "no part of the step gave %s", run->fetches[i]);
  }
  return NULL;
}

// The step may be failed by others from the beginning: they find parts whose calls are not there
// yet.
static rheos_status *make_parts(rheos__master_step *step, const rheos__master_plan *plan) {
  part_run *parts = rheos__alloc_array((size_t)plan->num_parts + 1, sizeof *parts);
  if (parts == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < plan->num_parts; i++) {
    parts[i] = (part_run){.step = step, .part = &plan->parts[i]};
  }
  pthread_mutex_lock(&step->mutex);
  step->parts = parts;
  step->num_parts = plan->num_parts;
  pthread_mutex_unlock(&step->mutex);
  return NULL;
}

static rheos_status *begin_parts(rheos__master_step *step, const rheos__master_plan *plan) {
  RHEOS_TRY(make_parts(step, plan));
  for (int32_t i = 0; i < plan->num_parts; i++) {
    if (plan->parts[i].task == step->session->own_task) continue;
    RHEOS_TRY(start_part(&step->parts[i]));
  }
  return NULL;
}

static struct timespec after_ms(int64_t ms) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_nsec += ms % 1000 * 1000000;
  time.tv_sec += ms / 1000 + time.tv_nsec / 1000000000;
  time.tv_nsec %= 1000000000;
  return time;
}

// Why the step is to end early; NULL: it goes on.
static rheos_status *why_stop(const rheos__master_step *step) {
  const rheos__master_run *run = step->run;
  if (step->deadline_ns != 0 && rheos__clock_ns() >= step->deadline_ns) {
    return rheos_status_new(RHEOS_DEADLINE_EXCEEDED, "the step was not done in time");
  }
  if (run->should_stop != NULL && run->should_stop(run->should_stop_argument)) {
    return rheos_status_new(RHEOS_CANCELLED, "the step was cancelled");
  }
  return NULL;
}

static void wait_for_parts(rheos__master_step *step) {
  pthread_mutex_lock(&step->mutex);
  while (step->num_running > 0) {
    const struct timespec until = after_ms(POLL_MS);
    pthread_cond_timedwait(&step->changed, &step->mutex, &until);
    if (step->failed != NULL && rheos__clock_ns() - step->failed_ns > END_MS * INT64_C(1000000)) {
      cancel_calls(step);
    }
    if (step->num_running == 0 || step->failed != NULL) continue;
    pthread_mutex_unlock(&step->mutex);
    fail_take(step, why_stop(step));
    pthread_mutex_lock(&step->mutex);
  }
  pthread_mutex_unlock(&step->mutex);
}

void rheos__master_clean_up(const rheos__master_session *session, const rheos__master_plan *plan,
                            int64_t step) {
  for (int32_t i = 0; i < plan->num_parts; i++) {
    const int32_t task = plan->parts[i].task;
    if (task != session->own_task) clean_up_there(session, task, step);
  }
  rheos__worker_clean_up(session->worker, step);
}

// Whoever ends the step meanwhile finds no call to cancel.
static void forget_calls(rheos__master_step *step) {
  for (int32_t i = 0; i < step->num_parts; i++) {
    pthread_mutex_lock(&step->mutex);
    rheos__peer_call *call = step->parts[i].call;
    step->parts[i].call = NULL;
    pthread_mutex_unlock(&step->mutex);
    if (call != NULL) rheos__peer_call_forget(call);
  }
}

static bool is_logged(const rheos__master_step *step, const rheos__master_plan *plan) {
  return (step->run->traced & RHEOS_TRACE_STEPS) != 0 && plan->num_parts > 1;
}

static void run_parts(rheos__master_step *step, const rheos__master_plan *plan) {
  if (is_logged(step, plan)) rheos__master_logs_turn(step->session, plan, true);
  fail_take(step, begin_parts(step, plan));
  for (int32_t i = 0; i < step->num_parts; i++) {
    if (plan->parts[i].task != step->session->own_task) continue;
    fail_take(step, run_here(step, &plan->parts[i]));
  }
  wait_for_parts(step);
  forget_calls(step);
  if (is_logged(step, plan)) {
    rheos__master_logs_take(step->session, plan, step->id, step->run->stats);
    rheos__master_logs_turn(step->session, plan, false);
  }
  if (step->run->step == 0) rheos__master_clean_up(step->session, plan, step->id);
}

// With the session's mutex held.
static void link_step(rheos__master_step *step) {
  rheos__master_session *session = step->session;
  step->next = session->steps;
  if (step->next != NULL) step->next->before = step;
  session->steps = step;
}

static void unlink_step(rheos__master_step *step) {
  rheos__master_session *session = step->session;
  if (step->before != NULL) step->before->next = step->next;
  if (step->before == NULL) session->steps = step->next;
  if (step->next != NULL) step->next->before = step->before;
  if (session->steps == NULL) pthread_cond_broadcast(&session->none_runs);
}

static rheos_status *begin_step(rheos__master_step *step, rheos__master_plan **out_plan) {
  rheos__master_session *session = step->session;
  pthread_mutex_lock(&session->mutex);
  rheos_status *status = session->is_closed
                             ? rheos_status_new(RHEOS_CANCELLED, "Session was closed.")
                             : rheos__master_plan_get(session, step->run, out_plan);
  if (status == NULL) link_step(step);
  pthread_mutex_unlock(&session->mutex);
  return status;
}

// A step that has collectives with those of other sessions has the number that theirs have.
static void number_step(rheos__master_step *step, const rheos__master_plan *plan) {
  const rheos__master_run *run = step->run;
  if (!plan->is_shared || run->step != 0) return;
  fail_take(step, rheos__task_collectives_next_step(step->session->worker->collectives,
                                                    plan->collective_key, run->should_stop,
                                                    run->should_stop_argument, &step->id));
}

static void end_step(rheos__master_step *step, rheos__master_plan *plan) {
  rheos__master_session *session = step->session;
  pthread_mutex_lock(&session->mutex);
  unlink_step(step);
  pthread_mutex_unlock(&session->mutex);
  rheos__master_plan_unref(session, plan);
}

rheos_status *rheos__master_session_run(rheos__master_session *session,
                                        const rheos__master_run *run) {
  const int64_t timeout_ms = run->timeout_ms > 0 ? run->timeout_ms : session->timeout_ms;
  rheos__master_plan *plan;
  rheos__master_step step = {
      .session = session, .run = run, .id = run->step != 0 ? run->step : rheos__step_id()};
  if (timeout_ms > 0) step.deadline_ns = rheos__clock_ns() + timeout_ms * 1000000;
  for (size_t i = 0; i < run->num_fetches; i++) run->results[i] = NULL;
  pthread_mutex_init(&step.mutex, NULL);
  pthread_cond_init(&step.changed, NULL);
  rheos_status *status = begin_step(&step, &plan);
  if (status == NULL) {
    number_step(&step, plan);
    if (step.failed == NULL) run_parts(&step, plan);
    if (plan->is_shared && run->step == 0) {
      rheos__task_collectives_end_step(session->worker->collectives, plan->collective_key, step.id,
                                       step.failed != NULL);
    }
    end_step(&step, plan);
    status = step.failed != NULL ? step.failed : take_known(run);
  }
  for (size_t i = 0; status != NULL && i < run->num_fetches; i++) {
    rheos_tensor_unref(run->results[i]);
    run->results[i] = NULL;
  }
  rheos__free(step.parts);
  pthread_cond_destroy(&step.changed);
  pthread_mutex_destroy(&step.mutex);
  return status;
}
