// Members of a collective that are killed or frozen, each a process with a server and an eager
// context of its own: the others get an error that names the task, in time, though they gave no
// deadline. This program is all of them: as `test_lost_members member CLUSTER` it is task 1.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "net/cluster_fixture.h"

enum { NOTICED_MS = 10000, LENGTH = 64 };

// A task of the job "worker", which takes part in sums.
typedef struct task {
  rheos_server *server;
  rheos_eager *eager;
  int number;
} task;

static task start_member(const char *cluster_text, int number) {
  task t = {.number = number};
  check(rheos_server_new(
      &(rheos_server_options){.cluster = cluster_text, .job = "worker", .task = number},
      &t.server));
  check(rheos_eager_new(&(rheos_eager_options){.host = rheos_server_host(t.server)}, &t.eager));
  return t;
}

static void end_member(task *t) {
  rheos_eager_free(t->eager);
  rheos_server_free(t->server);
}

static rheos_status *take_part(const task *t, rheos_tensor **out_sum) {
  static const int32_t keys[] = {2, 1, 1};
  rheos_tensor *inputs[4] = {NULL};
  float values[LENGTH];
  for (int i = 0; i < LENGTH; i++) values[i] = (float)(t->number + 1);
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(LENGTH), values, &inputs[0]));
  for (int i = 0; i < 3; i++) {
    check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &keys[i], &inputs[i + 1]));
  }
  const rheos_attr attrs[] = {rheos_attr_string("merge_op", "Add", 3),
                              rheos_attr_string("final_op", "Id", 2)};
  const rheos_eager_op op = {.type = "CollectiveReduceV2",
                             .inputs = inputs,
                             .num_inputs = 4,
                             .attrs = attrs,
                             .num_attrs = 2};
  *out_sum = NULL;
  rheos_status *status = rheos_eager_execute(t->eager, &op, out_sum, 1);
  for (int i = 0; i < 4; i++) rheos_tensor_unref(inputs[i]);
  return status;
}

// Task 1: one sum, and then it is there.
static _Noreturn void be_member(const char *cluster_text) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const task t = start_member(cluster_text, 1);
  rheos_tensor *sum;
  check(take_part(&t, &sum));
  for (;;) pause();
}

static pid_t start_process(const char *cluster_text) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "test_lost_members", "member", cluster_text, (char *)NULL);
    _exit(127);
  }
  assert_true(child > 0);
  return child;
}

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void lose_member(int signal) {
  if (!can_serve()) return;
  cluster c = {.text = "{"};
  add_job(&c, "worker", 2);
  strcat(c.text, "}");
  const pid_t child = start_process(c.text);
  task t = start_member(c.text, 0);
  rheos_tensor *sum;
  check(take_part(&t, &sum));
  assert_true(*(float *)rheos_tensor_data(sum) == 3);
  rheos_tensor_unref(sum);
  kill(child, signal);
  const double begin_ms = now_ms();
  expect_error(take_part(&t, &sum), RHEOS_UNAVAILABLE, "/job:worker/replica:0/task:1");
  assert_true(now_ms() - begin_ms < NOTICED_MS);
  kill(child, SIGKILL);
  kill(child, SIGCONT);
  assert_int_equal(waitpid(child, NULL, 0), child);
  end_member(&t);
}

static void test_lost_members__one_that_was_killed_is_named(void **state) {
  (void)state;
  lose_member(SIGKILL);
}

static void test_lost_members__one_that_is_frozen_is_named(void **state) {
  (void)state;
  lose_member(SIGSTOP);
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "member") == 0) be_member(argv[2]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lost_members__one_that_was_killed_is_named),
      cmocka_unit_test(test_lost_members__one_that_is_frozen_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
