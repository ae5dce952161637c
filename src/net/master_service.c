// The service tensorflow.MasterService.
#include "net/services.h"

#include "graph/node_mentions.h"
#include "master.pb-c.h"
#include "net/master_partial.h"

#define REQUEST(type) ((const Tensorflow__##type##Request *)(const void *)served->request.message)

rheos_status *rheos__serve_find(const rheos__served *served, const char *handle,
                                rheos__master_session **out_session) {
  return rheos__master_find(&served->server->master, handle, out_session);
}

// ---- Sessions

// The server's defaults, and over them what the client says. What a message says behind another
// one's bytes is merged into it.
static rheos_status *merge_config(rheos__served *served, const Tensorflow__ConfigProto **config) {
  const rheos_server *server = served->server;
  if (server->default_config_bytes == 0) return NULL;
  rheos__buffer both = {0};
  rheos__buffer_put(&both, server->default_config, server->default_config_bytes);
  if (*config != NULL) rheos__proto_pack(&(*config)->base, &both);
  Tensorflow__ConfigProto *merged;
  rheos_status *status = both.failed ? rheos__out_of_memory()
                                     : RHEOS_PROTO_UNPACK(config_proto, both.data, both.size_bytes,
                                                          &served->request.arena, &merged);
  if (status == NULL) *config = merged;
  rheos__buffer_deinit(&both);
  return status;
}

rheos_status *rheos__serve_CreateSession(rheos__served *served) {
  rheos_server *server = served->server;
  const Tensorflow__ConfigProto *config = REQUEST(CreateSession)->config;
  RHEOS_TRY(merge_config(served, &config));
  const rheos__master_options options = {.peers = &server->peers,
                                         .worker = &server->worker,
                                         .own_task = server->own_task,
                                         .config = config,
                                         .target = REQUEST(CreateSession)->target,
                                         .graph_def = served->request.bytes,
                                         .graph_bytes = served->request.size_bytes,
                                         .should_stop = rheos__is_abandoned,
                                         .should_stop_argument = served};
  Tensorflow__CreateSessionResponse reply = TENSORFLOW__CREATE_SESSION_RESPONSE__INIT;
  rheos__master_session *session;
  char handle[RHEOS__ID_BYTES];
  RHEOS_TRY(rheos__master_check_room(&server->master));
  RHEOS_TRY(rheos__master_session_new(&options, &session));
  memcpy(handle, session->handle, sizeof handle);
  RHEOS_TRY(rheos__master_add_take(&server->master, session));
  rheos__metrics_session_made(&server->metrics, handle);
  reply.session_handle = handle;
  rheos__message_put(&served->reply, &reply.base);
  return NULL;
}

rheos_status *rheos__serve_ExtendSession(rheos__served *served) {
  const Tensorflow__ExtendSessionRequest *r = REQUEST(ExtendSession);
  Tensorflow__ExtendSessionResponse reply = TENSORFLOW__EXTEND_SESSION_RESPONSE__INIT;
  rheos__master_session *session;
  RHEOS_TRY(rheos__serve_find(served, r->session_handle, &session));
  rheos_status *status =
      rheos__master_session_extend(session, r->current_graph_version, served->request.bytes,
                                   served->request.size_bytes, &reply.new_graph_version);
  rheos__master_put_back(session);
  if (status == NULL) rheos__message_put(&served->reply, &reply.base);
  return status;
}

rheos_status *rheos__serve_CloseSession(rheos__served *served) {
  return rheos__master_close(&served->server->master, REQUEST(CloseSession)->session_handle,
                             "Session was closed.");
}

// The request is that of CloseSession: a session.
rheos_status *rheos__serve_HoldSession(rheos__served *served) {
  rheos__master_session *session;
  RHEOS_TRY(rheos__serve_find(served, REQUEST(CloseSession)->session_handle, &session));
  served->is_later = true;
  rheos__caretaker_hold(&served->server->caretaker, session, served->call);
  rheos__master_put_back(session);
  return NULL;
}

static rheos_status *reset_task(rheos_server *server, int32_t task,
                                const Tensorflow__ResetRequest *r) {
  if (task == server->own_task) {
    return rheos__worker_reset(&server->worker, r->container, r->n_container);
  }
  const rheos__peer_options options = {.timeout_ms = 10000};
  Tensorflow__ResetRequest fields = TENSORFLOW__RESET_REQUEST__INIT;
  rheos__message request = {0};
  fields.container = r->container;
  fields.n_container = r->n_container;
  rheos__message_put(&request, &fields.base);  // a CleanupAllRequest has the same field
  rheos_status *status =
      rheos__peers_call(&server->peers, task, rheos__method_names[RHEOS__CLEANUP_ALL], &request,
                        &options, NULL, NULL, NULL, NULL);
  rheos__message_deinit(&request);
  return status;
}

rheos_status *rheos__serve_Reset(rheos__served *served) {
  rheos_server *server = served->server;
  const Tensorflow__ResetRequest *r = REQUEST(Reset);
  rheos_status *first = NULL;
  rheos__master_close_all(&server->master, "the cluster was reset");
  for (int32_t i = 0; i < server->peers.cluster.num_tasks; i++) {
    bool is_meant;
    RHEOS_TRY(rheos__is_filtered_in(r->device_filters, r->n_device_filters,
                                    &server->peers.cluster.tasks[i].parsed, &is_meant));
    if (!is_meant) continue;
    rheos_status *status = reset_task(server, i, r);
    if (first == NULL) {
      first = status;
    } else {
      rheos_status_free(status);
    }
  }
  return first;
}

// Devices of the master's own task, or of the others.
static rheos_status *list_devices(const rheos__master_session *session, bool are_own,
                                  rheos__arena *arena, Tensorflow__DeviceAttributes ***out_list,
                                  size_t *out_count) {
  const size_t count = (size_t)session->num_devices;
  Tensorflow__DeviceAttributes *all = rheos__arena_alloc(arena, count * sizeof *all);
  Tensorflow__DeviceAttributes **list = rheos__arena_alloc(arena, count * sizeof *list);
  Tensorflow__DeviceLocality *locality = rheos__arena_alloc(arena, sizeof *locality);
  if (all == NULL || list == NULL || locality == NULL) return rheos__out_of_memory();
  tensorflow__device_locality__init(locality);
  size_t num_listed = 0;
  for (size_t i = 0; i < count; i++) {
    const rheos__master_device *device = &session->devices[i];
    if ((device->task == session->own_task) != are_own) continue;
    Tensorflow__DeviceAttributes *told = list[num_listed] = &all[num_listed];
    tensorflow__device_attributes__init(told);
    told->name = (char *)(uintptr_t)device->device.name;
    told->device_type = (char *)(uintptr_t)device->device.kind->name;
    told->memory_limit = device->memory_limit_bytes;
    told->locality = locality;
    told->incarnation = device->incarnation;
    num_listed++;
  }
  *out_list = list;
  *out_count = num_listed;
  return NULL;
}

rheos_status *rheos__serve_ListDevices(rheos__served *served) {
  rheos__arena *arena = &served->request.arena;
  Tensorflow__ListDevicesResponse reply = TENSORFLOW__LIST_DEVICES_RESPONSE__INIT;
  rheos__master_session *session;
  RHEOS_TRY(rheos__serve_find(served, REQUEST(ListDevices)->session_handle, &session));
  rheos_status *status =
      list_devices(session, true, arena, &reply.local_device, &reply.n_local_device);
  if (status == NULL) {
    status = list_devices(session, false, arena, &reply.remote_device, &reply.n_remote_device);
  }
  if (status == NULL) rheos__message_put(&served->reply, &reply.base);
  rheos__master_put_back(session);
  return status;
}

// ---- Steps

// As part of the reply, where the caller asks for that: it may be longer then.
static rheos_status *put_error_take(rheos__served *served, rheos_status *failed) {
  failed = rheos__status_for_others_take(failed);
  served->code = rheos_status_code(failed);
  Tensorflow__RunStepResponse reply = TENSORFLOW__RUN_STEP_RESPONSE__INIT;
  reply.status_code = (Tensorflow__Error__Code)rheos_status_code(failed);
  reply.status_error_message = (char *)(uintptr_t)rheos_status_message(failed);
  rheos__message_put(&served->reply, &reply.base);
  rheos_status_free(failed);
  return NULL;
}

static rheos_status *run_step(rheos__served *served, rheos_tensor **results) {
  const Tensorflow__RunStepRequest *r = REQUEST(RunStep);
  const bool is_partial = r->partial_run_handle[0] != '\0';
  rheos__run_stats stats = {.steps = {0}};
  const rheos__master_run run = {
      .feeds = served->request.names,
      .values = served->request.tensors,
      .fetches = r->fetch,
      .targets = r->target,
      .num_feeds = served->request.num_tensors,
      .num_fetches = r->n_fetch,
      .num_targets = r->n_target,
      .results = results,
      .timeout_ms = r->options != NULL ? r->options->timeout_in_ms : 0,
      .should_stop = rheos__is_abandoned,
      .should_stop_argument = served,
      .traced = is_partial ? 0 : rheos__traced_by_run_options(r->options),
      .stats = &stats};
  rheos__master_session *session;
  RHEOS_TRY(rheos__serve_find(served, r->session_handle, &session));
  rheos_status *status = is_partial
                             ? rheos__master_partial_run(session, r->partial_run_handle, &run)
                             : rheos__master_session_run(session, &run);
  rheos__master_put_back(session);
  for (size_t i = 0; status == NULL && i < r->n_fetch; i++) {
    rheos__message_put_named(&served->reply, 1, r->fetch[i], results[i]);
    rheos_tensor_unref(results[i]);
  }
  if (status == NULL && run.traced != 0) {
    rheos__run_stats_put_metadata(&stats, &served->reply, 2);
  }
  rheos__run_stats_deinit(&stats);
  return status;
}

rheos_status *rheos__serve_RunStep(rheos__served *served) {
  const Tensorflow__RunStepRequest *r = REQUEST(RunStep);
  rheos_tensor **results = rheos__alloc_array(r->n_fetch + 1, sizeof *results);
  if (results == NULL) return rheos__out_of_memory();
  rheos_status *status = run_step(served, results);
  rheos__free(results);
  if (status != NULL && r->store_errors_in_response_body) return put_error_take(served, status);
  return status;
}

rheos_status *rheos__serve_PartialRunSetup(rheos__served *served) {
  const Tensorflow__PartialRunSetupRequest *r = REQUEST(PartialRunSetup);
  const rheos__master_run run = {.feeds = r->feed,
                                 .fetches = r->fetch,
                                 .targets = r->target,
                                 .num_feeds = r->n_feed,
                                 .num_fetches = r->n_fetch,
                                 .num_targets = r->n_target};
  Tensorflow__PartialRunSetupResponse reply = TENSORFLOW__PARTIAL_RUN_SETUP_RESPONSE__INIT;
  rheos__master_session *session;
  char handle[RHEOS__PARTIAL_HANDLE_BYTES];
  RHEOS_TRY(rheos__serve_find(served, r->session_handle, &session));
  rheos_status *status = rheos__master_partial_setup(session, &run, handle);
  rheos__master_put_back(session);
  if (status != NULL) return status;
  reply.partial_run_handle = handle;
  rheos__message_put(&served->reply, &reply.base);
  return NULL;
}
