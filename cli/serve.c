// `rheos serve`: one task of a cluster.
#include <errno.h>
#include <rheos/server.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "credentials.h"
#include "files.h"
#include "metrics_port.h"
#include "options.h"
#include "serve_log.h"

const char command_serve_help[] =
    "usage: rheos serve --cluster FILE.json --job NAME [--task N] [OPTIONS]\n"
    "\n"
    "Is one task of a cluster, that programs reach as grpc://host:port, by the protocol of\n"
    "TensorFlow's servers. Once it listens it prints \"ready grpc://...\". SIGTERM and SIGINT end\n"
    "it: it takes no more calls, and waits for those under way.\n"
    "\n"
    "  --cluster FILE.json  the tasks: {\"ps\": [\"host:port\", ...], \"worker\": {\"0\": "
    "\"host:port\"}}\n"
    "  --job NAME           which job this task is of\n"
    "  --task N             its number there (else 0)\n"
    "  --port N             where it listens (else the port that the cluster says)\n"
    "  --bind ADDRESS       at which address (else 127.0.0.1, for this machine alone;\n"
    "                       0.0.0.0 is all that this machine has)\n"
    "  --tls-cert FILE      its certificate, which has to name the host by which others call\n"
    "                       it; and\n"
    "  --tls-key FILE       the private key: connections are encrypted then (PEM)\n"
    "  --tls-ca FILE        who signs certificates: callers have to show one of these, and so\n"
    "                       do tasks that this one calls\n"
    "  --no-client-certs    callers need to show none, though there is --tls-ca\n"
    "  --token-file FILE    a secret that callers have to bring, and that this task brings to\n"
    "                       others; over TLS, or on this machine\n"
    "  --insecure           bind to another address than this machine's own without TLS and a\n"
    "                       proof of who calls (--tls-ca or --token-file): whoever reaches it\n"
    "                       can run any operation as this user, with --allow-files also read\n"
    "                       and write its files, and see what tasks send each other\n"
    "  --allow-files        graphs of others may have ops that read and write files, as savers\n"
    "                       do, which they may anyway where callers prove who they are, or are\n"
    "                       on this machine\n"
    "  --refuse-files       they may not, wherever they come from\n"
    "  --cpus N             how many CPU devices it has (else 1)\n"
    "  --gpus N             how many graphics cards at most (else all)\n"
    "  --threads N          how many threads (else one for each core)\n"
    "  --grace SECONDS      how long calls under way may last at the end (else 10)\n"
    "  --max-message-bytes N, --max-graph-bytes N, --max-graph-nodes N, --max-sessions N,\n"
    "  --max-memory N       what it takes of others: more is refused, as is a call that comes\n"
    "                       while the process has more memory, but for those that end\n"
    "                       something. K, M, G stand for powers of 1024 (else 2G - 1, a\n"
    "                       message's, any number, 1000, any)\n"
    "  --session-idle SECONDS  sessions that no call comes for are closed then (else never)\n"
    "  --session-gone SECONDS  and those whose client is gone (else 60); which is known of\n"
    "                       Rheos's clients, others are idle\n"
    "  --metrics-port N     answers there over HTTP: /healthz, and /metrics for Prometheus\n"
    "  --metrics-bind ADDRESS  at this address (else 127.0.0.1)\n"
    "  --log-format json|text  a line on standard error for each event: a session made or\n"
    "                       closed, a task lost, a call refused (else nothing)\n"
    "\n"
    "Certificates, keys and tokens that are not given are those that the environment names,\n"
    "as for programs that call servers: RHEOS_TLS_CA, RHEOS_TLS_CERT, RHEOS_TLS_KEY,\n"
    "RHEOS_TOKEN_FILE.\n";

typedef struct serve {
  const char *cluster, *job, *bind, *metrics_bind, *log;
  serve_log_format log_format;
  credential_files files;
  bool insecure, no_client_certs, allow_files, refuse_files;
} serve;

// An option with a number.
typedef struct number {
  const char *name;
  int64_t most, value;  // as it is given, else what it is without
  const char *text;
} number;
enum {
  TASK,
  PORT,
  CPUS,
  GPUS,
  THREADS,
  GRACE,
  MESSAGE_BYTES,
  GRAPH_BYTES,
  GRAPH_NODES,
  SESSIONS,
  MEMORY,
  IDLE,
  GONE,
  METRICS_PORT,
  NUM_NUMBERS
};

// 1K is 1024.
static int64_t factor_of(char unit) {
  static const char units[] = "KMGT";
  const char *at = unit != '\0' ? strchr(units, unit) : NULL;
  return at != NULL ? (int64_t)1 << (10 * (at - units + 1)) : 0;
}

// Whole numbers only, of bytes also with a unit; false after a message.
static bool read_number(number *n) {
  char *end;
  if (n->text == NULL) return true;
  errno = 0;
  const int64_t count = strtoll(n->text, &end, 10);
  const int64_t factor = *end != '\0' && end[1] == '\0' ? factor_of(*end) : *end == '\0';
  const bool is_number = n->text[0] >= '0' && n->text[0] <= '9' && factor > 0 && errno == 0;
  if (!is_number || count > n->most / factor) {
    command_usage_error("serve: %s takes a number from 0 to %lld, not '%s'", n->name,
                        (long long)n->most, n->text);
    return false;
  }
  n->value = count * factor;
  return true;
}

static bool is_loopback(const char *address) {
  return strncmp(address, "127.", 4) == 0 || strcmp(address, "localhost") == 0 ||
         strcmp(address, "[::1]") == 0;
}

// Whether nobody gets in who does not prove who he is, and nobody reads along.
static bool is_guarded(const serve *s) {
  return s->files.certificate != NULL &&
         (s->files.token != NULL || (s->files.ca != NULL && !s->no_client_certs));
}

static bool read_log_format(serve *s) {
  if (s->log == NULL) return true;
  s->log_format = strcmp(s->log, "json") == 0   ? SERVE_LOG_JSON
                  : strcmp(s->log, "text") == 0 ? SERVE_LOG_TEXT
                                                : SERVE_LOG_NONE;
  if (s->log_format != SERVE_LOG_NONE) return true;
  command_usage_error("serve: --log-format is json or text, not '%s'", s->log);
  return false;
}

static bool check(const serve *s, const text_list *rest) {
  if (rest->count > 0) {
    command_usage_error("serve: what is '%s' for?", rest->items[0]);
  } else if (s->cluster == NULL || s->job == NULL) {
    command_usage_error("serve: %s is missing; see 'rheos help serve'",
                        s->cluster == NULL ? "--cluster" : "--job");
  } else if (s->bind != NULL && !is_loopback(s->bind) && !s->insecure && !is_guarded(s)) {
    command_usage_error(
        "serve: at %s whoever reaches it can run anything as this user: give --tls-cert, --tls-key "
        "and --tls-ca or --token-file, or say --insecure if that is meant",
        s->bind);
  } else {
    return true;
  }
  return false;
}

static void wait_for_end(const sigset_t *ends) {
  int signal;
  while (sigwait(ends, &signal) != 0) continue;
}

static void log_own(const serve *s, const char *name, const rheos_server *server) {
  const rheos_server_event event = {
      .name = name, .subject = rheos_server_target(server), .detail = ""};
  serve_log((void *)(uintptr_t)&s->log_format, &event);
}

static void serve_until(const serve *s, rheos_server *server, metrics_port *port,
                        const sigset_t *ends, int64_t grace_ms) {
  log_own(s, "server_started", server);
  printf("ready %s\n", rheos_server_target(server));
  fflush(stdout);
  wait_for_end(ends);
  atomic_store(&port->is_draining, true);
  log_own(s, "server_draining", server);
  rheos_server_stop(server, grace_ms);
  log_own(s, "server_stopped", server);
}

static rheos_status *run(const serve *s, rheos_server_options *options, const number *numbers) {
  char *cluster;
  size_t size_bytes;
  rheos_server *server;
  sigset_t ends;
  rheos_status *status = file_read(s->cluster, &cluster, &size_bytes);
  if (status != NULL) return status;
  options->cluster = cluster;
  status = credentials_read(&s->files, &options->credentials);
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, NULL);  // the server's threads, too
  if (status == NULL) status = rheos_server_new(options, &server);
  credentials_deinit(&options->credentials);
  free(cluster);
  if (status != NULL) return status;
  metrics_port port = {.http = {.daemon = NULL}};
  if (numbers[METRICS_PORT].text != NULL) {
    status =
        metrics_port_open(&port, server, s->metrics_bind != NULL ? s->metrics_bind : "127.0.0.1",
                          (int32_t)numbers[METRICS_PORT].value);
  }
  if (status == NULL) serve_until(s, server, &port, &ends, numbers[GRACE].value * 1000);
  metrics_port_close(&port);
  rheos_server_free(server);
  return status;
}

// As options of servers have it: 0 are all, below are none.
static int32_t num_cards(const number *gpus) {
  if (gpus->text == NULL) return 0;
  return gpus->value > 0 ? (int32_t)gpus->value : -1;
}

static rheos_server_options options_of(serve *s, const number *numbers) {
  return (rheos_server_options){
      .job = s->job,
      .task = (int32_t)numbers[TASK].value,
      .port = (int32_t)numbers[PORT].value,
      .bind = s->bind,
      .num_cpu_devices = (int32_t)numbers[CPUS].value,
      .num_threads = (int32_t)numbers[THREADS].value,
      .max_message_bytes = numbers[MESSAGE_BYTES].value,
      .max_graph_bytes = numbers[GRAPH_BYTES].value,
      .max_graph_nodes = numbers[GRAPH_NODES].value,
      .max_memory_bytes = numbers[MEMORY].value,
      .max_sessions = (int32_t)numbers[SESSIONS].value,
      .session_idle_s = (int32_t)numbers[IDLE].value,
      .session_gone_s = (int32_t)numbers[GONE].value,
      .takes_callers_without_certificate = s->no_client_certs,
      .allows_files = s->allow_files,
      .refuses_files = s->refuse_files,
      .event_function = serve_log,
      .event_argument = &s->log_format,
      .num_gpu_devices = num_cards(&numbers[GPUS]),
  };
}

static bool read_numbers(number *numbers) {
  for (int i = 0; i < NUM_NUMBERS; i++) {
    if (!read_number(&numbers[i])) return false;
  }
  return true;
}

int command_serve(int argc, char **argv) {
  enum { FLAGS_AND_TEXTS = 13 };
  serve s = {.cluster = NULL};
  text_list rest = {0};
  number numbers[NUM_NUMBERS] = {
      [TASK] = {"--task", 1000000},
      [PORT] = {"--port", 65535},
      [CPUS] = {"--cpus", 64},
      [GPUS] = {"--gpus", 64},
      [THREADS] = {"--threads", 4096},
      [GRACE] = {"--grace", 86400, .value = 10},
      [MESSAGE_BYTES] = {"--max-message-bytes", INT32_MAX},
      [GRAPH_BYTES] = {"--max-graph-bytes", INT32_MAX},
      [GRAPH_NODES] = {"--max-graph-nodes", INT32_MAX},
      [SESSIONS] = {"--max-sessions", INT32_MAX},
      [MEMORY] = {"--max-memory", INT64_MAX},
      [IDLE] = {"--session-idle", INT32_MAX},
      [GONE] = {"--session-gone", INT32_MAX},
      [METRICS_PORT] = {"--metrics-port", 65535},
  };
  option rows[FLAGS_AND_TEXTS + NUM_NUMBERS] = {
      {"--cluster", .text = &s.cluster},
      {"--job", .text = &s.job},
      {"--bind", .text = &s.bind},
      {"--insecure", .flag = &s.insecure},
      {"--tls-ca", .text = &s.files.ca},
      {"--tls-cert", .text = &s.files.certificate},
      {"--tls-key", .text = &s.files.private_key},
      {"--token-file", .text = &s.files.token},
      {"--no-client-certs", .flag = &s.no_client_certs},
      {"--allow-files", .flag = &s.allow_files},
      {"--refuse-files", .flag = &s.refuse_files},
      {"--metrics-bind", .text = &s.metrics_bind},
      {"--log-format", .text = &s.log},
  };
  for (int i = 0; i < NUM_NUMBERS; i++) {
    rows[FLAGS_AND_TEXTS + i] = (option){numbers[i].name, .text = &numbers[i].text};
  }
  int result = EXIT_USAGE;
  const bool are_read =
      options_parse("serve", rows, sizeof rows / sizeof rows[0], argc, argv, &rest);
  credential_files_complete(&s.files);
  if (are_read && check(&s, &rest) && read_numbers(numbers) && read_log_format(&s)) {
    rheos_server_options options = options_of(&s, numbers);
    rheos_status *status = run(&s, &options, numbers);
    result = status != NULL ? command_fail_take(s.cluster, status) : EXIT_SUCCESS;
  }
  text_list_deinit(&rest);
  return result;
}
