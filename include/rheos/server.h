// Servers of a cluster: a task that others reach by TensorFlow's protocol. Each is a master, which
// runs the steps of clients' sessions, and a worker, which runs parts of them for masters.
#ifndef RHEOS_SERVER_H
#define RHEOS_SERVER_H

#include <rheos/credentials.h>
#include <rheos/graph.h>
#include <rheos/host.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rheos_server rheos_server;

// Something that an operator wants to know of. What it points to lasts as long as the call.
typedef struct rheos_server_event {
  const char *name;     // session_made, session_closed, task_lost, call_refused
  bool is_warning;      // else it is as it should be
  const char *subject;  // the session, the task, the method
  const char *detail;   // why, in words; "" where there is nothing to say
} rheos_server_event;
// Called by any thread of the server, which waits for it. It does not call the server.
typedef void (*rheos_server_event_function)(void *argument, const rheos_server_event *event);

typedef struct rheos_server_options {
  // The tasks of the cluster as JSON, {"ps": ["host:port", ...], "worker": {"0": "host:port"}}, or
  // as the bytes of a ClusterDef message (cluster_bytes is not 0).
  const char *cluster RHEOS_LEFT_OUT;
  size_t cluster_bytes RHEOS_LEFT_OUT;
  const char *job RHEOS_LEFT_OUT;  // which of them this is
  int32_t task RHEOS_LEFT_OUT;
  int32_t port RHEOS_LEFT_OUT;  // that it listens at; 0: the cluster's, for which 0 is a free one
  // The address that it listens at: "127.0.0.1" if NULL, "0.0.0.0" for every interface. Whoever
  // reaches a server can run any operation in its process, and read and write what the process may.
  const char *bind RHEOS_LEFT_OUT;
  int32_t num_cpu_devices RHEOS_LEFT_OUT;  // 0: one
  int32_t num_threads RHEOS_LEFT_OUT;      // 0: one for each core
  // What PyFunc calls on this task; NULL: it fails. A step that is to stop does not wait for it, so
  // the function and its argument have to last until it has come back, after the server too.
  rheos_program_function program_function RHEOS_LEFT_OUT;
  void *program_argument RHEOS_LEFT_OUT;
  // The task's own to others, and what others are asked for. With a certificate it takes encrypted
  // connections only, with a CA from those alone whose certificate that has signed, with a token
  // calls that bring it. Without a certificate it takes a token at this machine's own addresses
  // only: RHEOS_INVALID_ARGUMENT elsewhere.
  rheos_credentials credentials RHEOS_LEFT_OUT;
  // What the server takes of others: RHEOS_RESOURCE_EXHAUSTED, naming the limit, for more.
  int64_t max_message_bytes RHEOS_LEFT_OUT;  // of a call; 0: 2^31 - 1
  int64_t max_graph_bytes RHEOS_LEFT_OUT;    // of a graph, or what extends one; 0: a message's
  int64_t max_graph_nodes RHEOS_LEFT_OUT;    // of a session's, in functions too; 0: any number
  int64_t max_memory_bytes RHEOS_LEFT_OUT;   // that its process has when a call comes; 0: any
  int32_t max_sessions RHEOS_LEFT_OUT;       // at a time, of its clients; 0: 1000
  int32_t session_idle_s RHEOS_LEFT_OUT;     // sessions that no call comes for are closed; 0: never
  // So are those whose client is gone: killed, or cut off. That is known of Rheos's clients; what
  // TensorFlow's leave is idle. 0: after a minute.
  int32_t session_gone_s RHEOS_LEFT_OUT;
  // Callers need no certificate, though there is a CA: that is for what this task calls.
  bool takes_callers_without_certificate RHEOS_LEFT_OUT;
  // Whether graphs of others may have ops that read or write files, or call the program's function:
  // RHEOS_PERMISSION_DENIED. They may on a server that only this machine reaches, and on one whose
  // callers prove who they are, unless this is refused; on others if it is allowed.
  bool allows_files RHEOS_LEFT_OUT;
  bool refuses_files RHEOS_LEFT_OUT;
  bool reserved_[1] RHEOS_LEFT_OUT;  // zeros
  // The bytes of a ConfigProto message: what sessions have whose clients say nothing else.
  const void *default_session_config RHEOS_LEFT_OUT;
  size_t default_session_config_bytes RHEOS_LEFT_OUT;
  rheos_server_event_function event_function RHEOS_LEFT_OUT;  // told of events; NULL: nobody is
  void *event_argument RHEOS_LEFT_OUT;
  // Graphics cards of the task, /device:GPU:0, ..., at most; 0: those that default_session_config
  // asks for, which are all where it says nothing; below: none.
  int32_t num_gpu_devices RHEOS_LEFT_OUT;
  int32_t reserved_number_ RHEOS_LEFT_OUT;  // zero
} rheos_server_options;

// Makes a server and begins to listen. RHEOS_UNIMPLEMENTED where gRPC is not there, saying what to
// install; RHEOS_INVALID_ARGUMENT for a cluster that cannot be; RHEOS_UNAVAILABLE if the port is in
// use.
RHEOS_MUST_USE static inline rheos_status *rheos_server_new(const rheos_server_options *options,
                                                            rheos_server **out_server);

// What sessions give as their target: "grpc://127.0.0.1:2222". The server's, until it is freed.
RHEOS_API const char *rheos_server_target(const rheos_server *server);

// What the server's task runs on: an eager context or a session that is given it has this task's
// devices, shares the server's variables, and takes part in the collectives of the cluster. The
// server's, until it is freed, unless it is counted; then collectives fail, and nothing else does.
RHEOS_API rheos_host *rheos_server_host(const rheos_server *server);

// What the server has, and what it has done so far, as Prometheus reads it (its text format). The
// caller frees it by rheos_free().
RHEOS_STATUS rheos_server_metrics(rheos_server *server, char **out_text);

// Returns when the server has been stopped.
RHEOS_API void rheos_server_join(rheos_server *server);

// Takes no more calls, waits that long for those under way, then ends them. May be called by any
// thread, and again.
RHEOS_API void rheos_server_stop(rheos_server *server, int64_t grace_ms);

// Stops it, and frees it. Nobody may be in rheos_server_join().
RHEOS_API void rheos_server_free(rheos_server *server);

// Ends all sessions on a server (its target), and has the tasks of its cluster free what lies in
// these containers, variables and queues among others. Without containers what lies in none is
// freed. Of tasks that `device_filters` ("/job:ps", "/job:worker/task:1") leave out nothing is;
// without any all are meant. `credentials` may be NULL: the environment's.
RHEOS_STATUS rheos_cluster_reset(const char *target, const rheos_credentials *credentials,
                                 const char *const *containers, size_t num_containers,
                                 const char *const *device_filters, size_t num_filters);

// ---- How large the struct of options is in the program (base.h, Options)

RHEOS_STATUS rheos_server_new_sized(const rheos_server_options *options, size_t options_bytes,
                                    rheos_server **out_server);
RHEOS_MUST_USE static inline rheos_status *rheos_server_new(const rheos_server_options *options,
                                                            rheos_server **out_server) {
  return rheos_server_new_sized(options, sizeof *options, out_server);
}

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_SERVER_H
