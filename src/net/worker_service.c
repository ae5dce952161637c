// The service tensorflow.WorkerService.
#include "net/services.h"

#include <stdlib.h>

#include "codec/wire.h"
#include "graph/node_mentions.h"
#include "net/run_stats.h"
#include "runtime/step/host.h"
#include "worker.pb-c.h"

#define REQUEST(type) ((const Tensorflow__##type##Request *)(const void *)served->request.message)

static rheos_status *list_devices(const rheos_server *server, rheos__arena *arena,
                                  Tensorflow__DeviceAttributes ***out_devices) {
  const size_t count = (size_t)rheos_host_num_devices(server->host);
  Tensorflow__DeviceAttributes *all = rheos__arena_alloc(arena, count * sizeof *all);
  Tensorflow__DeviceAttributes **list = rheos__arena_alloc(arena, count * sizeof *list);
  Tensorflow__DeviceLocality *locality = rheos__arena_alloc(arena, sizeof *locality);
  if (all == NULL || list == NULL || locality == NULL) return rheos__out_of_memory();
  tensorflow__device_locality__init(locality);
  for (size_t i = 0; i < count; i++) {
    tensorflow__device_attributes__init(&all[i]);
    all[i].name = (char *)(uintptr_t)server->host->attributes[i].name;
    all[i].device_type = (char *)(uintptr_t)server->host->attributes[i].type;
    all[i].memory_limit = server->host->attributes[i].memory_limit_bytes;
    all[i].locality = locality;
    all[i].xla_global_id = -1;  // none; TensorFlow 1 does not know the field
    all[i].incarnation = server->worker.incarnation;
    list[i] = &all[i];
  }
  *out_devices = list;
  return NULL;
}

rheos_status *rheos__serve_GetStatus(rheos__served *served) {
  Tensorflow__GetStatusResponse reply = TENSORFLOW__GET_STATUS_RESPONSE__INIT;
  RHEOS_TRY(list_devices(served->server, &served->request.arena, &reply.device_attributes));
  reply.n_device_attributes = (size_t)rheos_host_num_devices(served->server->host);
  rheos__message_put(&served->reply, &reply.base);
  return NULL;
}

// ---- Sessions and graphs

rheos_status *rheos__serve_CreateWorkerSession(rheos__served *served) {
  const Tensorflow__CreateWorkerSessionRequest *r = REQUEST(CreateWorkerSession);
  const rheos__session_from_master from = {
      .handle = r->session_handle,
      .is_isolated = r->isolate_session_state,
      .master = r->master_task,
      .master_incarnation = (uint64_t)r->master_incarnation,
      .cluster = r->server_def != NULL ? r->server_def->cluster : NULL,
      .job = r->server_def != NULL ? r->server_def->job_name : "",
      .task = r->server_def != NULL ? r->server_def->task_index : 0,
      // TensorFlow 1 tells no task.
      .names_frames = r->master_task[0] == '\0'};
  return rheos__worker_create_session(&served->server->worker, &from);
}

rheos_status *rheos__serve_DeleteWorkerSession(rheos__served *served) {
  return rheos__worker_delete_session(&served->server->worker,
                                      REQUEST(DeleteWorkerSession)->session_handle);
}

rheos_status *rheos__serve_RegisterGraph(rheos__served *served) {
  const Tensorflow__RegisterGraphRequest *r = REQUEST(RegisterGraph);
  Tensorflow__RegisterGraphResponse reply = TENSORFLOW__REGISTER_GRAPH_RESPONSE__INIT;
  char handle[RHEOS__ID_BYTES];
  RHEOS_TRY(rheos__graph_limits_check(&served->server->worker.limits, 0, served->request.bytes,
                                      served->request.size_bytes));
  RHEOS_TRY(rheos__worker_register(&served->server->worker,
                                   r->create_worker_session_called ? r->session_handle : "",
                                   served->request.bytes, served->request.size_bytes, handle));
  reply.graph_handle = handle;
  rheos__message_put(&served->reply, &reply.base);
  return NULL;
}

rheos_status *rheos__serve_DeregisterGraph(rheos__served *served) {
  return rheos__worker_deregister(&served->server->worker, REQUEST(DeregisterGraph)->graph_handle);
}

// ---- Steps

static rheos_status *put_stats(rheos__served *served, const rheos_trace *trace) {
  rheos__run_stats stats = {.steps = {0}};
  rheos_status *status = rheos__run_stats_add_trace(&stats, trace);
  if (status == NULL) rheos__run_stats_put_reply(&stats, &served->reply);
  rheos__run_stats_deinit(&stats);
  return status;
}

static rheos_status *run_graph(rheos__served *served, rheos_tensor **received) {
  const Tensorflow__RunGraphRequest *r = REQUEST(RunGraph);
  const uint32_t traced = r->is_partial ? 0 : rheos__traced_by_executor_options(r->exec_opts);
  const rheos_run_options options = {.should_stop = rheos__is_abandoned,
                                     .should_stop_argument = served,
                                     .trace = traced != 0 ? rheos_trace_new(traced) : NULL};
  if (traced != 0 && options.trace == NULL) return rheos__out_of_memory();
  const rheos__part_run run = {.graph = r->graph_handle,
                               .step = r->step_id,
                               .send_keys = served->request.names,
                               .sends = served->request.tensors,
                               .num_sends = served->request.num_tensors,
                               .recv_keys = r->recv_key,
                               .num_recvs = r->n_recv_key,
                               .is_partial = r->is_partial,
                               .is_last = r->is_last_partial_run,
                               .received = received,
                               .options = &options};
  rheos_status *status = rheos__worker_run(&served->server->worker, &run);
  if (status == NULL && options.trace != NULL) status = put_stats(served, options.trace);
  rheos_trace_free(options.trace);
  if (status != NULL && rheos__is_abandoned(served)) {  // so nobody will clean up
    rheos__worker_clean_up(&served->server->worker, r->step_id);
  }
  for (size_t i = 0; i < r->n_recv_key; i++) {
    if (received[i] == NULL) continue;
    rheos__message_put_named(&served->reply, 1, r->recv_key[i], received[i]);
    rheos_tensor_unref(received[i]);
  }
  return status;
}

// As part of the reply, where the caller asks for that: it may be longer then.
static rheos_status *put_error_take(rheos__served *served, rheos_status *failed) {
  failed = rheos__status_for_others_take(failed);
  served->code = rheos_status_code(failed);
  Tensorflow__RunGraphResponse reply = TENSORFLOW__RUN_GRAPH_RESPONSE__INIT;
  reply.status_code = (Tensorflow__Error__Code)rheos_status_code(failed);
  reply.status_error_message = (char *)(uintptr_t)rheos_status_message(failed);
  rheos__message_put(&served->reply, &reply.base);
  rheos_status_free(failed);
  return NULL;
}

rheos_status *rheos__serve_RunGraph(rheos__served *served) {
  const Tensorflow__RunGraphRequest *r = REQUEST(RunGraph);
  rheos_tensor **received = rheos__alloc_array(r->n_recv_key + 1, sizeof *received);
  if (received == NULL) return rheos__out_of_memory();
  rheos_status *status = run_graph(served, received);
  rheos__free(received);
  // A master that has gone cleans up nothing.
  if (rheos__is_abandoned(served)) rheos__worker_clean_up(&served->server->worker, r->step_id);
  if (status != NULL && r->store_errors_in_response_body) return put_error_take(served, status);
  return status;
}

rheos_status *rheos__serve_CleanupGraph(rheos__served *served) {
  rheos__worker_clean_up(&served->server->worker, REQUEST(CleanupGraph)->step_id);
  return NULL;
}

rheos_status *rheos__serve_CleanupAll(rheos__served *served) {
  const Tensorflow__CleanupAllRequest *r = REQUEST(CleanupAll);
  return rheos__worker_reset(&served->server->worker, r->container, r->n_container);
}

// ---- Values for other tasks

typedef struct asked_value {
  rheos_server *server;
  rheos__incoming *call;
  rheos__worker_step *step;
} asked_value;

static void send_value(void *argument, rheos_status *failed, rheos_tensor *value) {
  asked_value *asked = argument;
  rheos__message reply = {0};
  Tensorflow__RecvTensorResponse fields = TENSORFLOW__RECV_TENSOR_RESPONSE__INIT;
  fields.is_dead = value == NULL;
  if (failed == NULL) {
    rheos__message_put(&reply, &fields.base);
    if (value != NULL) rheos__message_put_tensor(&reply, 1, value);
  }
  rheos_tensor_unref(value);
  rheos__answer_take(asked->server, asked->call, failed, &reply);
  rheos__message_deinit(&reply);
  rheos__worker_step_unref(asked->step);
  rheos__free(asked);
}

static rheos_status *answer_with_value(rheos__served *served, rheos__worker_step *step,
                                       const char *key) {
  asked_value *asked = rheos__alloc(sizeof *asked);
  if (asked == NULL) return rheos__out_of_memory();
  *asked = (asked_value){served->server, served->call, rheos__worker_step_ref(step)};
  served->is_later = true;
  rheos_status *status = rheos__rendezvous_receive_for(step->rendezvous, key, send_value, asked);
  if (status == NULL) return NULL;
  served->is_later = false;
  rheos__worker_step_unref(step);
  rheos__free(asked);
  return status;
}

// A key says which of the tasks of its name is asked: one that was here before had its own values.
static rheos_status *check_incarnation(const rheos_server *server, const char *key) {
  const char *number = strchr(key, ';');
  const uint64_t wanted = number != NULL ? strtoull(number + 1, NULL, 16) : 0;
  if (wanted == server->worker.incarnation) return NULL;
  return rheos_status_new(RHEOS_ABORTED,
                          "RecvTensor expects a different device incarnation: %llu vs. %llu. %s "
                          "was probably restarted.",
                          (unsigned long long)wanted,
                          (unsigned long long)server->worker.incarnation,
                          server->peers.cluster.tasks[server->own_task].name);
}

// The answer may be given, and the step be over, before this is.
rheos_status *rheos__serve_RecvTensor(rheos__served *served) {
  const Tensorflow__RecvTensorRequest *r = REQUEST(RecvTensor);
  rheos__worker_step *step;
  RHEOS_TRY(check_incarnation(served->server, r->rendezvous_key));
  RHEOS_TRY(rheos__worker_steps_get(&served->server->worker.steps, r->step_id, &step));
  rheos_status *status = answer_with_value(served, step, r->rendezvous_key);
  rheos__worker_step_unref(step);
  return status;
}

// Tensors are counted until they have been sent, so nobody needs to say that they came.
rheos_status *rheos__serve_MarkRecvFinished(rheos__served *served) {
  (void)served;
  return NULL;
}

// ---- What masters have noted

static rheos_status *put_log(rheos__served *served, int64_t step) {
  rheos__buffer steps = {0}, labeled = {0};
  rheos__rpc_log_take(&served->server->worker.steps.log, step, &steps);
  const bool is_there = steps.size_bytes > 0 || steps.failed;
  rheos__wire_put_unless_0(&labeled, 1, step);
  rheos__wire_put_message(&labeled, 2, &steps);
  if (labeled.failed) served->reply.bytes.failed = true;
  if (is_there) rheos__message_put_bytes(&served->reply, 1, labeled.data, labeled.size_bytes);
  rheos__buffer_deinit(&steps);
  rheos__buffer_deinit(&labeled);
  return NULL;
}

rheos_status *rheos__serve_Logging(rheos__served *served) {
  const Tensorflow__LoggingRequest *r = REQUEST(Logging);
  rheos__rpc_log *log = &served->server->worker.steps.log;
  if (r->enable_rpc_logging) atomic_store(&log->is_on, 1);
  if (r->disable_rpc_logging) atomic_store(&log->is_on, 0);
  for (size_t i = 0; i < r->n_fetch_step_id; i++) RHEOS_TRY(put_log(served, r->fetch_step_id[i]));
  if (r->clear) rheos__rpc_log_clear(log);
  return NULL;
}

// As TensorFlow's workers answer.
rheos_status *rheos__serve_Tracing(rheos__served *served) {
  (void)served;
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "Tracing");
}
