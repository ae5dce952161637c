// A cluster on loopback in this process, for tests.
#ifndef RHEOS_TESTS_NET_CLUSTER_FIXTURE_H
#define RHEOS_TESTS_NET_CLUSTER_FIXTURE_H

#include <arpa/inet.h>
#include <rheos/server.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ops/array_fixture.h"

enum { MAX_TASKS = 8 };

typedef struct cluster {
  rheos_server *servers[MAX_TASKS];
  int num_servers;
  char text[1024];
} cluster;

// A port that nobody has at this moment, and that the system gives nobody who does not ask for it.
static inline int free_port(void) {
  static unsigned next;
  if (next == 0) next = (unsigned)getpid() * 7919;
  for (;;) {
    const int port = 10000 + (int)(next++ % 22000), fd = socket(AF_INET, SOCK_STREAM, 0);
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                        .sin_port = htons((uint16_t)port)};
    const bool is_free = bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    if (is_free) return port;
  }
}

static inline void add_job(cluster *c, const char *job, int count) {
  const size_t used = strlen(c->text);
  char *at = c->text + used, *end = c->text + sizeof c->text;
  at += snprintf(at, (size_t)(end - at), "%s\"%s\": [", used > 1 ? ", " : "", job);
  for (int i = 0; i < count; i++) {
    at += snprintf(at, (size_t)(end - at), "%s\"127.0.0.1:%d\"", i > 0 ? ", " : "", free_port());
  }
  snprintf(at, (size_t)(end - at), "]");
}

static inline void start_task(cluster *c, const char *job, int task) {
  const rheos_server_options options = {
      .cluster = c->text, .job = job, .task = task, .num_threads = 2};
  check(rheos_server_new(&options, &c->servers[c->num_servers++]));
}

// `workers` first.
static inline void start_cluster(cluster *c, int workers, int ps) {
  *c = (cluster){.text = "{"};
  add_job(c, "worker", workers);
  if (ps > 0) add_job(c, "ps", ps);
  strcat(c->text, "}");
  for (int i = 0; i < workers; i++) start_task(c, "worker", i);
  for (int i = 0; i < ps; i++) start_task(c, "ps", i);
}

static inline void stop_cluster(cluster *c) {
  for (int i = 0; i < c->num_servers; i++) rheos_server_free(c->servers[i]);
}

// Whether there is a transport; without one nothing here can be tried. One that was built is there.
static inline bool can_serve(void) {
  const rheos_server_options options = {.cluster = "{\"a\": [\"127.0.0.1:0\"]}", .job = "a"};
  rheos_server *server;
  rheos_status *status = rheos_server_new(&options, &server);
  const bool can = rheos_status_code(status) != RHEOS_UNIMPLEMENTED;
  if (!can) assert_int_not_equal(access(RHEOS_BINARY_DIR "/lib/librheos-grpc.so", F_OK), 0);
  if (!can) print_message("skipped: %s\n", rheos_status_message(status));
  rheos_status_free(status);
  rheos_server_free(server);
  return can;
}

static inline rheos_session *session_on(rheos_graph *graph, const rheos_server *server) {
  rheos_session *session;
  const rheos_session_options options = {.target = rheos_server_target(server),
                                         .shares_resources = true};
  check(rheos_session_new(graph, &options, &session));
  return session;
}

#endif  // RHEOS_TESTS_NET_CLUSTER_FIXTURE_H
