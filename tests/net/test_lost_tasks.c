// Tasks that are killed, frozen or started anew while steps run: processes of their own, by the
// command. A client gets an error that names the task, in time, though it gave no deadline.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "net/cluster_fixture.h"

enum { NOTICED_MS = 10000 };

typedef struct processes {
  cluster c;
  char file[64];
  pid_t worker, ps;
} processes;

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

// Returns when it says that it is ready.
static pid_t start(const processes *p, const char *job) {
  int ends[2];
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execl(RHEOS_BINARY_DIR "/bin/rheos", "rheos", "serve", "--cluster", p->file, "--job", job,
          "--threads", "2", (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  char text[256] = "";
  for (size_t at = 0; strchr(text, '\n') == NULL && at + 1 < sizeof text;) {
    const ssize_t got = read(ends[0], text + at, sizeof text - 1 - at);
    assert_true(got > 0);
    at += (size_t)got;
  }
  close(ends[0]);
  assert_int_equal(strncmp(text, "ready grpc://", 13), 0);
  return child;
}

static void end(pid_t *process, int signal) {
  int status;
  if (*process == 0) return;
  kill(*process, signal);
  if (signal == SIGKILL) kill(*process, SIGCONT);
  assert_int_equal(waitpid(*process, &status, 0), *process);
  if (signal == SIGTERM) assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  *process = 0;
}

static processes start_both(void) {
  processes p = {.c = {.text = "{"}, .file = "/tmp/rheos-cluster-XXXXXX"};
  add_job(&p.c, "worker", 1);
  add_job(&p.c, "ps", 1);
  strcat(p.c.text, "}");
  const int fd = mkstemp(p.file);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, p.c.text, strlen(p.c.text)), (ssize_t)strlen(p.c.text));
  close(fd);
  p.worker = start(&p, "worker");
  p.ps = start(&p, "ps");
  return p;
}

static void end_both(processes *p) {
  end(&p->worker, SIGKILL);
  end(&p->ps, SIGKILL);
  unlink(p->file);
}

// The address of the first task of the cluster, which is the worker.
static rheos_session *session_on_worker(const processes *p, rheos_graph *graph) {
  char target[64];
  const char *address = strstr(p->c.text, "127.0.0.1:");
  snprintf(target, sizeof target, "grpc://%.*s", (int)strcspn(address, "\""), address);
  const rheos_session_options options = {.target = target, .shares_resources = true};
  rheos_session *session;
  check(rheos_session_new(graph, &options, &session));
  return session;
}

// A dequeue on the parameter server, from which nobody ever takes; the worker waits for it.
static rheos_output waits_for_ever(fixture *f) {
  const rheos_dtype dtype = RHEOS_FLOAT;
  const rheos_attr attrs[] = {rheos_attr_types("component_types", &dtype, 1)};
  rheos_push_device(f->scope, "/job:ps/task:0");
  const rheos_output queue = rheos_operation_output(add(f, "FIFOQueueV2", NULL, 0, attrs, 1), 0);
  const rheos_output x = rheos_operation_output(add(f, "QueueDequeueV2", &queue, 1, attrs, 1), 0);
  rheos_scope_pop(f->scope);
  rheos_push_device(f->scope, "/job:worker/task:0");
  const rheos_output y = rheos_operation_output(add(f, "Neg", &x, 1, NULL, 0), 0);
  rheos_scope_pop(f->scope);
  check(rheos_scope_finish(f->scope));
  return y;
}

typedef struct waiting_step {
  rheos_session *session;
  rheos_output output;
  rheos_status *status;
  double ended_ms;
} waiting_step;

static void *run_step(void *argument) {
  waiting_step *step = argument;
  rheos_fetch fetch = {.output = step->output};
  step->status = rheos_session_run(step->session, NULL, 0, &fetch, 1, NULL, 0, NULL);
  step->ended_ms = now_ms();
  rheos_tensor_unref(fetch.value);
  return NULL;
}

// Does that to a task while a step waits for it.
static void expect_noticed(fixture *f, int signal, bool is_worker, const char *named) {
  processes p = start_both();
  pthread_t thread;
  waiting_step step = {.output = waits_for_ever(f)};
  step.session = session_on_worker(&p, f->graph);
  assert_int_equal(pthread_create(&thread, NULL, run_step, &step), 0);
  nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
  const double begin_ms = now_ms();
  kill(is_worker ? p.worker : p.ps, signal);
  pthread_join(thread, NULL);
  const double took_ms = step.ended_ms - begin_ms;
  if (took_ms < 0 || took_ms > NOTICED_MS) fail_msg("noticed after %.0f ms", took_ms);
  assert_int_equal(rheos_status_code(step.status), RHEOS_UNAVAILABLE);
  if (strstr(rheos_status_message(step.status), named) == NULL) {
    fail_msg("'%s' does not name %s", rheos_status_message(step.status), named);
  }
  rheos_status_free(step.status);
  rheos_session_free(step.session);
  end_both(&p);
}

static void test_lost_task__a_killed_ps_is_named(void **state) {
  expect_noticed(*state, SIGKILL, false, "/job:ps/replica:0/task:0");
}

static void test_lost_task__a_frozen_ps_is_named(void **state) {
  expect_noticed(*state, SIGSTOP, false, "/job:ps/replica:0/task:0");
}

static void test_lost_task__a_killed_master_is_named(void **state) {
  expect_noticed(*state, SIGKILL, true, "the server at grpc://");
}

static void test_lost_task__a_frozen_master_is_named(void **state) {
  expect_noticed(*state, SIGSTOP, true, "the server at grpc://");
}

static void test_lost_task__one_started_anew_has_no_sessions(void **state) {
  fixture *f = *state;
  processes p = start_both();
  rheos_push_device(f->scope, "/job:ps/task:0");
  const rheos_output x = float_scalar(f, 2);
  const rheos_output y = rheos_operation_output(add(f, "Neg", &x, 1, NULL, 0), 0);
  rheos_scope_pop(f->scope);
  check(rheos_scope_finish(f->scope));
  rheos_session *session = session_on_worker(&p, f->graph);
  rheos_fetch fetch = {.output = y};
  check(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  rheos_tensor_unref(fetch.value);
  end(&p.ps, SIGKILL);
  p.ps = start(&p, "ps");
  rheos_status *status = NULL;
  for (int i = 0; i < 50 && rheos_status_code(status) != RHEOS_ABORTED; i++) {
    rheos_status_free(status);  // the connection may need a moment
    status = rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL);
    assert_true(rheos_status_code(status) == RHEOS_ABORTED ||
                rheos_status_code(status) == RHEOS_UNAVAILABLE);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  }
  assert_int_equal(rheos_status_code(status), RHEOS_ABORTED);
  rheos_status_free(status);
  rheos_session_free(session);
  session = session_on_worker(&p, f->graph);
  check(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  rheos_tensor_unref(fetch.value);
  rheos_session_free(session);
  end(&p.ps, SIGTERM);
  end(&p.worker, SIGTERM);
  end_both(&p);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_lost_task__a_killed_ps_is_named),
      TEST(test_lost_task__a_frozen_ps_is_named),
      TEST(test_lost_task__a_killed_master_is_named),
      TEST(test_lost_task__a_frozen_master_is_named),
      TEST(test_lost_task__one_started_anew_has_no_sessions),
  };
  if (!can_serve()) return 0;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
