#include "net/server_limits.h"

#include "net/process.h"

enum { DEFAULT_MAX_SESSIONS = 1000 };

// Whether everybody who gets in has proved who he is, or is on this machine.
static bool knows_callers(const rheos_server *server, const rheos_server_options *options) {
  const rheos__credentials *c = &server->credentials;
  const bool shows_certificate =
      c->keys.roots != NULL && !options->takes_callers_without_certificate;
  if (options->bind == NULL || rheos__is_loopback(options->bind)) return true;
  return c->keys.certificate != NULL && (c->token != NULL || shows_certificate);
}

static rheos_status *check_options(const rheos_server_options *o) {
  if (o->max_message_bytes < 0 || o->max_graph_bytes < 0 || o->max_graph_nodes < 0 ||
      o->max_memory_bytes < 0 || o->max_sessions < 0 || o->session_idle_s < 0 ||
      o->session_gone_s < 0) {
    return RHEOS_INVALID("a limit of the server is negative");
  }
  if (!o->allows_files || !o->refuses_files) return NULL;
  return RHEOS_INVALID("a server cannot both allow files and refuse them");
}

rheos_status *rheos__server_set_limits(rheos_server *server, const rheos_server_options *options) {
  RHEOS_TRY(check_options(options));
  const bool allows_files =
      options->allows_files || (!options->refuses_files && knows_callers(server, options));
  server->worker.limits = (rheos__graph_limits){.refuses_files = !allows_files,
                                                .max_bytes = options->max_graph_bytes,
                                                .max_nodes = options->max_graph_nodes};
  server->max_memory_bytes = options->max_memory_bytes;
  server->master.max_sessions =
      options->max_sessions > 0 ? options->max_sessions : DEFAULT_MAX_SESSIONS;
  return NULL;
}

// What ends something is let through: it gives memory back.
static bool gives_back(int method) {
  return method == RHEOS__CLOSE_SESSION || method == RHEOS__RELEASE_CALLABLE ||
         method == RHEOS__RESET || method == RHEOS__DELETE_WORKER_SESSION ||
         method == RHEOS__DEREGISTER_GRAPH || method == RHEOS__CLEANUP_GRAPH ||
         method == RHEOS__CLEANUP_ALL || method == RHEOS__GET_STATUS;
}

rheos_status *rheos__server_check_memory(const rheos_server *server, int method) {
  if (server->max_memory_bytes == 0 || gives_back(method)) return NULL;
  const int64_t used = rheos__process_memory_bytes();
  if (used <= server->max_memory_bytes) return NULL;
  return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED,
                          "the server's process has %lld bytes of memory, more than the %lld with "
                          "which it takes calls (--max-memory)",
                          (long long)used, (long long)server->max_memory_bytes);
}
