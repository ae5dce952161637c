// Resets a cluster for a client that is no task of it.
#include <rheos/server.h>

#include "master.pb-c.h"
#include "net/remote_call.h"

static rheos_status *call_reset(rheos__remote_server *server, rheos__message *request) {
  static const rheos__message_form form = {.descriptor = &tensorflow__reset_response__descriptor};
  rheos__received reply;
  rheos_status *status =
      rheos__remote_call(server, RHEOS__RESET, request, RHEOS__REMOTE_WORD_MS, NULL, &form, &reply);
  rheos__received_deinit(&reply);
  return status;
}

rheos_status *rheos_cluster_reset(const char *target, const rheos_credentials *credentials,
                                  const char *const *containers, size_t num_containers,
                                  const char *const *device_filters, size_t num_filters) {
  rheos__remote_server server = {.channel = NULL};
  Tensorflow__ResetRequest fields = TENSORFLOW__RESET_REQUEST__INIT;
  rheos__message request = {0};
  if (target == NULL || !rheos__is_remote(target)) {
    return RHEOS_INVALID("'%s' is no target of a server: it is to be grpc://host:port",
                         target != NULL ? target : "");
  }
  fields.container = (char **)(uintptr_t)containers;
  fields.n_container = num_containers;
  fields.device_filters = (char **)(uintptr_t)device_filters;
  fields.n_device_filters = num_filters;
  rheos__message_put(&request, &fields.base);
  rheos_status *status = rheos__remote_connect(&server, target, credentials);
  if (status == NULL) status = call_reset(&server, &request);
  rheos__remote_disconnect(&server);
  rheos__message_deinit(&request);
  return status;
}
