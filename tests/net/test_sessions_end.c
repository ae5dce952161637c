// Sessions of clients that come and go leave nothing behind on any task, whether they are closed,
// cut off, or killed in the middle of a step: no session, graph, step, thread, file or memory.
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "net/cluster_fixture.h"
#include "net/process.h"
#include "net/server.h"

enum { GONE_S = 1, MOST_MS = 20000, ROUNDS = 50 };

static void sleep_ms(int64_t ms) {
  nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

// ---- What a server holds

typedef struct held {
  int sessions, worker_sessions, graphs, steps;  // of all tasks
  int threads, files;                            // of the process
} held;

static int count_entries(const char *path) {
  int count = 0;
  DIR *folder = opendir(path);
  assert_non_null(folder);
  while (readdir(folder) != NULL) count++;
  closedir(folder);
  return count;
}

static void add_server(held *h, rheos_server *server) {
  pthread_mutex_lock(&server->master.mutex);
  h->sessions += server->master.num_sessions;
  pthread_mutex_unlock(&server->master.mutex);
  const rheos__worker_counts counts = rheos__worker_count(&server->worker);
  h->worker_sessions += counts.sessions;
  h->graphs += counts.graphs;
  h->steps += counts.steps;
}

static held look(const cluster *c) {
  held h = {.threads = count_entries("/proc/self/task"), .files = count_entries("/proc/self/fd")};
  for (int i = 0; i < c->num_servers; i++) add_server(&h, c->servers[i]);
  return h;
}

static bool is_empty(const held *h) {
  return h->sessions == 0 && h->worker_sessions == 0 && h->graphs == 0 && h->steps == 0;
}

// Waits until nothing is held, and as many threads and files are there as before, but for some that
// servers keep for the next call.
static void expect_back(const cluster *c, const held *before) {
  enum { SPARE_THREADS = 12, SPARE_FILES = 8 };
  held now = look(c);
  for (int ms = 0; ms < MOST_MS; ms += 100) {
    if (is_empty(&now) && now.threads <= before->threads + SPARE_THREADS &&
        now.files <= before->files + SPARE_FILES) {
      return;
    }
    sleep_ms(100);
    now = look(c);
  }
  fail_msg("left: %d sessions, %d of workers, %d graphs, %d steps, %d threads (%d), %d files (%d)",
           now.sessions, now.worker_sessions, now.graphs, now.steps, now.threads, before->threads,
           now.files, before->files);
}

// The address sanitizer keeps what was freed for a while; it looks for what is left itself.
static void expect_memory_below(int64_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  (void)bytes;
#else
  assert_true(rheos__process_memory_bytes() < bytes);
#endif
}

// ---- Clients

static void start_servers(cluster *c) {
  *c = (cluster){.text = "{"};
  add_job(c, "worker", 1);
  add_job(c, "ps", 1);
  strcat(c->text, "}");
  for (int i = 0; i < 2; i++) {
    const rheos_server_options options = {.cluster = c->text,
                                          .job = i == 0 ? "worker" : "ps",
                                          .num_threads = 2,
                                          .session_gone_s = GONE_S};
    check(rheos_server_new(&options, &c->servers[c->num_servers++]));
  }
}

// On the parameter server: a number, or one from a queue that nobody fills.
static rheos_output on_ps(fixture *f, bool waits) {
  const rheos_dtype dtype = RHEOS_FLOAT;
  const rheos_attr attrs[] = {rheos_attr_types("component_types", &dtype, 1)};
  rheos_push_device(f->scope, "/job:ps/task:0");
  rheos_output x = float_scalar(f, 3);
  if (waits) {
    const rheos_output queue = rheos_operation_output(add(f, "FIFOQueueV2", NULL, 0, attrs, 1), 0);
    x = rheos_operation_output(add(f, "QueueDequeueV2", &queue, 1, attrs, 1), 0);
  }
  rheos_scope_pop(f->scope);
  rheos_push_device(f->scope, "/job:worker/task:0");
  const rheos_output y = rheos_operation_output(add(f, "Neg", &x, 1, NULL, 0), 0);
  rheos_scope_pop(f->scope);
  check(rheos_scope_finish(f->scope));
  return y;
}

static rheos_status *run_once(rheos_session *session, rheos_output y) {
  rheos_fetch fetch = {.output = y};
  rheos_status *status = rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL);
  rheos_tensor_unref(fetch.value);
  return status;
}

// The command as a client, a process of its own, which is killed after so long.
static void run_and_kill(const char *program, const char *target, int64_t after_ms) {
  const pid_t child = fork();
  if (child == 0) {
    execl(program, program, "--client", target, (char *)NULL);
    _exit(127);
  }
  sleep_ms(after_ms);
  kill(child, SIGKILL);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status));  // it did not end by itself
}

// Begins a step in parts on the parameter server, and feeds one of its two values.
static void begin_partial(fixture *f, rheos_session *session) {
  rheos_push_device(f->scope, "/job:ps/task:0");
  const rheos_output pair[] = {float_scalar(f, 1), float_scalar(f, 2)};
  const rheos_output sum = rheos_operation_output(add(f, "AddV2", pair, 2, NULL, 0), 0);
  rheos_scope_pop(f->scope);
  check(rheos_scope_finish(f->scope));
  int64_t step;
  const float value = 5;
  rheos_feed feed = {.output = pair[0]};
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &value, &feed.value));
  check(rheos_session_partial_setup(session, pair, 2, &sum, 1, NULL, 0, &step));
  check(rheos_session_partial_run(session, step, &feed, 1, NULL, 0, NULL));
  rheos_tensor_unref(feed.value);
}

// What such a client does: makes sessions, runs a step of each, begins one in parts, and then one
// that never ends. All its sessions are dropped when it is killed, one of them in the middle of
// both steps.
static int be_client(const char *target) {
  fixture *f;
  void *state = NULL;
  set_up(&state);
  f = state;
  const rheos_output y = on_ps(f, false), waits = on_ps(f, true);
  rheos_session *session = NULL;
  for (int i = 0; i < ROUNDS; i++) {
    const rheos_session_options options = {.target = target, .shares_resources = true};
    check(rheos_session_new(f->graph, &options, &session));
    check(run_once(session, y));
  }
  begin_partial(f, session);
  rheos_status_free(run_once(session, waits));
  return 0;
}

// What such a master does: it has a client of its own.
static int be_master(const char *text) {
  const rheos_server_options options = {.cluster = text, .job = "worker", .num_threads = 2};
  rheos_server *server;
  check(rheos_server_new(&options, &server));
  return be_client(rheos_server_target(server));
}

static char *own_path;

// ---- Tests

static void test_sessions_end__those_that_are_closed_leave_nothing(void **state) {
  fixture *f = *state;
  cluster c;
  start_servers(&c);
  const rheos_output y = on_ps(f, false);
  held before = {0};
  int64_t memory = 0;
  for (int i = 0; i < 2 * ROUNDS; i++) {
    rheos_session *session = session_on(f->graph, c.servers[0]);
    check(run_once(session, y));
    rheos_session_free(session);
    if (i == ROUNDS) {  // what is kept for later calls is there now
      before = look(&c);
      memory = rheos__process_memory_bytes();
    }
  }
  expect_back(&c, &before);
  expect_memory_below(memory + (16 << 20));
  stop_cluster(&c);
}

static void test_sessions_end__those_of_a_killed_client_leave_nothing(void **state) {
  (void)state;
  cluster c;
  start_servers(&c);
  const held before = look(&c);
  run_and_kill(own_path, rheos_server_target(c.servers[0]), 3000);
  assert_true(look(&c).sessions > 0 && look(&c).steps > 0);
  expect_back(&c, &before);
  const int64_t memory = rheos__process_memory_bytes();
  for (int i = 0; i < 2; i++) {
    run_and_kill(own_path, rheos_server_target(c.servers[0]), 3000);
    expect_back(&c, &before);
  }
  expect_memory_below(memory + (32 << 20));
  stop_cluster(&c);
}

// The master is another process, which is killed while its client has sessions.
static void test_sessions_end__those_of_a_killed_master_leave_nothing(void **state) {
  (void)state;
  cluster c = {.text = "{"};
  add_job(&c, "worker", 1);
  add_job(&c, "ps", 1);
  strcat(c.text, "}");
  const rheos_server_options options = {
      .cluster = c.text, .job = "ps", .num_threads = 2, .session_gone_s = GONE_S};
  check(rheos_server_new(&options, &c.servers[c.num_servers++]));
  const held before = look(&c);
  const pid_t child = fork();
  if (child == 0) {
    execl(own_path, own_path, "--master", c.text, (char *)NULL);
    _exit(127);
  }
  for (int ms = 0; ms < MOST_MS && look(&c).graphs < ROUNDS; ms += 50) sleep_ms(50);
  assert_true(look(&c).worker_sessions >= ROUNDS);
  kill(child, SIGKILL);
  assert_int_equal(waitpid(child, NULL, 0), child);
  expect_back(&c, &before);
  stop_cluster(&c);
}

static void test_sessions_end__those_that_are_idle_are_closed(void **state) {
  fixture *f = *state;
  cluster c = {.text = "{"};
  add_job(&c, "worker", 1);
  strcat(c.text, "}");
  const rheos_server_options options = {.cluster = c.text, .job = "worker", .session_idle_s = 1};
  check(rheos_server_new(&options, &c.servers[c.num_servers++]));
  const rheos_output y = float_scalar(f, 2);
  check(rheos_scope_finish(f->scope));
  rheos_session *session = session_on(f->graph, c.servers[0]);
  for (int i = 0; i < 8; i++) {
    check(run_once(session, y));  // it is not idle
    sleep_ms(250);
  }
  sleep_ms(2000);
  expect_error(run_once(session, y), RHEOS_ABORTED, "is not found");
  rheos_session_free(session);
  stop_cluster(&c);
}

static void test_sessions_end__a_client_that_is_there_keeps_its_own(void **state) {
  fixture *f = *state;
  cluster c;
  start_servers(&c);
  const rheos_output y = on_ps(f, false);
  rheos_session *session = session_on(f->graph, c.servers[0]);
  check(run_once(session, y));
  sleep_ms(3000 * GONE_S);
  check(run_once(session, y));
  rheos_session_free(session);
  stop_cluster(&c);
}

static void test_sessions_end__there_are_not_too_many(void **state) {
  fixture *f = *state;
  cluster c = {.text = "{"};
  add_job(&c, "worker", 1);
  strcat(c.text, "}");
  const rheos_server_options options = {.cluster = c.text, .job = "worker", .max_sessions = 2};
  check(rheos_server_new(&options, &c.servers[c.num_servers++]));
  const rheos_output y = float_scalar(f, 2);
  check(rheos_scope_finish(f->scope));
  rheos_session *sessions[3];
  for (int i = 0; i < 3; i++) sessions[i] = session_on(f->graph, c.servers[0]);
  check(run_once(sessions[0], y));
  check(run_once(sessions[1], y));
  expect_error(run_once(sessions[2], y), RHEOS_RESOURCE_EXHAUSTED, "no more than 2");
  rheos_session_free(sessions[0]);
  check(run_once(sessions[2], y));
  for (int i = 1; i < 3; i++) rheos_session_free(sessions[i]);
  stop_cluster(&c);
}

int main(int argc, char **argv) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_sessions_end__those_that_are_closed_leave_nothing),
      TEST(test_sessions_end__those_of_a_killed_client_leave_nothing),
      TEST(test_sessions_end__those_of_a_killed_master_leave_nothing),
      TEST(test_sessions_end__those_that_are_idle_are_closed),
      TEST(test_sessions_end__a_client_that_is_there_keeps_its_own),
      TEST(test_sessions_end__there_are_not_too_many),
  };
  if (argc > 2) return strcmp(argv[1], "--master") == 0 ? be_master(argv[2]) : be_client(argv[2]);
  own_path = argv[0];
  if (!can_serve()) return 0;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
