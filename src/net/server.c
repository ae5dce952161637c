#include "net/server.h"

#include <rheos/format.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/options.h"
#include "base/file.h"
#include "graph/node_mentions.h"
#include "net/server_limits.h"
#include "runtime/threads/pool.h"

// As much of an error as fits the headers that carry it.
enum { ERROR_BYTES = 3072, DEFAULT_GONE_S = 60 };

// ---- Calls

void rheos__answer_take(rheos_server *server, rheos__incoming *call, rheos_status *status,
                        rheos__message *reply) {
  rheos__pieces pieces = {NULL, 0};
  if (status == NULL) status = rheos__message_pieces(reply, &pieces);
  status = rheos__status_for_others_take(status);
  char text[ERROR_BYTES + 1];
  snprintf(text, sizeof text, "%s", status != NULL ? rheos_status_message(status) : "");
  rheos__metrics_count_out(&server->metrics, pieces);
  server->transport->reply(call, rheos_status_code(status), text, pieces);
  rheos_status_free(status);
}

bool rheos__is_abandoned(void *served) {
  const rheos__served *s = served;
  return s->server->transport->is_abandoned(s->call);
}

// Of a request that is to be served once.
static rheos_status *check_id(rheos_server *server, int method, const rheos__received *request) {
  const size_t offset = rheos__services[method].id_offset;
  uint64_t id = 0;
  if (offset == 0) return NULL;
  memcpy(&id, (const char *)request->message + offset, sizeof id);
  const char *name = strrchr(rheos__method_names[method], '/') + 1;
  return rheos__request_ids_add(&server->request_ids, id, name);
}

// How the call ends, and how long that took; of one that is answered later, how it began.
static void count(const rheos__served *served, int method, const rheos_status *status,
                  int64_t since_ns) {
  rheos__metrics *metrics = &served->server->metrics;
  const rheos_code code = status != NULL ? rheos_status_code(status) : served->code;
  rheos__metrics_count_call(metrics, method, code, rheos__clock_ns() - since_ns);
  if (status == NULL || (code != RHEOS_PERMISSION_DENIED && code != RHEOS_RESOURCE_EXHAUSTED)) {
    return;
  }
  rheos__metrics_call_refused(metrics, rheos__method_names[method], rheos_status_message(status));
}

// Of a call that the transport refused.
static void refuse(void *argument, const char *caller, const char *why) {
  rheos_server *server = argument;
  rheos__metrics_call_refused(&server->metrics, caller, why);
}

static void lose_task(void *argument, int32_t task) {
  rheos_server *server = argument;
  rheos__metrics_task_lost(&server->metrics, server->peers.cluster.tasks[task].name);
}

static void serve(void *argument, int method, rheos__incoming *call, rheos__chunks request) {
  rheos_server *server = argument;
  const rheos__service *service = &rheos__services[method];
  rheos__served served = {.server = server, .call = call};
  const int64_t since_ns = rheos__clock_ns();
  rheos__metrics_count_in(&server->metrics, request);
  rheos_status *status = rheos__server_check_memory(server, method);
  if (status == NULL) {
    status = rheos__receive_message(&service->form, request, &served.request);
  }
  if (status == NULL) status = check_id(server, method, &served.request);
  if (status == NULL) status = service->serve(&served);
  count(&served, method, status, since_ns);
  if (!served.is_later) rheos__answer_take(server, call, status, &served.reply);
  rheos__message_deinit(&served.reply);
  rheos__received_deinit(&served.request);
}

// ---- Making

static rheos_status *read_cluster(const rheos_server_options *options, rheos__cluster *cluster) {
  const char *text = options->cluster;
  *cluster = (rheos__cluster){NULL, 0};
  if (text == NULL) return RHEOS_INVALID("a server needs to be told of its cluster");
  if (options->cluster_bytes == 0) return rheos__cluster_from_json(text, strlen(text), cluster);
  rheos__arena arena;
  Tensorflow__ClusterDef *def;
  rheos__arena_init(&arena);
  rheos_status *status =
      RHEOS_PROTO_UNPACK(cluster_def, text, options->cluster_bytes, &arena, &def);
  if (status == NULL) status = rheos__cluster_from_def(def, cluster);
  rheos__arena_deinit(&arena);
  return status;
}

static int32_t port_of(const rheos_server *server, const rheos_server_options *options) {
  const char *address = server->peers.cluster.tasks[server->own_task].address;
  return options->port != 0 ? options->port : (int32_t)strtol(strrchr(address, ':') + 1, NULL, 10);
}

static const char *address_of(const rheos_server_options *options) {
  return options->bind != NULL ? options->bind : "127.0.0.1";
}

static rheos_status *listen(rheos_server *server, const rheos_server_options *options) {
  char error[RHEOS__TRANSPORT_ERROR_BYTES];
  char *address = rheos__text_format("%s:%d", address_of(options), (int)port_of(server, options));
  if (address == NULL) return rheos__out_of_memory();
  rheos__listen wanted = {.address = address,
                          .methods = rheos__method_names,
                          .num_methods = RHEOS__NUM_METHODS,
                          .called = serve,
                          .argument = server,
                          .refused = refuse,
                          .max_request_bytes = (size_t)options->max_message_bytes};
  rheos_status *status = rheos__credentials_listen(
      &server->credentials, options->takes_callers_without_certificate, &wanted);
  const bool listens =
      status == NULL && server->transport->listen(&wanted, &server->listener, error);
  rheos__free(address);
  if (listens || status != NULL) return status;
  return rheos_status_new(RHEOS_UNAVAILABLE, "%s", error);
}

static rheos_status *keep_target(rheos_server *server) {
  server->target =
      rheos__text_format("grpc://localhost:%d", server->transport->port(server->listener));
  return server->target != NULL ? NULL : rheos__out_of_memory();
}

static rheos_status *keep_default_config(rheos_server *server,
                                         const rheos_server_options *options) {
  const void *bytes = options->default_session_config;
  const size_t size = options->default_session_config_bytes;
  Tensorflow__ConfigProto *config;
  rheos__arena arena;
  RHEOS_NEED_BYTES(bytes, size);
  if (size == 0) return NULL;
  rheos__arena_init(&arena);
  rheos_status *status = RHEOS_PROTO_UNPACK(config_proto, bytes, size, &arena, &config);
  rheos__arena_deinit(&arena);
  if (status != NULL) return status;
  server->default_config = rheos__alloc(size);
  if (server->default_config == NULL) return rheos__out_of_memory();
  memcpy(server->default_config, bytes, size);
  server->default_config_bytes = size;
  return NULL;
}

// The cards that its configuration asks for, as a session's, or as many of the machine's.
static rheos_status *make_host(rheos_server *server, const rheos_server_options *options) {
  const rheos__device_name *name = &server->peers.cluster.tasks[server->own_task].parsed;
  rheos_host_options host = {.num_cpu_devices = options->num_cpu_devices,
                             .num_threads = options->num_threads,
                             .job = name->job,
                             .task = name->task,
                             .num_gpu_devices = options->num_gpu_devices};
  rheos_gpu_device *cards = NULL;
  if (options->num_gpu_devices == 0) {
    size_t count;
    RHEOS_TRY(rheos_gpu_devices_from_config(server->default_config, server->default_config_bytes,
                                            &cards, &count));
    host.num_gpu_devices = (int32_t)count;
    host.gpu_devices = cards;
  }
  rheos_status *status = rheos_host_new(&host, &server->host);
  rheos__free(cards);
  return status;
}

// The task that groups of devices are known by: the one that the configuration names, else the
// first one of the job "chief", else of "worker", else of all.
static rheos_status *find_leader(const rheos_server *server, const char *named,
                                 int32_t *out_leader) {
  const rheos__cluster *cluster = &server->peers.cluster;
  *out_leader = 0;
  if (named[0] != '\0') {
    rheos__device_name name;
    RHEOS_TRY(rheos__device_name_parse(named, &name));
    return rheos__cluster_find(cluster, name.job, name.task, out_leader);
  }
  static const char *const jobs[] = {"worker", "chief"};
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
    int32_t task;
    rheos_status *none = rheos__cluster_find(cluster, jobs[i], 0, &task);
    if (none == NULL) *out_leader = task;
    rheos_status_free(none);
  }
  return NULL;
}

static rheos_status *open_collectives(rheos_server *server) {
  Tensorflow__ConfigProto *config;
  rheos__arena arena;
  int32_t leader = 0;
  rheos__arena_init(&arena);
  rheos_status *status = RHEOS_PROTO_UNPACK(config_proto, server->default_config,
                                            server->default_config_bytes, &arena, &config);
  if (status == NULL) {
    const bool names = config->experimental != NULL;
    status =
        find_leader(server, names ? config->experimental->collective_group_leader : "", &leader);
  }
  rheos__arena_deinit(&arena);
  RHEOS_TRY(status);
  return rheos__task_collectives_init(&server->collectives, server->host, &server->peers,
                                      &server->worker.steps, server->own_task, leader,
                                      server->worker.incarnation);
}

static rheos_status *fill(rheos_server *server, const rheos_server_options *options) {
  rheos__cluster cluster;
  RHEOS_TRY(rheos__transport_find(&server->transport));
  RHEOS_TRY(rheos__credentials_init(&server->credentials, &options->credentials));
  rheos_status *status = read_cluster(options, &cluster);
  rheos_status *made =
      rheos__peers_init(&server->peers, server->transport, &cluster, &server->credentials);
  if (status != NULL) {
    rheos_status_free(made);
    return status;
  }
  RHEOS_TRY(made);
  const char *job = options->job != NULL ? options->job : "";
  RHEOS_TRY(rheos__cluster_find(&server->peers.cluster, job, options->task, &server->own_task));
  RHEOS_TRY(keep_default_config(server, options));
  RHEOS_TRY(make_host(server, options));
  rheos__worker_init(&server->worker, server->host, &server->peers, server->own_task);
  server->worker.program_function = options->program_function;
  server->worker.program_argument = options->program_argument;
  server->worker.collectives = &server->collectives;
  RHEOS_TRY(open_collectives(server));
  RHEOS_TRY(rheos__server_set_limits(server, options));
  server->master.transport = server->transport;
  server->master.metrics = &server->metrics;
  server->metrics.tell = options->event_function;
  server->metrics.tell_argument = options->event_argument;
  server->peers.pulse.told_lost = lose_task;
  server->peers.pulse.told_lost_argument = server;
  RHEOS_TRY(
      rheos__caretaker_init(&server->caretaker, &server->master, &server->worker, server->transport,
                            options->session_gone_s > 0 ? options->session_gone_s : DEFAULT_GONE_S,
                            options->session_idle_s));
  RHEOS_TRY(listen(server, options));
  return keep_target(server);
}

rheos_status *rheos_server_new_sized(const rheos_server_options *options, size_t options_bytes,
                                     rheos_server **out_server) {
  RHEOS_OUT(out_server);
  rheos_server_options known;
  RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_server_options, options, options_bytes, &known));
  rheos_server *server = rheos__alloc_zeroed(sizeof *server);
  if (server == NULL) return rheos__out_of_memory();
  pthread_mutex_init(&server->mutex, NULL);
  pthread_cond_init(&server->stopped, NULL);
  rheos__master_init(&server->master);
  rheos__request_ids_init(&server->request_ids);
  rheos_status *status = fill(server, &known);
  if (status != NULL) {
    rheos_server_free(server);
    return status;
  }
  *out_server = server;
  return NULL;
}

const char *rheos_server_target(const rheos_server *server) {
  return server != NULL ? server->target : NULL;
}

rheos_host *rheos_server_host(const rheos_server *server) {
  return server != NULL ? server->host : NULL;
}

// ---- Ending

void rheos_server_join(rheos_server *server) {
  if (server == NULL) return;
  pthread_mutex_lock(&server->mutex);
  while (!server->has_stopped) pthread_cond_wait(&server->stopped, &server->mutex);
  pthread_mutex_unlock(&server->mutex);
}

// What waits is ended before the transport waits for it.
static void end_steps(void *argument) {
  rheos_server *server = argument;
  rheos_status *over = rheos_status_new(RHEOS_UNAVAILABLE, "the server was stopped");
  rheos__task_collectives_end(&server->collectives);
  rheos__worker_steps_end_all(&server->worker.steps, over);
  rheos_status_free(over);
}

void rheos_server_stop(rheos_server *server, int64_t grace_ms) {
  if (server == NULL) return;
  pthread_mutex_lock(&server->mutex);
  const bool is_first = !server->is_stopping;
  server->is_stopping = true;
  while (!is_first && !server->has_stopped) pthread_cond_wait(&server->stopped, &server->mutex);
  pthread_mutex_unlock(&server->mutex);
  if (!is_first) return;
  if (server->caretaker.transport != NULL) rheos__caretaker_stop(&server->caretaker);
  if (server->listener != NULL)
    server->transport->stop(server->listener, grace_ms, end_steps, server);
  pthread_mutex_lock(&server->mutex);
  server->has_stopped = true;
  pthread_cond_broadcast(&server->stopped);
  pthread_mutex_unlock(&server->mutex);
}

void rheos_server_free(rheos_server *server) {
  if (server == NULL) return;
  rheos_server_stop(server, 0);
  rheos__caretaker_deinit(&server->caretaker);
  rheos__master_deinit(&server->master);
  if (server->host != NULL) {
    end_steps(server);
    rheos__task_collectives_deinit(&server->collectives);
    rheos__worker_deinit(&server->worker);
  }
  if (server->listener != NULL) server->transport->unlisten(server->listener);
  if (server->peers.transport != NULL) rheos__peers_deinit(&server->peers);
  rheos__credentials_deinit(&server->credentials);
  rheos_host_unref(server->host);
  rheos__request_ids_deinit(&server->request_ids);
  rheos__free(server->default_config);
  rheos__free(server->target);
  pthread_cond_destroy(&server->stopped);
  pthread_mutex_destroy(&server->mutex);
  rheos__free(server);
}
