#include "net/remote_graph.h"

#include <rheos/format.h>

#include "master.pb-c.h"

// Without it the session lasts as long on the server, but for a client that is gone.
static void hold(rheos__remote_session *session) {
  Tensorflow__CloseSessionRequest fields = TENSORFLOW__CLOSE_SESSION_REQUEST__INIT;
  rheos__call call = {.method = rheos__method_names[RHEOS__HOLD_SESSION]};
  rheos__message request = {0};
  fields.session_handle = session->handle;
  rheos__message_put(&request, &fields.base);
  rheos_status *status = rheos__message_pieces(&request, &call.request);
  if (status == NULL) {
    session->held = session->server.transport->hold(session->server.channel, &call);
  }
  rheos_status_free(status);
  rheos__message_deinit(&request);
}

static rheos_status *create(rheos__remote_session *session, rheos__message *request,
                            const rheos_run_options *options) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__create_session_response__descriptor};
  Tensorflow__CreateSessionRequest fields = TENSORFLOW__CREATE_SESSION_REQUEST__INIT;
  rheos__received reply;
  fields.config = session->config;
  fields.target = session->server.target;
  rheos__message_put(request, &fields.base);
  rheos_status *status =
      rheos__remote_call(&session->server, RHEOS__CREATE_SESSION, request,
                         rheos__remote_timeout_ms(options), options, &form, &reply);
  if (status == NULL) {
    const Tensorflow__CreateSessionResponse *r = (const void *)reply.message;
    session->handle = rheos__strdup(r->session_handle);
    session->version = r->graph_version;
    if (session->handle == NULL) status = rheos__out_of_memory();
    if (session->handle != NULL) hold(session);
  }
  rheos__received_deinit(&reply);
  return status;
}

static rheos_status *extend(rheos__remote_session *session, rheos__message *request,
                            const rheos_run_options *options) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__extend_session_response__descriptor};
  Tensorflow__ExtendSessionRequest fields = TENSORFLOW__EXTEND_SESSION_REQUEST__INIT;
  rheos__received reply;
  fields.session_handle = session->handle;
  fields.current_graph_version = session->version;
  rheos__message_put(request, &fields.base);
  rheos_status *status =
      rheos__remote_call(&session->server, RHEOS__EXTEND_SESSION, request,
                         rheos__remote_timeout_ms(options), options, &form, &reply);
  if (status == NULL) {
    session->version =
        ((const Tensorflow__ExtendSessionResponse *)(const void *)reply.message)->new_graph_version;
  }
  rheos__received_deinit(&reply);
  return status;
}

static rheos_status *send_graph(rheos__remote_session *session, const rheos_run_options *options) {
  const int32_t count = rheos_graph_num_operations(session->base.graph);
  void *bytes;
  size_t size;
  rheos__message request = {0};
  RHEOS_TRY(rheos_graph_to_graph_def_from(session->base.graph, session->num_sent, &bytes, &size));
  rheos__message_put_bytes(&request, session->handle == NULL ? 1 : 2, bytes, size);
  rheos_free(bytes);
  rheos_status *status = session->handle == NULL ? create(session, &request, options)
                                                 : extend(session, &request, options);
  if (status == NULL) session->num_sent = count;
  rheos__message_deinit(&request);
  return status;
}

rheos_status *rheos__remote_check_open(const rheos__remote_session *session) {
  if (atomic_load(&session->server.is_closed) == 0) return NULL;
  return rheos_status_new(RHEOS_FAILED_PRECONDITION, "Session has been closed.");
}

rheos_status *rheos__remote_bring_up(rheos__remote_session *session,
                                     const rheos_run_options *options) {
  rheos_status *status = NULL;
  RHEOS_TRY(rheos__remote_check_open(session));
  pthread_mutex_lock(&session->mutex);
  if (session->handle == NULL ||
      session->num_sent < rheos_graph_num_operations(session->base.graph)) {
    status = send_graph(session, options);
  }
  pthread_mutex_unlock(&session->mutex);
  return status;
}
