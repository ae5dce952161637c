#include "net/master_session.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

#include "device/known_device.h"
#include "net/master_callable.h"
#include "net/master_partial.h"
#include "net/graph_parts.h"
#include "net/methods.h"
#include "runtime/threads/pool.h"
#include "runtime/step/host.h"
#include "worker.pb-c.h"

// How long a new session waits for tasks that are not there yet, between two notes of it, and in
// all where the configuration says nothing.
enum { NOTE_MS = 10000, START_MS = 300000, WORD_MS = 10000 };

// ---- Devices

// A server may know itself by another name than the session's cluster has for it.
static rheos_status *make_device(const rheos__master_session *session, int32_t task,
                                 const rheos__device_name *name, const rheos__device_kind *kind,
                                 rheos__master_device *device) {
  const int32_t index = name->id >= 0 && name->id <= 9999 ? name->id : 0;
  device->task = task;
  return rheos__known_device_init(&device->device, kind, index,
                                  &session->peers->cluster.tasks[task].parsed);
}

// Devices of kinds that are not known are left alone: no op is known to run there.
static rheos_status *add_device(rheos__master_session *session, int32_t task, const char *name,
                                uint64_t incarnation, int64_t memory_limit_bytes) {
  rheos__device_name parsed;
  RHEOS_TRY(rheos__device_name_parse(name, &parsed));
  const rheos__device_kind *kind = rheos__known_kind(parsed.type);
  if (kind == NULL) return NULL;
  const size_t count = (size_t)session->num_devices;
  if (count == 0 || (count & (count - 1)) == 0) {  // it doubles
    rheos__master_device *grown =
        rheos__realloc(session->devices, (count > 0 ? 2 * count : 1) * sizeof *session->devices);
    if (grown == NULL) return rheos__out_of_memory();
    session->devices = grown;
  }
  rheos__master_device *device = &session->devices[count];
  device->incarnation = incarnation;
  device->memory_limit_bytes = memory_limit_bytes;
  RHEOS_TRY(make_device(session, task, &parsed, kind, device));
  session->num_devices++;
  return NULL;
}

static rheos_status *add_own_devices(rheos__master_session *session) {
  const rheos_host *host = session->worker->host;
  for (int32_t i = 0; i < rheos_host_num_devices(host); i++) {
    RHEOS_TRY(add_device(session, session->own_task, rheos_host_device(host, i),
                         session->worker->incarnation, host->attributes[i].memory_limit_bytes));
  }
  return NULL;
}

static rheos_status *add_devices_of(rheos__master_session *session, int32_t task,
                                    const Tensorflow__GetStatusResponse *reply) {
  for (size_t i = 0; i < reply->n_device_attributes; i++) {
    const Tensorflow__DeviceAttributes *device = reply->device_attributes[i];
    // Of a CPU it is -1 where it is known.
    if (device->xla_global_id == 0 && strcmp(device->device_type, "CPU") == 0) {
      session->has_old_tasks = true;
    }
    RHEOS_TRY(add_device(session, task, device->name, device->incarnation, device->memory_limit));
  }
  return NULL;
}

// ---- Tasks

rheos_status *rheos__is_filtered_in(char *const *filters, size_t count,
                                    const rheos__device_name *task, bool *out_is) {
  *out_is = count == 0;
  for (size_t i = 0; i < count; i++) {
    rheos__device_name filter;
    RHEOS_TRY(rheos__device_name_parse(filters[i], &filter));
    if ((filter.job[0] == '\0' || strcmp(filter.job, task->job) == 0) &&
        (filter.replica < 0 || filter.replica == task->replica) &&
        (filter.task < 0 || filter.task == task->task)) {
      *out_is = true;
    }
  }
  return NULL;
}

static bool is_not_there(const rheos_status *status) {
  return rheos_status_code(status) == RHEOS_UNAVAILABLE ||
         rheos_status_code(status) == RHEOS_DEADLINE_EXCEEDED;
}

static void note_waiting(const rheos_status *why) {
  fprintf(stderr, "rheos: a session still waits: %s\n", rheos_status_message(why));
}

// Asks a task for its devices, again and again until it is there. Every other time the call fails
// at once where there is no connection: that tells why, and whether waiting helps.
static rheos_status *ask_task(rheos__master_session *session, const rheos__master_options *o,
                              int32_t task, int64_t until_ns) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__get_status_response__descriptor};
  for (int attempt = 0;; attempt++) {
    const bool waits = attempt % 2 != 0;
    const int64_t rest_ms = (until_ns - rheos__clock_ns()) / 1000000;
    const rheos__peer_options options = {.timeout_ms = rest_ms < 1         ? 1
                                                       : rest_ms < NOTE_MS ? rest_ms
                                                                           : NOTE_MS,
                                         .waits = waits};
    rheos__message request = {0};
    rheos__received reply;
    rheos_status *status =
        rheos__peers_call(session->peers, task, rheos__method_names[RHEOS__GET_STATUS], &request,
                          &options, o->should_stop, o->should_stop_argument, &form, &reply);
    if (status == NULL) status = add_devices_of(session, task, (const void *)reply.message);
    rheos__received_deinit(&reply);
    rheos__message_deinit(&request);
    if (!is_not_there(status) || (waits && rest_ms <= NOTE_MS)) return status;
    if (!waits && attempt > 0) note_waiting(status);
    rheos_status_free(status);
  }
}

static rheos_status *tell_task(rheos__master_session *session, const rheos__master_options *o,
                               int32_t task) {
  static const rheos__message_form form = {
      .descriptor = &tensorflow__create_worker_session_response__descriptor};
  const rheos__peer_options options = {.timeout_ms = WORD_MS};
  Tensorflow__CreateWorkerSessionRequest fields = TENSORFLOW__CREATE_WORKER_SESSION_REQUEST__INIT;
  Tensorflow__ServerDef server = TENSORFLOW__SERVER_DEF__INIT;
  rheos__message request = {0};
  rheos__received reply;
  fields.session_handle = session->handle;
  fields.server_def = &server;
  fields.isolate_session_state = session->is_isolated;
  if (session->cluster != NULL) {
    server.cluster = o->config->cluster_def;
    server.job_name = session->peers->cluster.tasks[task].parsed.job;
    server.task_index = session->peers->cluster.tasks[task].parsed.task;
    server.protocol = "grpc";
  }
  if (!session->has_old_tasks) {  // by what TensorFlow 1 leaves out workers know how loops count
    fields.master_task = session->peers->cluster.tasks[session->own_task].name;
    fields.master_incarnation = (int64_t)session->worker->incarnation;
  }
  rheos__message_put(&request, &fields.base);
  rheos_status *status =
      rheos__peers_call(session->peers, task, rheos__method_names[RHEOS__CREATE_WORKER_SESSION],
                        &request, &options, NULL, NULL, &form, &reply);
  rheos__received_deinit(&reply);
  rheos__message_deinit(&request);
  return status;
}

static rheos_status *tell_own_task(rheos__master_session *session, const rheos__master_options *o) {
  const rheos__device_name *self = &session->peers->cluster.tasks[session->own_task].parsed;
  const rheos__session_from_master own = {
      .handle = session->handle,
      .is_isolated = session->is_isolated,
      .master = "",
      .cluster = session->cluster != NULL ? o->config->cluster_def : NULL,
      .job = self->job,
      .task = self->task,
      .names_frames = session->has_old_tasks};
  RHEOS_TRY(rheos__worker_create_session(session->worker, &own));
  session->has_session[session->own_task] = true;
  return NULL;
}

// All are asked before one is told: what that is depends on who is there.
static rheos_status *join_tasks(rheos__master_session *session, const rheos__master_options *o) {
  const int64_t most_ms = session->timeout_ms > 0 ? session->timeout_ms : START_MS;
  const int64_t until_ns = rheos__clock_ns() + most_ms * 1000000;
  const rheos__cluster *cluster = &session->peers->cluster;
  for (int32_t i = 0; i < cluster->num_tasks; i++) {
    bool is_seen = true;
    if (o->config != NULL) {
      RHEOS_TRY(rheos__is_filtered_in(o->config->device_filters, o->config->n_device_filters,
                                      &cluster->tasks[i].parsed, &is_seen));
    }
    if (!is_seen || i == session->own_task) continue;
    RHEOS_TRY(ask_task(session, o, i, until_ns));
    session->is_asked[i] = true;
  }
  RHEOS_TRY(tell_own_task(session, o));
  for (int32_t i = 0; i < cluster->num_tasks; i++) {
    if (!session->is_asked[i]) continue;
    RHEOS_TRY(tell_task(session, o, i));
    session->has_session[i] = true;
  }
  return NULL;
}

// ---- Graphs

typedef struct mappings {
  rheos_import_mapping *all;
  size_t count;
  rheos__arena arena;
} mappings;

// The inputs of all nodes, sorted, each once.
static rheos_status *list_inputs(const Tensorflow__GraphDef *def, rheos__arena *arena,
                                 const char ***out_inputs, size_t *out_count) {
  size_t all = 0, count = 0;
  for (size_t i = 0; i < def->n_node; i++) all += def->node[i]->n_input;
  const char **inputs = *out_inputs = rheos__arena_alloc(arena, (all + 1) * sizeof *inputs);
  if (inputs == NULL) return rheos__out_of_memory();
  for (size_t i = 0, at = 0; i < def->n_node; i++) {
    for (size_t k = 0; k < def->node[i]->n_input; k++) inputs[at++] = def->node[i]->input[k];
  }
  qsort(inputs, all, sizeof *inputs, rheos__compare_texts);
  for (size_t i = 0; i < all; i++) {
    if (count == 0 || strcmp(inputs[count - 1], inputs[i]) != 0) inputs[count++] = inputs[i];
  }
  *out_count = count;
  return NULL;
}

// Whether the graph has what an input names; else it is one of the new nodes.
static bool find_input(const rheos__master_session *session, const char *input,
                       rheos_output *out_output) {
  rheos_graph *graph = session->graph;
  if (input[0] == '^') {
    const rheos_operation operation = rheos_graph_operation(graph, input + 1);
    *out_output = (rheos_output){graph, operation.id, 0};
    return operation.graph != NULL;
  }
  rheos_status *status = rheos__lowered_output(&session->lowered, graph, input, out_output);
  rheos_status_free(status);
  return status == NULL;
}

static rheos_status *map_inputs(mappings *m, const rheos__master_session *session,
                                const void *graph_def, size_t size_bytes) {
  Tensorflow__GraphDef *def;
  const char **inputs;
  size_t count = 0;
  RHEOS_TRY(RHEOS_PROTO_UNPACK(graph_def, graph_def, size_bytes, &m->arena, &def));
  RHEOS_TRY(list_inputs(def, &m->arena, &inputs, &count));
  m->all = rheos__arena_alloc(&m->arena, (count + 1) * sizeof *m->all);
  if (m->all == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) {
    rheos_output output;
    if (!find_input(session, inputs[i], &output)) continue;
    m->all[m->count++] = (rheos_import_mapping){.from = inputs[i], .to = output};
  }
  return NULL;
}

static rheos_status *extend(rheos__master_session *session, const void *graph_def,
                            size_t size_bytes) {
  rheos_graph *graph = session->graph;
  mappings m = {.count = 0};
  RHEOS_TRY(rheos__graph_limits_check(&session->worker->limits, rheos_graph_num_operations(graph),
                                      graph_def, size_bytes));
  rheos__arena_init(&m.arena);
  rheos_status *status = NULL;
  const int32_t first = rheos_graph_num_operations(graph);
  if (first > 0) status = map_inputs(&m, session, graph_def, size_bytes);
  if (status == NULL) status = rheos__add_to_graph(graph, graph_def, size_bytes, m.all, m.count);
  rheos__arena_deinit(&m.arena);
  return status != NULL ? status : rheos__lower_calls(graph, first, &session->lowered);
}

rheos_status *rheos__master_session_extend(rheos__master_session *session, int64_t version,
                                           const void *graph_def, size_t size_bytes,
                                           int64_t *out_version) {
  rheos_status *status = NULL;
  pthread_mutex_lock(&session->mutex);
  if (session->is_closed) {
    status = rheos_status_new(RHEOS_FAILED_PRECONDITION, "Session is closed.");
  } else if (version != session->version) {
    status = rheos_status_new(RHEOS_ABORTED,
                              "Tried to extend version %lld of the graph, but it is "
                              "version %lld",
                              (long long)version, (long long)session->version);
  } else {
    status = extend(session, graph_def, size_bytes);
  }
  if (status == NULL) *out_version = ++session->version;
  pthread_mutex_unlock(&session->mutex);
  return status;
}

// ---- Making and ending

static void read_config(rheos__master_session *session, const Tensorflow__ConfigProto *config) {
  if (config == NULL) return;
  session->allow_soft_placement = config->allow_soft_placement;
  session->log_device_placement = config->log_device_placement;
  session->is_isolated = config->isolate_session_state;
  session->timeout_ms = config->operation_timeout_in_ms;
}

// Of a cluster that the client brought, the session's resources are its own.
static rheos_status *join_own_cluster(rheos__master_session *session,
                                      const rheos__master_options *o) {
  RHEOS_TRY(rheos__session_cluster_new(o->peers, o->config->cluster_def, NULL, 0, o->target,
                                       &session->cluster));
  session->peers = &session->cluster->peers;
  session->own_task = session->cluster->own_task;
  session->is_isolated = true;
  return NULL;
}

static rheos_status *fill(rheos__master_session *session, const rheos__master_options *o) {
  read_config(session, o->config);
  if (o->config != NULL && o->config->cluster_def != NULL) {
    RHEOS_TRY(join_own_cluster(session, o));
  }
  const size_t num_tasks = (size_t)session->peers->cluster.num_tasks;
  session->has_session = rheos__alloc_zeroed(num_tasks + 1);
  session->is_asked = rheos__alloc_zeroed(num_tasks + 1);
  session->graph = rheos_graph_new();
  if (session->has_session == NULL || session->is_asked == NULL || session->graph == NULL)
    return rheos__out_of_memory();
  RHEOS_TRY(extend(session, o->graph_def, o->graph_bytes));
  RHEOS_TRY(add_own_devices(session));
  return join_tasks(session, o);
}

rheos_status *rheos__master_session_new(const rheos__master_options *options,
                                        rheos__master_session **out_session) {
  *out_session = NULL;
  rheos__master_session *session = rheos__alloc_zeroed(sizeof *session);
  if (session == NULL) return rheos__out_of_memory();
  session->peers = options->peers;
  session->worker = options->worker;
  session->own_task = options->own_task;
  atomic_init(&session->references, 1);
  rheos__id_text(rheos__random_id(), session->handle);
  pthread_mutex_init(&session->mutex, NULL);
  pthread_cond_init(&session->none_runs, NULL);
  rheos_status *status = fill(session, options);
  if (status == NULL) {
    *out_session = session;
    return NULL;
  }
  rheos__master_session_close(session, "the session could not be made");
  rheos__master_session_unref(session);
  return status;
}

static void leave_task(rheos__master_session *session, int32_t task) {
  if (!session->has_session[task]) return;
  if (task == session->own_task) {
    rheos_status_free(rheos__worker_delete_session(session->worker, session->handle));
    return;
  }
  Tensorflow__DeleteWorkerSessionRequest fields = TENSORFLOW__DELETE_WORKER_SESSION_REQUEST__INIT;
  fields.session_handle = session->handle;
  rheos__peers_tell(session->peers, task, rheos__method_names[RHEOS__DELETE_WORKER_SESSION],
                    &fields.base);
}

static void forget_plans(rheos__master_session *session) {
  while (session->plans != NULL) {
    rheos__master_plan *plan = session->plans;
    session->plans = plan->next;
    rheos__master_plan_unref(session, plan);
  }
}

void rheos__master_session_close(rheos__master_session *session, const char *why) {
  rheos_status *closed = rheos_status_new(RHEOS_CANCELLED, "%s", why);
  pthread_mutex_lock(&session->mutex);
  const bool is_first = !session->is_closed;
  session->is_closed = true;
  rheos__master_steps_fail(session, closed);
  while (session->steps != NULL) pthread_cond_wait(&session->none_runs, &session->mutex);
  pthread_mutex_unlock(&session->mutex);
  rheos_status_free(closed);
  if (!is_first) return;
  rheos__master_partials_end_all(session);
  rheos__master_callables_release_all(session);
  forget_plans(session);
  for (int32_t i = 0; session->has_session != NULL && i < session->peers->cluster.num_tasks; i++) {
    leave_task(session, i);
  }
}

void rheos__master_session_unref(rheos__master_session *session) {
  if (session == NULL || atomic_fetch_sub(&session->references, 1) != 1) return;
  for (int32_t i = 0; i < session->num_devices; i++) {
    rheos__device_deinit(&session->devices[i].device);
  }
  rheos__free(session->devices);
  rheos__free(session->has_session);
  rheos__free(session->is_asked);
  rheos__free(session->device_of);
  rheos__session_cluster_free(session->cluster);
  rheos__lowered_calls_deinit(&session->lowered);
  rheos_graph_unref(session->graph);
  pthread_cond_destroy(&session->none_runs);
  pthread_mutex_destroy(&session->mutex);
  rheos__free(session);
}
