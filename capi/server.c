// Servers of a cluster, as a ServerDef describes them.
#include "handles.h"

#include <rheos/server.h>

#include <stdlib.h>
#include <string.h>

struct TF_Server {
  rheos_server *server;
};

// A ServerDef: field 1 is the cluster, 2 the job, 3 the task, 4 what sessions have by default. The
// port is the cluster's.
static rheos_status *make(capi_wire wire, rheos_server **out_server) {
  capi_wire job = {0}, cluster = {0}, config = {0};
  rheos_server_options options = {0};
  capi_wire_find(wire, 1, &cluster);
  capi_wire_find(wire, 2, &job);
  capi_wire_find(wire, 4, &config);
  for (capi_field field; capi_wire_next(&wire, &field);) {
    if (field.number == 3) options.task = (int32_t)field.value;
  }
  char *name = strndup(job.at == NULL ? "" : (const char *)job.at, capi_wire_size(job));
  if (name == NULL) return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
  options.job = name;
  options.cluster = (const char *)cluster.at;
  options.cluster_bytes = capi_wire_size(cluster);
  options.default_session_config = config.at;
  options.default_session_config_bytes = capi_wire_size(config);
  rheos_status *error = rheos_server_new(&options, out_server);
  free(name);
  return error;
}

TF_Server *TF_NewServer(const void *proto, size_t proto_len, TF_Status *status) {
  capi_succeed(status);
  rheos_status *error = proto == NULL
                            ? rheos_status_new(RHEOS_INVALID_ARGUMENT, "the message is NULL")
                            : rheos_message_check("ServerDef", proto, proto_len);
  if (error != NULL) {
    rheos_status_free(error);
    capi_fail(status, TF_INVALID_ARGUMENT,
              "Could not parse provided bytes into a ServerDef "
              "protocol buffer");
    return NULL;
  }
  TF_Server *server = calloc(1, sizeof *server);
  if (server == NULL) {
    capi_fail_for_memory(status);
    return NULL;
  }
  if (capi_take(status, make(capi_wire_of(proto, proto_len), &server->server))) return server;
  free(server);
  return NULL;
}

void TF_ServerStart(TF_Server *server, TF_Status *status) {
  capi_succeed(status);  // it listens from when it was made
  capi_need(server, "the server", status);
}

void TF_ServerStop(TF_Server *server, TF_Status *status) {
  capi_succeed(status);
  if (capi_need(server, "the server", status)) rheos_server_stop(server->server, 0);
}

void TF_ServerJoin(TF_Server *server, TF_Status *status) {
  capi_succeed(status);
  if (capi_need(server, "the server", status)) rheos_server_join(server->server);
}

const char *TF_ServerTarget(TF_Server *server) {
  return server == NULL ? NULL : rheos_server_target(server->server);
}

void TF_DeleteServer(TF_Server *server) {
  if (server == NULL) return;
  rheos_server_free(server->server);
  free(server);
}

void TF_Reset(const TF_SessionOptions *opt, const char **containers, int ncontainers,
              TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(opt, "the options", status) ||
      (ncontainers > 0 && !capi_need(containers, "the list of containers", status))) {
    return;
  }
  if (opt->target == NULL || opt->target[0] == '\0') {
    capi_fail(status, TF_UNIMPLEMENTED, "sessions of this process share nothing to be reset");
    return;
  }
  capi_take(status, rheos_cluster_reset(opt->target, NULL, containers,
                                        ncontainers < 0 ? 0 : (size_t)ncontainers, NULL, 0));
}
