#include "net/orphans.h"

#include "net/methods.h"
#include "runtime/threads/pool.h"
#include "worker.pb-c.h"

// How many times a master is asked before it is gone for too long, and how long it may take.
enum { TIMES = 4, ANSWER_MS = 2000 };

rheos_status *rheos__orphans_init(rheos__orphans *orphans, rheos__worker *worker, int64_t gone_ns) {
  const size_t count = (size_t)worker->steps.peers->cluster.num_tasks + 1;
  *orphans = (rheos__orphans){.worker = worker,
                              .gone_ns = gone_ns,
                              .ask_at_ns = rheos__clock_ns() + gone_ns / TIMES,
                              .gone_since_ns = rheos__alloc_array(count, sizeof(int64_t)),
                              .is_master = rheos__alloc_array(count, sizeof(bool))};
  if (orphans->gone_since_ns != NULL && orphans->is_master != NULL) return NULL;
  return rheos__out_of_memory();
}

void rheos__orphans_deinit(rheos__orphans *orphans) {
  rheos__free(orphans->gone_since_ns);
  rheos__free(orphans->is_master);
}

// The incarnation of the devices of a task; an error where it does not answer.
static rheos_status *ask(rheos__peers *peers, int32_t task, bool (*should_stop)(void *argument),
                         void *should_stop_argument, uint64_t *out_incarnation) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__get_status_response__descriptor};
  const rheos__peer_options options = {.timeout_ms = ANSWER_MS};
  rheos__message request = {0};
  rheos__received reply;
  *out_incarnation = 0;
  rheos_status *status =
      rheos__peers_call(peers, task, rheos__method_names[RHEOS__GET_STATUS], &request, &options,
                        should_stop, should_stop_argument, &form, &reply);
  if (status == NULL) {
    const Tensorflow__GetStatusResponse *r = (const void *)reply.message;
    if (r->n_device_attributes > 0) *out_incarnation = r->device_attributes[0]->incarnation;
  }
  rheos__received_deinit(&reply);
  rheos__message_deinit(&request);
  return status;
}

static void look_at(rheos__orphans *orphans, int32_t task, bool (*should_stop)(void *argument),
                    void *should_stop_argument) {
  rheos__peers *peers = orphans->worker->steps.peers;
  const char *name = peers->cluster.tasks[task].name;
  int64_t *since_ns = &orphans->gone_since_ns[task];
  uint64_t incarnation;
  rheos_status *status = ask(peers, task, should_stop, should_stop_argument, &incarnation);
  const int64_t now_ns = rheos__clock_ns();
  if (status == NULL) {
    *since_ns = 0;
    if (incarnation != 0) rheos__worker_end_orphans(orphans->worker, name, incarnation);
  } else if (*since_ns == 0) {
    *since_ns = now_ns;
  } else if (now_ns - *since_ns > orphans->gone_ns) {
    rheos__worker_end_orphans(orphans->worker, name, 0);
  }
  rheos_status_free(status);
}

void rheos__orphans_look(rheos__orphans *orphans, bool (*should_stop)(void *argument),
                         void *should_stop_argument) {
  const rheos__worker_steps *steps = &orphans->worker->steps;
  const int32_t count = steps->peers->cluster.num_tasks;
  if (rheos__clock_ns() < orphans->ask_at_ns) return;
  rheos__worker_find_masters(orphans->worker, orphans->is_master);
  for (int32_t task = 0; task < count && !should_stop(should_stop_argument); task++) {
    if (task == steps->own_task || !orphans->is_master[task]) continue;
    look_at(orphans, task, should_stop, should_stop_argument);
  }
  orphans->ask_at_ns = rheos__clock_ns() + orphans->gone_ns / TIMES;
}
