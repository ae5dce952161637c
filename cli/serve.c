// `rheos serve`: one task of a cluster.
#include <rheos/server.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "credentials.h"
#include "files.h"
#include "options.h"

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
    "  --tls-cert FILE      its certificate, which has to name the host by which others call it;\n"
    "  --tls-key FILE       and the private key: connections are encrypted then (PEM)\n"
    "  --tls-ca FILE        who signs certificates: callers have to show one of these, and so do\n"
    "                       tasks that this one calls\n"
    "  --no-client-certs    callers need to show none, though there is --tls-ca\n"
    "  --token-file FILE    a secret that callers have to bring, and that this task brings to\n"
    "                       others; over TLS, or on this machine\n"
    "  --insecure           bind to another address than this machine's own without TLS and a\n"
    "                       proof of who calls (--tls-ca or --token-file): whoever reaches it can\n"
    "                       run any operation as this user, read and write its files, and see\n"
    "                       what tasks send each other\n"
    "  --cpus N             how many CPU devices it has (else 1)\n"
    "  --threads N          how many threads (else one for each core)\n"
    "  --grace SECONDS      how long calls under way may last at the end (else 10)\n"
    "\n"
    "Files of --tls-* and --token-file that are not given are those that the environment names, "
    "as\n"
    "for programs that call servers: RHEOS_TLS_CA, RHEOS_TLS_CERT, RHEOS_TLS_KEY,\n"
    "RHEOS_TOKEN_FILE.\n";

typedef struct serve {
  const char *cluster, *job, *task, *port, *bind, *cpus, *threads, *grace;
  credential_files files;
  bool insecure, no_client_certs;
} serve;

// Whole numbers only; false after a message.
static bool read_number(const char *name, const char *text, long most, int32_t *out_number) {
  char *end;
  if (text == NULL) return true;
  const long number = strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || number < 0 || number > most) {
    command_usage_error("serve: %s takes a number from 0 to %ld, not '%s'", name, most, text);
    return false;
  }
  *out_number = (int32_t)number;
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

static rheos_status *run(const serve *s, rheos_server_options *options, int32_t grace_s) {
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
  printf("ready %s\n", rheos_server_target(server));
  fflush(stdout);
  wait_for_end(&ends);
  rheos_server_stop(server, (int64_t)grace_s * 1000);
  rheos_server_free(server);
  return NULL;
}

int command_serve(int argc, char **argv) {
  serve s = {.cluster = NULL};
  text_list rest = {0};
  const option rows[] = {
      {"--cluster", .text = &s.cluster},
      {"--job", .text = &s.job},
      {"--task", .text = &s.task},
      {"--port", .text = &s.port},
      {"--bind", .text = &s.bind},
      {"--insecure", .flag = &s.insecure},
      {"--cpus", .text = &s.cpus},
      {"--threads", .text = &s.threads},
      {"--grace", .text = &s.grace},
      {"--tls-ca", .text = &s.files.ca},
      {"--tls-cert", .text = &s.files.certificate},
      {"--tls-key", .text = &s.files.private_key},
      {"--token-file", .text = &s.files.token},
      {"--no-client-certs", .flag = &s.no_client_certs},
  };
  int result = EXIT_USAGE;
  const bool are_read =
      options_parse("serve", rows, sizeof rows / sizeof rows[0], argc, argv, &rest);
  credential_files_complete(&s.files);
  if (are_read && check(&s, &rest)) {
    int32_t grace_s = 10;
    rheos_server_options options = {
        .job = s.job, .bind = s.bind, .takes_callers_without_certificate = s.no_client_certs};
    if (read_number("--task", s.task, 1000000, &options.task) &&
        read_number("--port", s.port, 65535, &options.port) &&
        read_number("--cpus", s.cpus, 64, &options.num_cpu_devices) &&
        read_number("--threads", s.threads, 4096, &options.num_threads) &&
        read_number("--grace", s.grace, 86400, &grace_s)) {
      rheos_status *status = run(&s, &options, grace_s);
      result = status != NULL ? command_fail_take(s.cluster, status) : EXIT_SUCCESS;
    }
  }
  text_list_deinit(&rest);
  return result;
}
