#include "net/worker_step.h"

#include <stdio.h>
#include <string.h>

#include "net/ids.h"
#include "net/methods.h"
#include "runtime/threads/pool.h"
#include "worker.pb-c.h"

// A value that another task was asked for.
typedef struct incoming_value {
  rheos__worker_step *step;  // with a reference
  bool is_buffer;            // of a collective
  char *key;
  rheos__peer_call *call;  // NULL: it is being asked for, or has come
  int64_t start_ns;
  struct incoming_value *before, *next;
  _Atomic int32_t references;  // whoever asks, and whoever takes the reply
} incoming_value;

// ---- Values from elsewhere

static void value_unref(incoming_value *value) {
  if (atomic_fetch_sub(&value->references, 1) != 1) return;
  if (value->call != NULL) rheos__peer_call_forget(value->call);
  rheos__worker_step_unref(value->step);
  rheos__free(value->key);
  rheos__free(value);
}

static void link_value(incoming_value *value) {
  rheos__worker_step *step = value->step;
  pthread_mutex_lock(&step->mutex);
  value->next = step->incoming;
  if (value->next != NULL) value->next->before = value;
  step->incoming = value;
  pthread_mutex_unlock(&step->mutex);
}

// With the mutex held.
static void unlink_value(incoming_value *value) {
  rheos__worker_step *step = value->step;
  if (value->before != NULL)
    value->before->next = value->next;
  else if (step->incoming == value)
    step->incoming = value->next;
  if (value->next != NULL) value->next->before = value->before;
  value->before = value->next = NULL;
}

static rheos_status *take_buffer(rheos__chunks chunks, incoming_value *value) {
  static const rheos__message_form form = {.descriptor = &tensorflow__recv_buf_response__descriptor,
                                           .bytes = 4};
  rheos__received received;
  rheos_tensor *tensor = NULL;
  rheos_status *status = rheos__receive_message(&form, chunks, &received);
  if (status == NULL) status = rheos__read_buffer(received.bytes, received.size_bytes, &tensor);
  if (status == NULL) {
    status = rheos__rendezvous_send(value->step->rendezvous, value->key, tensor);
  }
  rheos_tensor_unref(tensor);
  rheos__received_deinit(&received);
  return status;
}

static rheos_status *take_value(rheos__chunks chunks, incoming_value *value) {
  static const rheos__message_form form = {
      .descriptor = &tensorflow__recv_tensor_response__descriptor, .tensors = 1};
  rheos__received received;
  rheos_status *status = rheos__receive_message(&form, chunks, &received);
  if (status == NULL) {
    const Tensorflow__RecvTensorResponse *reply = (void *)received.message;
    rheos_tensor *tensor = reply->is_dead || received.num_tensors == 0 ? NULL : received.tensors[0];
    rheos__rpc_log_add(&value->step->steps->log, value->step->id, value->key,
                       tensor != NULL ? tensor->size_bytes : 0, value->start_ns, rheos__clock_ns());
    status = rheos__rendezvous_send(value->step->rendezvous, value->key, tensor);
  }
  rheos__received_deinit(&received);
  return status;
}

static void end_value(void *argument, rheos_status *status, rheos__chunks chunks) {
  incoming_value *value = argument;
  rheos__worker_step *step = value->step;
  pthread_mutex_lock(&step->mutex);
  unlink_value(value);
  pthread_mutex_unlock(&step->mutex);
  if (status == NULL) {
    status = value->is_buffer ? take_buffer(chunks, value) : take_value(chunks, value);
  }
  if (status != NULL) rheos__worker_step_abort(step, status);
  rheos_status_free(status);
  value_unref(value);
}

// The reply may come before the call is known here.
static void keep_call(incoming_value *value, rheos__peer_call *call) {
  rheos__worker_step *step = value->step;
  pthread_mutex_lock(&step->mutex);
  value->call = call;
  if (step->is_over) rheos__peer_call_cancel(call);
  pthread_mutex_unlock(&step->mutex);
}

// A task that was not there when it was last looked for may have come meanwhile: the transport is
// given the time to find out, until the pulse asks.
static rheos_status *ask(incoming_value *value, int32_t task, rheos__method method,
                         const ProtobufCMessage *fields) {
  rheos__session_cluster *cluster = atomic_load(&value->step->cluster);
  rheos__message request = {0};
  rheos__peer_call *call = NULL;
  const rheos__peer_options options = {.waits = true};
  value->start_ns = rheos__clock_ns();
  rheos__message_put(&request, fields);
  rheos_status *status =
      rheos__peers_start(cluster != NULL ? &cluster->peers : value->step->steps->peers, task,
                         rheos__method_names[method], &request, &options, end_value, value, &call);
  rheos__message_deinit(&request);
  if (status == NULL) keep_call(value, call);
  return status;
}

static rheos_status *ask_for_value(incoming_value *value, int32_t task) {
  Tensorflow__RecvTensorRequest fields = TENSORFLOW__RECV_TENSOR_REQUEST__INIT;
  fields.step_id = value->step->id;
  fields.rendezvous_key = value->key;
  fields.request_id = (int64_t)rheos__random_id();
  return ask(value, task, RHEOS__RECV_TENSOR, &fields.base);
}

static rheos_status *ask_for_buffer(incoming_value *value, const rheos__wanted_buffer *wanted) {
  Tensorflow__RecvBufRequest fields = TENSORFLOW__RECV_BUF_REQUEST__INIT;
  Tensorflow__DeviceLocality locality = TENSORFLOW__DEVICE_LOCALITY__INIT;
  fields.step_id = value->step->id;
  fields.buf_rendezvous_key = value->key;
  fields.num_bytes = (int64_t)wanted->size_bytes;
  fields.client_locality = fields.server_locality = &locality;
  fields.src_device = (char *)(uintptr_t)wanted->from_device;
  fields.dst_device = (char *)(uintptr_t)wanted->to_device;
  fields.src_incarnation = wanted->incarnation;
  fields.request_id = (int64_t)rheos__random_id();
  return ask(value, wanted->task, RHEOS__RECV_BUF, &fields.base);
}

// A value, or a buffer if `wanted` is not NULL.
static rheos_status *ask_for(rheos__worker_step *step, const char *key, int32_t task,
                             const rheos__wanted_buffer *wanted) {
  incoming_value *value = rheos__alloc_zeroed(sizeof *value);
  if (value == NULL) return rheos__out_of_memory();
  value->step = rheos__worker_step_ref(step);
  value->is_buffer = wanted != NULL;
  atomic_init(&value->references, 2);
  value->key = rheos__strdup(key);
  link_value(value);
  rheos_status *status = value->key == NULL ? rheos__out_of_memory()
                         : wanted != NULL   ? ask_for_buffer(value, wanted)
                                            : ask_for_value(value, task);
  if (status != NULL) {
    pthread_mutex_lock(&step->mutex);
    unlink_value(value);
    pthread_mutex_unlock(&step->mutex);
    value_unref(value);
  }
  value_unref(value);
  return status;
}

// What is sent from this task comes by itself.
static void want(void *argument, rheos__rendezvous *rendezvous, const char *key) {
  rheos__worker_step *step = argument;
  const rheos__worker_steps *steps = step->steps;
  const rheos__session_cluster *own = atomic_load(&step->cluster);
  const rheos__peers *peers = own != NULL ? &own->peers : steps->peers;
  (void)rendezvous;
  const int32_t task = rheos__cluster_task_of(&peers->cluster, key);
  if (task == (own != NULL ? own->own_task : steps->own_task) || task < 0) return;
  rheos_status *status = ask_for(step, key, task, NULL);
  if (status != NULL) rheos__worker_step_abort(step, status);
  rheos_status_free(status);
}

rheos_status *rheos__worker_step_fetch(rheos__worker_step *step,
                                       const rheos__wanted_buffer *wanted) {
  return ask_for(step, wanted->key, wanted->task, wanted);
}

// ---- Steps

void rheos__worker_steps_init(rheos__worker_steps *steps, rheos__peers *peers, int32_t own_task) {
  *steps = (rheos__worker_steps){.peers = peers, .own_task = own_task};
  pthread_mutex_init(&steps->mutex, NULL);
  rheos__rpc_log_init(&steps->log);
}

void rheos__worker_steps_deinit(rheos__worker_steps *steps) {
  rheos__rpc_log_deinit(&steps->log);
  pthread_mutex_destroy(&steps->mutex);
}

static rheos__worker_step **bucket_of(rheos__worker_steps *steps, int64_t id) {
  return &steps->buckets[(uint64_t)id % RHEOS__STEP_BUCKETS];
}

static rheos__worker_step **place_of(rheos__worker_steps *steps, int64_t id) {
  rheos__worker_step **place = bucket_of(steps, id);
  while (*place != NULL && (*place)->id != id) place = &(*place)->next;
  return place;
}

static bool was_ended(const rheos__worker_steps *steps, int64_t id) {
  const uint64_t count =
      steps->num_over < RHEOS__STEPS_REMEMBERED ? steps->num_over : RHEOS__STEPS_REMEMBERED;
  for (uint64_t i = 0; i < count; i++) {
    if (steps->over[i] == id) return true;
  }
  return false;
}

static void step_free(rheos__worker_step *step) {
  while (step->parts != NULL) {
    rheos__begun_part *part = step->parts;
    step->parts = part->next;
    rheos_status_free(part->status);
    rheos__free(part);
  }
  rheos__session_cluster_leave(atomic_load(&step->cluster));
  rheos_cancellation_free(step->cancellation);
  rheos__rendezvous_unref(step->rendezvous);
  pthread_cond_destroy(&step->changed);
  pthread_mutex_destroy(&step->mutex);
  rheos__free(step);
}

void rheos__worker_step_join(rheos__worker_step *step, const char *session,
                             rheos__session_cluster *cluster) {
  pthread_mutex_lock(&step->mutex);
  if (step->session[0] == '\0') snprintf(step->session, sizeof step->session, "%s", session);
  if (cluster != NULL && atomic_load(&step->cluster) == NULL) {
    atomic_store(&step->cluster, rheos__session_cluster_use(cluster));
  }
  pthread_mutex_unlock(&step->mutex);
}

rheos__worker_step *rheos__worker_step_ref(rheos__worker_step *step) {
  atomic_fetch_add(&step->references, 1);
  return step;
}

void rheos__worker_step_unref(rheos__worker_step *step) {
  if (atomic_fetch_sub(&step->references, 1) == 1) step_free(step);
}

static rheos__worker_step *step_new(rheos__worker_steps *steps, int64_t id) {
  rheos__worker_step *step = rheos__alloc_zeroed(sizeof *step);
  if (step == NULL) return NULL;
  const rheos__rendezvous_source source = {.want = want, .argument = step, .step = id};
  step->steps = steps;
  step->id = id;
  pthread_mutex_init(&step->mutex, NULL);
  pthread_cond_init(&step->changed, NULL);
  atomic_init(&step->references, 1);
  step->rendezvous = rheos__rendezvous_new(&source);
  step->cancellation = rheos_cancellation_new();
  if (step->rendezvous != NULL && step->cancellation != NULL) return step;
  step_free(step);
  return NULL;
}

// With the mutex held.
static rheos_status *find_or_begin(rheos__worker_steps *steps, int64_t id,
                                   rheos__worker_step **out_step) {
  rheos__worker_step **place = place_of(steps, id);
  *out_step = *place;
  if (*place != NULL) return NULL;
  if (was_ended(steps, id)) {
    return rheos_status_new(RHEOS_ABORTED, "step %lld is over", (long long)id);
  }
  *out_step = *place = step_new(steps, id);
  return *place != NULL ? NULL : rheos__out_of_memory();
}

rheos_status *rheos__worker_steps_get(rheos__worker_steps *steps, int64_t id,
                                      rheos__worker_step **out_step) {
  pthread_mutex_lock(&steps->mutex);
  rheos_status *status = find_or_begin(steps, id, out_step);
  if (status == NULL) rheos__worker_step_ref(*out_step);
  pthread_mutex_unlock(&steps->mutex);
  return status;
}

// The error first: a call that is taken back may end before this does, and would leave its own.
void rheos__worker_step_abort(rheos__worker_step *step, const rheos_status *why) {
  rheos__rendezvous_abort(step->rendezvous, why);
  pthread_mutex_lock(&step->mutex);
  step->is_over = true;
  for (incoming_value *value = step->incoming; value != NULL; value = value->next) {
    if (value->call != NULL) rheos__peer_call_cancel(value->call);
  }
  pthread_mutex_unlock(&step->mutex);
}

// Takes the step out of the table; NULL: there is none.
static rheos__worker_step *take_step(rheos__worker_steps *steps, int64_t id) {
  pthread_mutex_lock(&steps->mutex);
  rheos__worker_step **place = place_of(steps, id), *step = *place;
  if (step != NULL) *place = step->next;
  steps->over[steps->num_over++ % RHEOS__STEPS_REMEMBERED] = id;
  pthread_mutex_unlock(&steps->mutex);
  return step;
}

void rheos__worker_steps_end(rheos__worker_steps *steps, int64_t id, const rheos_status *why) {
  rheos__worker_step *step = take_step(steps, id);
  if (step == NULL) return;
  rheos__worker_step_abort(step, why);
  rheos_cancel(step->cancellation);
  rheos__worker_step_unref(step);
}

int32_t rheos__worker_steps_count(rheos__worker_steps *steps) {
  int32_t count = 0;
  pthread_mutex_lock(&steps->mutex);
  for (int i = 0; i < RHEOS__STEP_BUCKETS; i++) {
    for (const rheos__worker_step *step = steps->buckets[i]; step != NULL; step = step->next) {
      count++;
    }
  }
  pthread_mutex_unlock(&steps->mutex);
  return count;
}

typedef bool (*step_test)(rheos__worker_step *step, const void *argument);

static bool find_step(rheos__worker_steps *steps, step_test test, const void *argument,
                      int64_t *out_id) {
  bool found = false;
  pthread_mutex_lock(&steps->mutex);
  for (int i = 0; i < RHEOS__STEP_BUCKETS && !found; i++) {
    for (rheos__worker_step *step = steps->buckets[i]; step != NULL && !found; step = step->next) {
      found = test(step, argument);
      if (found) *out_id = step->id;
    }
  }
  pthread_mutex_unlock(&steps->mutex);
  return found;
}

static void end_those(rheos__worker_steps *steps, step_test test, const void *argument,
                      const rheos_status *why) {
  int64_t id = 0;
  while (find_step(steps, test, argument, &id)) rheos__worker_steps_end(steps, id, why);
}

static bool is_any(rheos__worker_step *step, const void *argument) {
  (void)step, (void)argument;
  return true;
}

static bool is_of_cluster(rheos__worker_step *step, const void *cluster) {
  return atomic_load(&step->cluster) == cluster;
}

static bool is_of_session(rheos__worker_step *step, const void *session) {
  pthread_mutex_lock(&step->mutex);
  const bool is = strncmp(step->session, session, sizeof step->session - 1) == 0;
  pthread_mutex_unlock(&step->mutex);
  return is;
}

static bool runs_by_itself(rheos__worker_step *step, const void *graph) {
  bool runs = false;
  pthread_mutex_lock(&step->mutex);
  for (const rheos__begun_part *p = step->parts; p != NULL && !runs; p = p->next) {
    runs = p->graph == graph;
  }
  pthread_mutex_unlock(&step->mutex);
  return runs;
}

void rheos__worker_steps_end_of(rheos__worker_steps *steps, const rheos__session_cluster *cluster,
                                const rheos_status *why) {
  end_those(steps, is_of_cluster, cluster, why);
}

void rheos__worker_steps_end_of_session(rheos__worker_steps *steps, const char *session,
                                        const rheos_status *why) {
  if (session[0] != '\0') end_those(steps, is_of_session, session, why);
}

void rheos__worker_steps_end_running(rheos__worker_steps *steps, const void *graph,
                                     const rheos_status *why) {
  end_those(steps, runs_by_itself, graph, why);
}

void rheos__worker_steps_end_all(rheos__worker_steps *steps, const rheos_status *why) {
  end_those(steps, is_any, NULL, why);
}
