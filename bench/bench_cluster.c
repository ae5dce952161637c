// What a cluster's protocol costs on loopback, beside bare calls of the same transport: a step that
// does nothing, feeds and fetches, and a tensor that goes from one task to another. Servers are
// processes of their own. Time of day. One JSON object a line.
#include <arpa/inet.h>
#include <rheos/ops.h>
#include <rheos/server.h>
#include <rheos/session.h>
#include <rheos/train.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "net/transport.h"

enum { SMALL_STEPS = 2000, LARGE_STEPS = 10, LARGE_FLOATS = 16 << 20 };

enum { ECHO, GIVE, NUM_METHODS };  // gives the bytes that came; gives as many as LARGE_FLOATS are
static const char *const methods[NUM_METHODS] = {"/bench.Bare/Echo", "/bench.Bare/Give"};
static char *given;

// ---- Bare calls

static void free_copy(void *copy) { free(copy); }
static void keep(void *bytes) { (void)bytes; }

static void serve(void *argument, int method, rheos__incoming *call, rheos__chunks request) {
  const rheos__transport *transport = argument;
  size_t size = 0;
  if (method == GIVE) {
    const rheos__piece all = {given, LARGE_FLOATS * sizeof(float), keep, NULL};
    transport->reply(call, RHEOS_OK, NULL, (rheos__pieces){&all, 1});
    return;
  }
  for (size_t i = 0; i < request.count; i++) size += request.chunks[i].size_bytes;
  char *copy = malloc(size + 1), *at = copy;
  for (size_t i = 0; i < request.count; i++) {
    memcpy(at, request.chunks[i].data, request.chunks[i].size_bytes);
    at += request.chunks[i].size_bytes;
  }
  const rheos__piece piece = {copy, size, free_copy, copy};
  transport->reply(call, RHEOS_OK, NULL, (rheos__pieces){&piece, 1});
}

static void ignore(void *argument, const rheos__reply *reply) {
  (void)argument;
  if (reply->code != RHEOS_OK) {
    fprintf(stderr, "%s\n", reply->message);
    exit(1);
  }
}

typedef struct bare {
  const rheos__transport *transport;
  rheos__channel *channel;
  int method;
  char *bytes;
  size_t size_bytes;
} bare;

static void call_bare(void *argument) {
  const bare *b = argument;
  const rheos__piece piece = {b->bytes, b->size_bytes, NULL, NULL};
  const rheos__call call = {
      .method = methods[b->method], .request = {&piece, 1}, .waits = true, .replied = ignore};
  b->transport->call(b->channel, &call, NULL, NULL);
}

// ---- Processes

static int port_of(int fd) {
  int port = 0;
  if (read(fd, &port, sizeof port) != sizeof port) exit(1);
  close(fd);
  return port;
}

static void tell_port(int fd, int port) {
  if (write(fd, &port, sizeof port) != sizeof port) exit(1);
  for (;;) pause();
}

static void serve_echo(int fd) {
  const rheos__transport *transport;
  rheos__listener *listener;
  char error[RHEOS__TRANSPORT_ERROR_BYTES];
  check(rheos__transport_find(&transport));
  given = calloc(LARGE_FLOATS, sizeof(float));
  const rheos__listen options = {.address = "127.0.0.1:0",
                                 .methods = methods,
                                 .num_methods = NUM_METHODS,
                                 .called = serve,
                                 .argument = (void *)(uintptr_t)transport};
  if (!transport->listen(&options, &listener, error)) exit(1);
  tell_port(fd, transport->port(listener));
}

static char cluster[128];

static void serve_task(int fd, const char *job) {
  rheos_server *server;
  const rheos_server_options options = {.cluster = cluster, .job = job, .num_threads = 1};
  check(rheos_server_new(&options, &server));
  tell_port(fd, atoi(strrchr(rheos_server_target(server), ':') + 1));
}

static pid_t start(const char *job, int *out_port) {
  int ends[2];
  if (pipe(ends) != 0) exit(1);
  const pid_t child = fork();
  if (child == 0) {
    if (job == NULL) serve_echo(ends[1]);
    serve_task(ends[1], job);
  }
  close(ends[1]);
  *out_port = port_of(ends[0]);
  return child;
}

// ---- Steps

typedef struct steps {
  rheos_graph *graph;
  rheos_session *session;
  rheos_callable *nothing, *few, *far;
  rheos_tensor *fed;
} steps;

static rheos_callable *callable_of(const steps *s, const rheos_output *feed,
                                   const rheos_output *fetch, const rheos_operation *target) {
  rheos_callable *callable;
  check(rheos_callable_new(s->session, feed, feed != NULL, fetch, fetch != NULL, target,
                           target != NULL, &callable));
  return callable;
}

static rheos_output numbers(rheos_scope *scope, const int32_t *value) {
  rheos_tensor *tensor;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(1), value, &tensor));
  const rheos_output output = rheos_constant(scope, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

// A variable there, of which something here takes all bytes.
static rheos_operation far_step(rheos_scope *scope, rheos_operation *out_init) {
  rheos_push_device(scope, "/job:ps/task:0");
  const rheos_variable v = rheos_get_variable_record(
      scope, "v", RHEOS_FLOAT, RHEOS_SHAPE(LARGE_FLOATS), rheos_zeros(), false);
  rheos_scope_pop(scope);
  *out_init = v.initializer;
  rheos_push_device(scope, "/job:worker/task:0");
  const int32_t begin = 0, size = 1;
  const rheos_output first =
      rheos_slice(scope, v.value, numbers(scope, &begin), numbers(scope, &size));
  rheos_scope_pop(scope);
  return rheos_output_operation(first);
}

static void steps_init(steps *s, int port) {
  char target[64];
  const rheos_shape shape = RHEOS_SHAPE(256);
  snprintf(target, sizeof target, "grpc://127.0.0.1:%d", port);
  s->graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(s->graph);
  const rheos_operation nothing = rheos_no_op(scope, .name = "nothing");
  const rheos_output x = rheos_placeholder(scope, RHEOS_FLOAT, .shape = &shape);
  const rheos_output y = rheos_identity(scope, x);
  rheos_operation init;
  const rheos_operation far = far_step(scope, &init);
  check(rheos_scope_finish(scope));
  rheos_scope_free(scope);
  const rheos_session_options options = {.target = target};
  check(rheos_session_new(s->graph, &options, &s->session));
  check(rheos_session_run(s->session, NULL, 0, NULL, 0, &init, 1, NULL));
  s->nothing = callable_of(s, NULL, NULL, &nothing);
  s->few = callable_of(s, &x, &y, NULL);
  s->far = callable_of(s, NULL, NULL, &far);
  check(rheos_tensor_new(RHEOS_FLOAT, shape, &s->fed));
  memset(rheos_tensor_data(s->fed), 0, rheos_tensor_size_bytes(s->fed));
}

static void run_nothing(void *argument) {
  const steps *s = argument;
  check(rheos_callable_run(s->nothing, NULL, NULL, NULL));
}

static void run_few(void *argument) {
  const steps *s = argument;
  rheos_tensor *result;
  check(rheos_callable_run(s->few, &s->fed, &result, NULL));
  rheos_tensor_unref(result);
}

static void run_far(void *argument) {
  const steps *s = argument;
  check(rheos_callable_run(s->far, NULL, NULL, NULL));
}

static void steps_deinit(steps *s) {
  rheos_callable_free(s->nothing);
  rheos_callable_free(s->few);
  rheos_callable_free(s->far);
  rheos_session_free(s->session);
  rheos_graph_unref(s->graph);
  rheos_tensor_unref(s->fed);
}

// ---- The whole

static int free_port(void) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
      getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
    exit(1);
  }
  close(fd);
  return ntohs(address.sin_port);
}

static void print_row(const char *name, double ns, double bare_ns) {
  printf("{\"name\": \"%s\", \"us\": %.1f, \"bare_us\": %.1f, \"ratio\": %.2f}\n", name, ns / 1e3,
         bare_ns / 1e3, ns / bare_ns);
  fflush(stdout);
}

static void measure(int echo_port, int worker_port) {
  char address[64], error[RHEOS__TRANSPORT_ERROR_BYTES], *bytes = calloc(1, 1024);
  bare b = {.bytes = bytes};
  steps s;
  snprintf(address, sizeof address, "127.0.0.1:%d", echo_port);
  check(rheos__transport_find(&b.transport));
  if (!b.transport->connect(&(rheos__connect){.address = address}, &b.channel, error)) exit(1);
  steps_init(&s, worker_port);
  const double empty = time_calls(call_bare, &b, SMALL_STEPS);
  print_row("empty step", time_calls(run_nothing, &s, SMALL_STEPS), empty);
  b.size_bytes = 1024;
  const double few = time_calls(call_bare, &b, SMALL_STEPS);
  print_row("1 KB fed and fetched", time_calls(run_few, &s, SMALL_STEPS), few);
  b.size_bytes = 0;
  b.method = GIVE;
  const double large = time_calls(call_bare, &b, LARGE_STEPS);
  print_row("64 MB from another task", time_calls(run_far, &s, LARGE_STEPS), large);
  steps_deinit(&s);
  b.transport->disconnect(b.channel);
  free(bytes);
}

int main(void) {
  int echo_port, worker_port, ps_port;
  snprintf(cluster, sizeof cluster, "{\"worker\": [\"127.0.0.1:%d\"], \"ps\": [\"127.0.0.1:%d\"]}",
           free_port(), free_port());
  const pid_t tasks[] = {start(NULL, &echo_port), start("ps", &ps_port),
                         start("worker", &worker_port)};
  measure(echo_port, worker_port);
  for (int i = 0; i < 3; i++) kill(tasks[i], SIGKILL);
  for (int i = 0; i < 3; i++) waitpid(tasks[i], NULL, 0);
  return 0;
}
